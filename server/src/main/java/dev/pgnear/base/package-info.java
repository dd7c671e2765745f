/** Byte helpers, hashing, clocks and every bound of the product. Depends on nothing else of pgnear. */
@NullMarked
package dev.pgnear.base;

import org.jspecify.annotations.NullMarked;
