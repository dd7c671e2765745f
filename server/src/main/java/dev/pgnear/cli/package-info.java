/** Command line verbs. */
@NullMarked
package dev.pgnear.cli;

import org.jspecify.annotations.NullMarked;
