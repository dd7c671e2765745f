package dev.pgnear.pg.catalog;

import dev.pgnear.base.UserError;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Who must acknowledge a COMMIT: looks at and edits {@code synchronous_standby_names}. A node leaves in three steps (docs/COHERENCE.md,
 * "Release"): {@link #announce}; wait until every claim and every hit that began before the announcement has run out, {@code max-staleness};
 * {@link #leave}. The connection must not wait for standbys itself ({@link ControlConnection#openLocal}).
 */
public final class Fence {
    private final Connection connection;

    /** A walsender as PostgreSQL shows it. */
    public record Walsender(String name, String state, String syncState) {}

    /** Not thread-safe, as the connection. */
    public Fence(Connection connection) {
        this.connection = connection;
    }

    /** The rule that is in force now. */
    public SynchronousStandbys standbys() {
        return SynchronousStandbys.parse(setting());
    }

    /** Connected standbys and nodes; state and sync state are empty if the role may not see them (F39). */
    public List<Walsender> walsenders() {
        String sql =
                "SELECT application_name, coalesce(state, ''), coalesce(sync_state, '') FROM pg_stat_replication ORDER BY 1, pid";
        List<Walsender> all = new ArrayList<>();
        try (Statement s = connection.createStatement();
                ResultSet r = s.executeQuery(sql)) {
            while (r.next()) {
                all.add(new Walsender(text(r, 1), text(r, 2), text(r, 3)));
            }
        } catch (SQLException e) {
            throw ControlConnection.refused("Cannot read pg_stat_replication", e);
        }
        return all;
    }

    /**
     * Makes every COMMIT wait for the node, and for everybody else in the list.
     *
     * @return the rule now in force
     */
    public SynchronousStandbys join(String node) {
        SynchronousStandbys wanted;
        try {
            wanted = standbys().join(node);
        } catch (IllegalArgumentException e) {
            throw new UserError(
                    "Cannot make " + node + " required: " + e.getMessage()
                            + "; replace * by the standbys' names first.",
                    e);
        }
        update("DELETE FROM local_cache.releases WHERE node = ?", node);
        set(wanted);
        return wanted;
    }

    /** How long the node may serve hits and claim to be fenced after it was last proven fresh, as it registered; empty if it never did. */
    public Optional<Duration> lease(String node) {
        String sql =
                "SELECT (extract(epoch FROM max_staleness) * 1000)::bigint FROM local_cache.leases WHERE lower(node) = lower(?)";
        try (PreparedStatement s = connection.prepareStatement(sql)) {
            s.setString(1, node);
            try (ResultSet r = s.executeQuery()) {
                return r.next() ? Optional.of(Duration.ofMillis(r.getLong(1))) : Optional.empty();
            }
        } catch (SQLException e) {
            throw ControlConnection.refused(
                    "Cannot read local_cache.leases (run `pgnear setup` first, and use its role)", e);
        }
    }

    /** Tells every sample from now on that the node is about to leave. */
    public void announce(String node) {
        update(
                "INSERT INTO local_cache.releases (node) VALUES (?) ON CONFLICT (node) DO UPDATE SET announced_at = now()",
                node);
    }

    /**
     * Takes the node out of the list; whoever waits for it goes on.
     *
     * @return the rule now in force
     */
    public SynchronousStandbys leave(String node) {
        SynchronousStandbys wanted = standbys().leave(node);
        set(wanted);
        return wanted;
    }

    private void set(SynchronousStandbys wanted) {
        if (standbys().equals(wanted)) {
            return;
        }
        try (Statement s = connection.createStatement()) {
            // ALTER SYSTEM takes no parameters; the text consists of quoted names.
            s.execute("ALTER SYSTEM SET synchronous_standby_names = '"
                    + wanted.toString().replace("'", "''") + "'");
            s.execute("SELECT pg_reload_conf()");
        } catch (SQLException e) {
            throw ControlConnection.refused("Cannot change synchronous_standby_names (a superuser's right)", e);
        }
        awaitInForce(wanted);
    }

    /** The postmaster tells its children by a signal; this session shows when it has come around. */
    private void awaitInForce(SynchronousStandbys wanted) {
        try (Statement s = connection.createStatement()) {
            for (int i = 0; i < 100; i++) {
                if (SynchronousStandbys.parse(setting()).equals(wanted)) {
                    return;
                }
                s.execute("SELECT pg_sleep(0.05)");
            }
        } catch (SQLException e) {
            throw ControlConnection.refused("Cannot see synchronous_standby_names", e);
        }
        throw new UserError("synchronous_standby_names was written by ALTER SYSTEM but is still " + setting()
                + "; it is also set on the server's command line, change it there to " + wanted + ".");
    }

    private String setting() {
        try (Statement s = connection.createStatement();
                ResultSet r = s.executeQuery("SHOW synchronous_standby_names")) {
            r.next();
            return text(r, 1);
        } catch (SQLException e) {
            throw ControlConnection.refused("Cannot read synchronous_standby_names", e);
        }
    }

    private void update(String sql, String node) {
        try (PreparedStatement s = connection.prepareStatement(sql)) {
            s.setString(1, node);
            s.executeUpdate();
        } catch (SQLException e) {
            throw ControlConnection.refused(
                    "Cannot announce in local_cache.releases (run `pgnear setup` first, and use its role)", e);
        }
    }

    private static String text(ResultSet r, int column) throws SQLException {
        return String.valueOf(r.getString(column));
    }
}
