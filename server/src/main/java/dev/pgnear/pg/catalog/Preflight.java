package dev.pgnear.pg.catalog;

import dev.pgnear.base.UserError;
import dev.pgnear.pg.wire.PgTarget;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks for everything that {@code serve} needs, as the role that it will log in as, and says how to mend what is missing. Changes nothing.
 */
public final class Preflight {
    /** A stream and its stand-in while the slot is made. */
    private static final int WALSENDERS_NEEDED = 2;

    /** How much a finding matters. */
    public enum Level {
        /** All is well. */
        OK,
        /** Serve works, with less. */
        NOTE,
        /** Serve would not work, or not as told. */
        PROBLEM
    }

    /**
     * One thing looked at.
     *
     * @param what what was found
     * @param fix the SQL or the setting that mends it; empty if there is nothing to mend
     */
    public record Finding(Level level, String what, String fix) {}

    private final Connection connection;
    private final PgTarget target;
    private final String node;
    private final boolean wantFenced;
    private final List<Finding> findings = new ArrayList<>();

    private Preflight(Connection connection, PgTarget target, String node, boolean wantFenced) {
        this.connection = connection;
        this.target = target;
        this.node = node;
        this.wantFenced = wantFenced;
    }

    /**
     * Looks.
     *
     * @param node name of the node that is to serve
     * @param wantFenced whether it is to be fenced
     */
    public static List<Finding> run(PgTarget target, String node, boolean wantFenced) {
        try (Connection c = ControlConnection.open(target, "pgnear check")) {
            Preflight p = new Preflight(c, target, node, wantFenced);
            p.look();
            return p.findings;
        } catch (UserError e) {
            return List.of(new Finding(Level.PROBLEM, String.valueOf(e.getMessage()), ""));
        } catch (SQLException e) {
            throw ControlConnection.refused("Cannot finish the check", e);
        }
    }

    /** Whether serve would work. */
    public static boolean passed(List<Finding> findings) {
        return findings.stream().noneMatch(f -> f.level() == Level.PROBLEM);
    }

    private void look() throws SQLException {
        ok("connected to " + target + ", PostgreSQL " + text("SHOW server_version"));
        server();
        role();
        if (schema()) {
            publication();
            mappings();
            eventTriggers();
        }
        fence();
    }

    private void server() throws SQLException {
        check(
                number("SELECT current_setting('server_version_num')::int") >= 140_000,
                "the server's version is 14 or newer",
                "the server is older than PostgreSQL 14",
                "Upgrade PostgreSQL.");
        check(
                !bool("SELECT pg_is_in_recovery()"),
                "the server is a primary",
                "the server is a standby (in recovery)",
                "Connect to the primary.");
        String level = text("SHOW wal_level");
        check(
                level.equals("logical"),
                "wal_level is logical",
                "wal_level is " + level,
                "ALTER SYSTEM SET wal_level = 'logical'; and restart PostgreSQL");
        room("max_replication_slots", number("SELECT count(*) FROM pg_replication_slots"), 1);
        room("max_wal_senders", number("SELECT count(*) FROM pg_stat_replication"), WALSENDERS_NEEDED);
    }

    private void room(String setting, long used, int needed) throws SQLException {
        long max = number("SELECT current_setting('" + setting + "')::int");
        check(
                max - used >= needed,
                setting + " has room (" + used + " of " + max + " used)",
                setting + " has no room: " + used + " of " + max + " are used and a node needs " + needed,
                "ALTER SYSTEM SET " + setting + " = " + (used + needed + 8) + "; and restart PostgreSQL");
    }

    private void role() throws SQLException {
        check(
                bool("SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user"),
                "the role may replicate",
                "the role has no REPLICATION privilege",
                "ALTER ROLE " + roleName() + " REPLICATION;");
    }

    private boolean schema() throws SQLException {
        boolean there = bool("SELECT EXISTS (SELECT 1 FROM pg_namespace n JOIN pg_proc p ON p.pronamespace = n.oid"
                + " WHERE n.nspname = 'local_cache' AND p.proname = 'schema_version')");
        String setup = "pgnear setup --postgres URL --node-role " + roleName();
        if (!there) {
            problem(
                    "schema local_cache is not installed in database " + target.database(),
                    setup + "   (as a superuser or the database's owner)");
            return false;
        }
        if (!bool("SELECT has_schema_privilege('local_cache', 'USAGE')")
                || !bool("SELECT has_function_privilege('local_cache.schema_version()', 'EXECUTE')")) {
            problem("the role may not use schema local_cache", setup);
            return false;
        }
        long version = number("SELECT local_cache.schema_version()");
        if (version != Setup.VERSION) {
            problem(
                    "schema local_cache has version " + version + ", this pgnear needs " + Setup.VERSION,
                    version < Setup.VERSION ? setup : "Use the newer pgnear.");
            return false;
        }
        ok("schema local_cache has version " + version);
        boolean usable = bool("""
                SELECT has_table_privilege('local_cache.mappings', 'SELECT') AND has_table_privilege('local_cache.releases', 'SELECT')
                   AND has_table_privilege('local_cache.leases', 'SELECT') AND has_table_privilege('local_cache.leases', 'INSERT')
                   AND has_table_privilege('local_cache.leases', 'UPDATE')
                   AND has_function_privilege('local_cache.table_problem(oid)', 'EXECUTE')
                   AND has_function_privilege('local_cache.is_published(oid)', 'EXECUTE')""");
        if (!usable) {
            problem("the role may not use the tables and functions of schema local_cache", setup);
        }
        return usable;
    }

