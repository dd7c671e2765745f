/** Transport choice, event loops, listeners. */
@NullMarked
package dev.pgnear.net;

import org.jspecify.annotations.NullMarked;
