/** Pipelined, prepared connections to PostgreSQL on the event loops. */
@NullMarked
package dev.pgnear.pg.backend;

import org.jspecify.annotations.NullMarked;
