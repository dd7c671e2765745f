package dev.pgnear.pg.replication;

/**
 * Committed transactions with their keys, in commit order and with positions, told to a {@link dev.pgnear.coherence.StreamApplier}. What the
 * bytes look like that they come from (logical decoding, later WAL) is known only behind this.
 */
public interface InvalidationStream extends AutoCloseable {
    /** Starts, and from then on recovers from every loss by itself. Only once. */
    void start();

    /** The state now; cheap, from any thread. */
    StreamStatus status();

    /** Ends in order and waits for that, some seconds at most; the applier is told that the stream is down. Can be called again. */
    @Override
    void close();
}
