package dev.pgnear.coherence;

import dev.pgnear.base.ValueSink;
import dev.pgnear.cache.Cache;

/**
 * Reads several entries as of one snapshot, or finds that it cannot. Use: {@link #begin}, {@link #read} for each key, {@link #valid}; only if
 * that is true may the values be given out together. One object per thread can be used again and again; it allocates nothing.
 *
 * <p>Why it is one snapshot: a transaction removes its keys' entries before the applied position moves to its end, and what was filled from a
 * snapshot that shows it carries an LSN at or beyond its end (F06). So with the same applied position before and after, and no entry ahead of
 * it, no entry shows more than the position does; and none shows less, because the transactions up to it have dropped what was older.
 */
public final class MultiRead {
    private final Coherence coherence;
    private StreamState stream;
    private long applied;
    private boolean possible;

    MultiRead(Coherence coherence) {
        this.coherence = coherence;
        this.stream = coherence.stream();
    }

    /** Begins; false if there can be no hits now. */
    public boolean begin() {
        stream = coherence.stream();
        applied = coherence.appliedLsn();
        possible = coherence.hitsAllowed();
        return possible;
    }

    /** As {@link Coherence#read}; {@link Cache#MISS} also for an entry that is ahead of the stream. */
    public int read(Relation relation, long hash, byte[] key, int offset, int length, ValueSink sink) {
        if (!possible) {
            return Cache.MISS;
        }
        int n = coherence.readAt(relation, hash, key, offset, length, sink, applied);
        possible = n != Cache.MISS;
        return n;
    }

    /** Whether all entries read since {@link #begin} were valid at one moment. */
    public boolean valid() {
        return possible && coherence.unmoved(stream, applied);
    }
}
