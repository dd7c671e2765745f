package dev.pgnear.coherence;

/**
 * What a stream (logical, later physical) tells the coherence rules. All calls come from the stream's one thread, in this order:
 * {@link #down} (always first, also after every loss), {@link #slotReady}, {@link #catchUpTo}, then {@link #apply} and {@link #applied}.
 * When a call has returned, its effect is complete: only then may the position be acknowledged.
 */
public interface StreamApplier {
    /** The stream is gone or not yet there: drop every entry, begin a new generation, serve no hits. Must return before a stand-in acknowledges. */
    void down(String reason);

    /** A slot exists: fills must cover this snapshot from now on (rule SLOT_COVER). */
    void slotReady(ServerIdentity server, Snapshot slotSnapshot, long startLsn);

    /** No hits before this position is applied: everything that a stand-in acknowledged (rule CATCH_UP). */
    void catchUpTo(long lsn);

    /** Applies one committed transaction and moves the applied position to {@code endLsn}, the end of its commit record. */
    void apply(CommittedTransaction transaction, long endLsn);

    /** Everything up to {@code lsn} was applied (keepalives, empty transactions). Smaller positions are ignored. */
    void applied(long lsn);
}