    private void publication() throws SQLException {
        String sql = """
                SELECT p.puballtables, p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate AND p.pubviaroot,
                       pg_has_role(f.proowner, p.pubowner, 'USAGE'), f.proowner::regrole::text
                    FROM pg_publication p, pg_proc f
                    WHERE p.pubname = 'pgnear' AND f.oid = 'local_cache.attach_table(regclass,boolean,text)'::regprocedure""";
        try (PreparedStatement s = connection.prepareStatement(sql);
                ResultSet r = s.executeQuery()) {
            if (!r.next()) {
                problem(
                        "publication pgnear is missing",
                        "pgnear setup --postgres URL   and   SELECT * FROM local_cache.reconcile_all();");
                return;
            }
            check(
                    !r.getBoolean(1),
                    "publication pgnear lists tables",
                    "publication pgnear is FOR ALL TABLES",
                    "DROP PUBLICATION pgnear; then pgnear setup, then SELECT * FROM local_cache.reconcile_all();");
            check(
                    r.getBoolean(2),
                    "publication pgnear publishes every kind of change",
                    "publication pgnear does not publish every kind of change",
                    "ALTER PUBLICATION pgnear SET (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);");
            check(
                    r.getBoolean(3),
                    "attach_table may change the publication",
                    "publication pgnear does not belong to the role that ran setup",
                    "ALTER PUBLICATION pgnear OWNER TO " + r.getString(4) + ";");
        }
    }

    private void mappings() throws SQLException {
        String sql = """
                SELECT m.relid::regclass::text, t.problem, t.hint, local_cache.is_published(m.relid),
                       has_table_privilege(c.oid, 'SELECT'), has_schema_privilege(c.relnamespace, 'USAGE'), c.relnamespace::regnamespace::text
                    FROM local_cache.mappings m LEFT JOIN pg_class c ON c.oid = m.relid, LATERAL local_cache.table_problem(m.relid) t ORDER BY 1""";
        int tables = 0;
        try (PreparedStatement s = connection.prepareStatement(sql);
                ResultSet r = s.executeQuery()) {
            while (r.next()) {
                tables++;
                mapping(r, String.valueOf(r.getString(1)));
            }
        }
        if (tables == 0) {
            note("no table is attached", "pgnear attach schema.table");
        } else {
            ok(tables + (tables == 1 ? " table is" : " tables are") + " attached");
        }
    }

    private void mapping(ResultSet r, String table) throws SQLException {
        String problem = r.getString(2);
        if (problem != null) {
            note(table + " is attached but not cached: " + problem, String.valueOf(r.getString(3)));
            return;
        }
        if (!r.getBoolean(4)) {
            note(
                    table + " is attached but not cached: it is not in publication pgnear as whole rows",
                    "SELECT local_cache.reconcile_table('" + table.replace("'", "''") + "');");
        }
        if (!r.getBoolean(5)) {
            problem("the role may not read " + table, "GRANT SELECT ON " + table + " TO " + roleName() + ";");
        }
        if (!r.getBoolean(6)) {
            problem(
                    "the role may not use schema " + r.getString(7),
                    "GRANT USAGE ON SCHEMA " + r.getString(7) + " TO " + roleName() + ";");
        }
    }

    private void eventTriggers() throws SQLException {
        long n = number(
                "SELECT count(*) FROM pg_event_trigger WHERE evtname IN ('pgnear_ddl', 'pgnear_drop') AND evtenabled = 'A'");
        if (n == 2) {
            ok("event triggers tell of DDL at once");
        } else {
            note(
                    "event triggers are not installed or not enabled: DDL is noticed by a poll within 5 s",
                    "pgnear setup --postgres URL   (as a superuser)");
        }
    }

    private void fence() throws SQLException {
        boolean visible = bool("SELECT pg_has_role('pg_read_all_stats', 'USAGE')");
        String reason = reasonOfRule();
        if (!wantFenced) {
            ok("coherence tracked: no COMMIT has to wait for " + node);
            return;
        }
        noteUnless(
                visible,
                "the role sees the state of walsenders",
                "the role may not see the state of walsenders, so the node cannot know that it is fenced and serves as degraded",
                "GRANT pg_monitor TO " + roleName() + ";");
        if (reason == null) {
            ok("every COMMIT waits for " + node);
        } else {
            note(
                    "fenced was asked for, but " + reason + ": the node will serve as degraded until it joins",
                    "pgnear fence join --node-name " + node
                            + " --postgres URL   (as a superuser, with the node running)");
        }
    }

    private @Nullable String reasonOfRule() throws SQLException {
        try {
            return SynchronousStandbys.parse(text("SHOW synchronous_standby_names"))
                    .whyNotRequired(node);
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    private String roleName() {
        return Setup.quoted(target.user());
    }

    private void check(boolean good, String well, String what, String fix) {
        if (good) {
            ok(well);
        } else {
            problem(what, fix);
        }
    }

    private void noteUnless(boolean good, String well, String what, String fix) {
        if (good) {
            ok(well);
        } else {
            note(what, fix);
        }
    }

    private void ok(String what) {
        findings.add(new Finding(Level.OK, what, ""));
    }

    private void note(String what, String fix) {
        findings.add(new Finding(Level.NOTE, what, fix));
    }

    private void problem(String what, String fix) {
        findings.add(new Finding(Level.PROBLEM, what, fix));
    }

    private String text(String sql) throws SQLException {
        try (PreparedStatement s = connection.prepareStatement(sql);
                ResultSet r = s.executeQuery()) {
            r.next();
            return String.valueOf(r.getString(1));
        }
    }

    private long number(String sql) throws SQLException {
        return Long.parseLong(text(sql));
    }

    private boolean bool(String sql) throws SQLException {
        return text(sql).equals("t");
    }
}
