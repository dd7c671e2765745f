/** The whole node in front of a real PostgreSQL, over real sockets. */
@NullMarked
package dev.pgnear.endtoend;

import org.jspecify.annotations.NullMarked;
