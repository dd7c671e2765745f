/** Slabs, size classes and free lists: the only code that touches off-heap memory. */
@NullMarked
package dev.pgnear.memory;

import org.jspecify.annotations.NullMarked;
