package dev.pgnear.pg.catalog;

import dev.pgnear.base.Limits;
import dev.pgnear.base.UserError;
import dev.pgnear.pg.wire.PgTarget;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Installs what pgnear needs inside one database: the script of {@code setup.sql}, in one transaction, safe to repeat. */
public final class Setup {
    /** Version of the schema {@code local_cache}; goes up with every change of setup.sql that a node can notice. */
    public static final int VERSION = 4;

    private Setup() {}

    /** The whole script with its BEGIN and COMMIT, as {@code --print} shows it. */
    public static String script(@Nullable String nodeRole) {
        return "BEGIN;\n" + body(nodeRole) + "COMMIT;\n";
    }

    /**
     * Runs the script.
     *
     * @param nodeRole role that a node logs in as and that gets its rights on the schema, or null
     * @return the server's warnings, one sentence each
     * @throws UserError if anything failed; then nothing was changed
     */
    public static List<String> install(PgTarget target, @Nullable String nodeRole) {
        // The simple protocol takes the script as it is: many statements, one round trip.
        try (Connection c = ControlConnection.connect(
                target, "pgnear setup", ControlConnection.DO_NOT_WAIT, Map.of("preferQueryMode", "simple"))) {
            return run(c, body(nodeRole), target);
        } catch (SQLException e) {
            throw ControlConnection.unreachable(target, e);
        }
    }

    private static List<String> run(Connection c, String script, PgTarget target) throws SQLException {
        c.setAutoCommit(false);
        try (Statement s = c.createStatement()) {
            s.setEscapeProcessing(false);
            s.execute(script);
            List<String> warnings = new ArrayList<>();
            for (SQLWarning w = s.getWarnings(); w != null; w = w.getNextWarning()) {
                warnings.add(String.valueOf(w.getMessage()));
            }
            c.commit();
            return warnings;
        } catch (SQLException e) {
            throw ControlConnection.refused(
                    "Setup of database " + target.database() + " failed and changed nothing", e);
        }
    }

    private static String body(@Nullable String nodeRole) {
        String setup = resource("setup.sql")
                .replace("${version}", Integer.toString(VERSION))
                .replace("${key_columns}", Integer.toString(Limits.KEY_COLUMNS))
                .replace("${mappings}", Integer.toString(Limits.MAPPINGS))
                .replace("${request_bytes}", Integer.toString(Limits.REQUEST_BYTES));
        return nodeRole == null
                ? setup
                : setup + "\n" + resource("node-role.sql").replace("${node_role}", quoted(nodeRole));
    }

    /** An identifier, quoted. */
    static String quoted(String identifier) {
        return '"' + identifier.replace("\"", "\"\"") + '"';
    }

    private static String resource(String name) {
        try (InputStream in = Setup.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("missing resource " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
