package dev.pgnear.pg.catalog;

import dev.pgnear.base.UserError;
import dev.pgnear.pg.wire.PgTarget;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * Connections of the control plane, through the JDBC driver. Their search_path is {@code pg_catalog, pg_temp} whatever the role's or the
 * database's settings say, so that no object of a user can take part in what is asked.
 */
public final class ControlConnection {
    private static final String SETTINGS = "-c search_path=pg_catalog,pg_temp -c statement_timeout=0";

    /** For commits that must not wait for a standby, because the standby that is missing may be this node. */
    static final String DO_NOT_WAIT = " -c synchronous_commit=local";

    private static final int CONNECT_SECONDS = 10;

    private ControlConnection() {}

    /**
     * Opens one.
     *
     * @throws UserError saying what is wrong and what to do
     */
    public static Connection open(PgTarget target, String applicationName) {
        try {
            return connect(target, applicationName, "", Map.of());
        } catch (SQLException e) {
            throw unreachable(target, e);
        }
    }

    /** Opens one whose commits do not wait for standbys. */
    public static Connection openLocal(PgTarget target, String applicationName) {
        try {
            return connect(target, applicationName, DO_NOT_WAIT, Map.of());
        } catch (SQLException e) {
            throw unreachable(target, e);
        }
    }

    /** Opens one with more settings and more properties of the driver. */
    static Connection connect(PgTarget target, String applicationName, String settings, Map<String, String> more)
            throws SQLException {
        Properties p = target.jdbcProperties();
        p.setProperty("ApplicationName", applicationName);
        p.setProperty("options", SETTINGS + settings);
        p.setProperty("connectTimeout", Integer.toString(CONNECT_SECONDS));
        p.setProperty("loginTimeout", Integer.toString(2 * CONNECT_SECONDS));
        p.setProperty("tcpKeepAlive", "true");
        p.setProperty("gssEncMode", "disable");
        more.forEach(p::setProperty);
        return DriverManager.getConnection(target.jdbcUrl(), p);
    }

    /** What it means that a connection could not be opened. */
    static UserError unreachable(PgTarget target, SQLException e) {
        String state = String.valueOf(e.getSQLState());
        String todo = switch (state) {
            case "28P01" -> "check the password in the URL";
            case "28000" -> "check user and password, and that pg_hba.conf lets this address in";
            case "3D000" -> "check the database's name in the URL";
            case "53300" -> "raise max_connections or close some connections";
            case "57P03" -> "it is starting or stopping; try again";
            case "08001", "08004", "08006" -> "check that it runs and that host, port and TLS mode are right";
            default -> "check the URL";
        };
        return new UserError("Cannot connect to " + target + " (" + reason(e) + "); " + todo + ".", e);
    }

    /** The server's refusal as one sentence for the user: what failed, why, and the server's hint. */
    public static UserError refused(String what, SQLException e) {
        String hint = hint(e);
        return new UserError(what + ": " + reason(e) + (hint == null ? "" : "; " + trimmed(hint)) + ".", e);
    }

    /** The server's message without decoration, on one line. */
    static String reason(SQLException e) {
        ServerErrorMessage m = e instanceof PSQLException p ? p.getServerErrorMessage() : null;
        String text = m == null || m.getMessage() == null ? e.getMessage() : m.getMessage();
        Throwable cause = e.getCause();
        if (m == null
                && cause != null
                && cause.getMessage() != null
                && !String.valueOf(text).contains(cause.getMessage())) {
            text = text + " (" + cause.getMessage() + ")";
        }
        return trimmed(String.valueOf(text));
    }

    static @Nullable String hint(SQLException e) {
        ServerErrorMessage m = e instanceof PSQLException p ? p.getServerErrorMessage() : null;
        return m == null ? null : m.getHint();
    }

    private static String trimmed(String text) {
        return text.strip().replaceAll("\\s*\\R\\s*", " ").replaceAll("[.;]+$", "");
    }
}
