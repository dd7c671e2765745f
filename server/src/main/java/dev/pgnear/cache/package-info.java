/** Index, entries, eviction and statistics of the bounded off-heap cache. */
@NullMarked
package dev.pgnear.cache;

import org.jspecify.annotations.NullMarked;
