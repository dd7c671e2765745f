/** Configuration keys, their origin and their checks. */
@NullMarked
package dev.pgnear.config;

import org.jspecify.annotations.NullMarked;
