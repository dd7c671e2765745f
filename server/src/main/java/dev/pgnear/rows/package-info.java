/** Rows of attached tables by key: key grammar, canonical keys, fill queries. */
@NullMarked
package dev.pgnear.rows;

import org.jspecify.annotations.NullMarked;
