package dev.pgnear.coherence;

import dev.pgnear.base.NanoClock;
import dev.pgnear.base.ValueSink;
import dev.pgnear.cache.Cache;
import org.jspecify.annotations.Nullable;

/** The rules of docs/COHERENCE.md between readers, fills, own writes, samples and the stream. Thread-safe; no I/O, no threads, no clock of its own. */
public final class Coherence implements StreamApplier {

    /**
     * @param wantFenced whether the node was told to be fenced
     * @param maxStalenessNanos the lease of hits
     * @param graceNanos a configuration reload's grace before the fenced claim begins
     */
    public Coherence(Cache cache, NanoClock clock, boolean wantFenced, long maxStalenessNanos, long graceNanos) {
        throw new UnsupportedOperationException();
    }

    // ---- relations (control plane)

    /** A new relation, not caching yet. */
    public Relation newRelation(String name) {
        throw new UnsupportedOperationException();
    }

    /** Rows may be cached from now on; the caller has seen to rule ATTACH_WAITS. Refused (false) if {@code suspendCount} moved since it was read. */
    public boolean resume(Relation relation, long suspensions) {
        throw new UnsupportedOperationException();
    }

    /** How often the relation was suspended; read before verifying the catalog. */
    public long suspensions(Relation relation) {
        throw new UnsupportedOperationException();
    }

    /** Stop caching at once, drop the entries. */
    public void suspend(Relation relation) {
        throw new UnsupportedOperationException();
    }

    /** The relation is gone for good. */
    public void forget(Relation relation) {
        throw new UnsupportedOperationException();
    }

    // ---- reads (loops)

    /** A hit, copied to the sink, or {@link Cache#ABSENT}, or {@link Cache#MISS} also when hits are not allowed now. */
    public int read(Relation relation, long hash, byte[] key, int offset, int length, ValueSink sink) {
        throw new UnsupportedOperationException();
    }

    /** Joins the fill in flight of this key if the rules let this reader, else begins one: then the returned fill must be sent by the caller. */
    public @Nullable Fill join(Relation relation, long hash, byte[] key, FillWaiter waiter) {
        throw new UnsupportedOperationException();
    }

    /** To be called before the fill's query is written; readers that join later are followers. */
    public void sent(Fill fill) {
        throw new UnsupportedOperationException();
    }

    /**
     * The answer of a fill.
     *
     * @param from the server that the connection was opened to
     * @param lsn pg_current_wal_insert_lsn() of the statement, read after its snapshot
     * @param value null if the row is absent
     */
    public void arrived(Fill fill, ServerIdentity from, Snapshot snapshot, long lsn, byte @Nullable [] value) {
        throw new UnsupportedOperationException();
    }

    /** The fill failed; its waiters get the cause. */
    public void failed(Fill fill, Throwable cause) {
        throw new UnsupportedOperationException();
    }

    // ---- administration

    /** Drops one key's entry; true if there was one. */
    public boolean invalidate(Relation relation, long hash, byte[] key) {
        throw new UnsupportedOperationException();
    }

    /** Drops all entries of the relation; how many there were. */
    public long invalidate(Relation relation) {
        throw new UnsupportedOperationException();
    }

    /** An answered sample. */
    public void sample(Sample sample) {
        throw new UnsupportedOperationException();
    }

    /** State for users. */
    public CoherenceStatus status() {
        throw new UnsupportedOperationException();
    }

    // ---- stream

    @Override
    public void down(String reason) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void slotReady(ServerIdentity server, Snapshot slotSnapshot, long startLsn) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void catchUpTo(long lsn) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void apply(CommittedTransaction transaction, long endLsn) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void applied(long lsn) {
        throw new UnsupportedOperationException();
    }
}
