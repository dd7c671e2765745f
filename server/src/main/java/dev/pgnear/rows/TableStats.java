package dev.pgnear.rows;

import java.util.concurrent.atomic.LongAdder;

/** Reads of one table by key, since the node attached it. */
public final class TableStats {
    final LongAdder hits = new LongAdder();
    final LongAdder misses = new LongAdder();
    final LongAdder negativeHits = new LongAdder();
    final LongAdder reads = new LongAdder();

    /** Answers from the cache, absent rows included. */
    public long hits() {
        return hits.sum();
    }

    /** Answers from the cache that the row is absent. */
    public long negativeHits() {
        return negativeHits.sum();
    }

    /** Reads that had to wait for PostgreSQL, for their own query or another reader's. */
    public long misses() {
        return misses.sum();
    }

    /** Keys asked of PostgreSQL. */
    public long databaseReads() {
        return reads.sum();
    }
}
