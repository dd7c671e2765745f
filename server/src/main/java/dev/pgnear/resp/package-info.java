/** The Redis protocol door: decoder, reply writer, session, dispatch. */
@NullMarked
package dev.pgnear.resp;

import org.jspecify.annotations.NullMarked;
