/** Logical replication stream turned into coherence events. */
@NullMarked
package dev.pgnear.pg.replication;

import org.jspecify.annotations.NullMarked;
