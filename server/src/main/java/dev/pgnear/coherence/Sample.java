package dev.pgnear.coherence;

/**
 * One look at the server from a side connection, a few times a second.
 *
 * @param sentNanos when the sample was sent, taken before sending
 * @param server who answered
 * @param snapshot pg_current_snapshot() of the statement
 * @param insertLsn pg_current_wal_insert_lsn()
 * @param required whether PostgreSQL makes every commit wait for this node (names, state, rule of the list), and no release is announced
 * @param reason why not, or an empty string
 */
public record Sample(
        long sentNanos, ServerIdentity server, Snapshot snapshot, long insertLsn, boolean required, String reason) {}
