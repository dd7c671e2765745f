/** What the tests of all packages share. */
@NullMarked
package dev.pgnear;

import org.jspecify.annotations.NullMarked;
