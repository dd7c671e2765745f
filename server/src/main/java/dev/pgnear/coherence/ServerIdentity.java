package dev.pgnear.coherence;

/**
 * Which PostgreSQL a connection talks to. Stream, fills and samples must agree on it (rule IDENTITY).
 *
 * @param systemId from pg_control_system()
 * @param timeline from pg_walfile_name(pg_current_wal_insert_lsn())
 * @param postmasterStartMicros pg_postmaster_start_time() in microseconds since 1970
 */
public record ServerIdentity(long systemId, int timeline, long postmasterStartMicros) {

    /** Whether the other one is the same cluster after a promotion or a restart. */
    boolean isBefore(ServerIdentity other) {
        return systemId == other.systemId
                && (timeline < other.timeline
                        || timeline == other.timeline && postmasterStartMicros < other.postmasterStartMicros);
    }
}
