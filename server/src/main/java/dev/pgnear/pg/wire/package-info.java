/** PostgreSQL protocol 3 frames for both roles, and authentication. */
@NullMarked
package dev.pgnear.pg.wire;

import org.jspecify.annotations.NullMarked;
