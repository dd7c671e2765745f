package dev.pgnear.pg.replication;

import dev.pgnear.pg.wire.PgException;
import dev.pgnear.pg.wire.PgProtocolException;
import dev.pgnear.pg.wire.PgTarget;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** One sentence for the user about what ended a stream: what, why, what to do. */
final class StreamErrors {
    private final PgTarget target;

    StreamErrors(PgTarget target) {
        this.target = target;
    }

    /** The sentence. */
    String sentence(Throwable e) {
        return switch (e) {
            case PgException p -> refused(p);
            case PgProtocolException p ->
                "PostgreSQL at " + target.authority() + " is not understood: " + p.getMessage() + ".";
            case StreamRefusedException r -> String.valueOf(r.getMessage());
            case StreamProtocolException p ->
                "The stream from " + target + " is not understood: " + p.getMessage()
                        + "; it starts again, please report it with the version of PostgreSQL.";
            case UnknownHostException u ->
                "The host \"" + target.host() + "\" is unknown: check the URL of --postgres.";
            case ConnectException c ->
                "PostgreSQL at " + target.authority() + " cannot be reached (" + c.getMessage()
                        + "): check that it runs and listens there.";
            case SocketTimeoutException t ->
                "PostgreSQL at " + target.authority() + " does not answer: check the network and its load.";
            case SSLException s -> "TLS with PostgreSQL at " + target.authority() + " failed: " + s.getMessage() + ".";
            case IOException i -> "The stream from " + target + " was lost: " + i.getMessage() + ".";
            default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
    }

    private String refused(PgException e) {
        String what = e.getMessage() == null ? "" : e.getMessage();
        @Nullable String advice = advice(e.sqlState(), what);
        return advice == null
                ? "PostgreSQL at " + target.authority() + " ended the stream: " + e.summary() + "."
                : advice + " PostgreSQL says: " + e.summary() + ".";
    }

    private @Nullable String advice(String state, String what) {
        return switch (state) {
            case "53400" ->
                "No replication slot is free at " + target.authority()
                        + ": raise max_replication_slots (one per node and database) and restart PostgreSQL, or drop unused slots.";
            case "53300" ->
                what.contains("max_wal_senders") || what.contains("standby")
                        ? "No walsender is free at " + target.authority()
                                + ": raise max_wal_senders (two per node and database) and restart PostgreSQL."
                        : "No connection is free at " + target.authority() + ": raise max_connections.";
            case "42501" ->
                "User \"" + target.user() + "\" may not replicate: run ALTER ROLE \"" + target.user()
                        + "\" REPLICATION as a superuser.";
            case "42704" ->
                what.contains("publication")
                        ? "Database \"" + target.database() + "\" has no publication for pgnear: run pgnear setup."
                        : null;
            case "55000" ->
                what.contains("publication")
                        ? "The publication of pgnear in database \"" + target.database()
                                + "\" is gone: run pgnear setup."
                        : null;
            case "28P01", "28000" ->
                "PostgreSQL at " + target.authority() + " does not let user \"" + target.user()
                        + "\" in: check the password in --postgres and pg_hba.conf.";
            case "3D000" -> "There is no database \"" + target.database() + "\" at " + target.authority() + ".";
            case "57P01", "57P02" -> "PostgreSQL at " + target.authority() + " ended the connection.";
            case "57P03" -> "PostgreSQL at " + target.authority() + " is starting up.";
            default -> null;
        };
    }
}
