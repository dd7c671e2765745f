package dev.pgnear.pg.replication;

/**
 * A stream as operators see it.
 *
 * @param error why the stream is not there, one sentence, or empty when it is
 * @param receivedLsn the highest position that PostgreSQL has sent
 * @param acknowledgedLsn the highest position that was reported as applied
 */
public record StreamStatus(State state, String error, long receivedLsn, long acknowledgedLsn, Counters counters) {

    /** What the stream is doing; the flow is drawn in {@link LogicalStream}. */
    public enum State {
        NEW,
        CONNECTING,
        STANDING_IN,
        CREATING_SLOT,
        TAKING_NAME,
        STREAMING,
        BACKING_OFF,
        CLOSED
    }

    /**
     * Since the start.
     *
     * @param transactions applied
     * @param keys changed by them
     * @param relationEvents tables changed as a whole by them
     * @param bytes of replication messages
     * @param keepalives received
     * @param reconnects losses of a stream, and attempts that failed
     * @param collapsed transactions with too many keys
     */
    public record Counters(
            long transactions,
            long keys,
            long relationEvents,
            long bytes,
            long keepalives,
            long reconnects,
            long collapsed) {}
}
