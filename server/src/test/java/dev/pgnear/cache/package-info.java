/** Tests of the cache; each ends with a check of its whole structure. */
@NullMarked
package dev.pgnear.cache;

import org.jspecify.annotations.NullMarked;
