package dev.pgnear.pg.backend;

import org.jspecify.annotations.Nullable;

/** One execution in flight on one connection: from its Bind to its ReadyForQuery. */
final class Exchange {
    /** Who waits for it; null once nobody does, and the answer is discarded. */
    @Nullable
    Query query;

    final Statement statement;
    final Prepared prepared;

    /** Whether this exchange carries the Parse. */
    final boolean parses;

    final long sentNanos;

    /** Whether rows were delivered. */
    boolean rows;

    @Nullable
    Throwable failure;

    /** The lane that waits for this answer, or null. */
    @Nullable
    Lane lane;

    Exchange(Query query, Prepared prepared, boolean parses, long sentNanos) {
        this.query = query;
        this.statement = query.statement;
        this.prepared = prepared;
        this.parses = parses;
        this.sentNanos = sentNanos;
        this.lane = query.probe;
    }
}
