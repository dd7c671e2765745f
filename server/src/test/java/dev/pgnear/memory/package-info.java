/** Tests of slabs and size classes. */
@NullMarked
package dev.pgnear.memory;

import org.jspecify.annotations.NullMarked;
