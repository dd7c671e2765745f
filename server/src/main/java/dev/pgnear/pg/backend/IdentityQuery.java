package dev.pgnear.pg.backend;

import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.pg.wire.PgTarget;
import org.jspecify.annotations.Nullable;

/**
 * Asks a new connection which server it reached (fact F25: a plain role may ask, and pg_walfile_name knows the timeline at once after a
 * promotion). A standby is refused: its snapshots say nothing about the primary's transactions.
 */
public final class IdentityQuery implements ResultHandler {
    /** One row: system identifier int8, timeline int4 (0 on a standby), postmaster start in microseconds int8, in recovery bool. */
    public static final String SQL = "select (pg_catalog.pg_control_system()).system_identifier,"
            + " case when pg_catalog.pg_is_in_recovery() then 0 else ('x' || pg_catalog.substr("
            + "pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8))::pg_catalog.bit(32)::pg_catalog.int4 end,"
            + " (extract(epoch from pg_catalog.pg_postmaster_start_time()) * 1000000)::pg_catalog.int8,"
            + " pg_catalog.pg_is_in_recovery()";

    static final Statement STATEMENT = new Statement(SQL);

    /** Where a connection learns the outcome. */
    interface Outcome {
        void known(ServerIdentity identity);

        void refused(BackendUnavailable why);
    }

    private final PgTarget target;
    private final Outcome outcome;
    private @Nullable ServerIdentity identity;
    private boolean standby;

    IdentityQuery(PgTarget target, Outcome outcome) {
        this.target = target;
        this.outcome = outcome;
    }

    @Override
    public void row(DataRow row) {
        identity = new ServerIdentity(row.getLong(0), row.getInt(1), row.getLong(2));
        standby = row.getBoolean(3);
    }

    @Override
    public void complete(@Nullable ServerIdentity none) {
        if (standby) {
            refuse("it is a standby (in recovery); pgnear stands in front of the primary", null);
        } else if (identity == null) {
            refuse("it did not say which server it is", null);
        } else {
            outcome.known(identity);
        }
    }

    @Override
    public void failed(Throwable cause) {
        refuse("it did not say which server it is: " + cause.getMessage(), cause);
    }

    private void refuse(String why, @Nullable Throwable cause) {
        outcome.refused(new BackendUnavailable(
                "PostgreSQL at " + target.authority() + " cannot be used: " + why + ".", false, cause));
    }
}
