package dev.pgnear.rows;

import dev.pgnear.base.ValueSink;

/** Reads rows by primary key for the sessions of one event loop. All calls come from that loop. */
public interface RowReads {
    /**
     * The hit path: copies the row out of the cache.
     *
     * @param key of kind {@link KeyParser.Kind#ROW} or {@link KeyParser.Kind#NEEDS_POSTGRES} (always a miss)
     * @return the length of the row's JSON, {@link dev.pgnear.cache.Cache#ABSENT} or {@link dev.pgnear.cache.Cache#MISS}; the sink holds the
     *     row only if the length is 0 or more
     */
    int read(KeyParser.Key key, ValueSink sink);

    /**
     * The miss path: reads the row from PostgreSQL, together with the other misses of this read burst, or joins a read that is under way.
     *
     * @param key is copied, the caller may use it again at once
     * @param deadlineNanos on the node's clock; past it the query is given up. The caller answers its client at the deadline by itself
     */
    void load(KeyParser.Key key, long deadlineNanos, RowResult result);

    /** Sends what {@link #load} has collected; called at the end of a read burst (the loop's next tick does it too). */
    void flush();
}
