/** Builds a node from its parts. */
@NullMarked
package dev.pgnear;

import org.jspecify.annotations.NullMarked;
