/** One class per command and the command table. */
@NullMarked
package dev.pgnear.resp.command;

import org.jspecify.annotations.NullMarked;
