package dev.pgnear.pg.catalog;

import dev.pgnear.base.Lsn;
import dev.pgnear.coherence.Snapshot;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The control plane's questions to the catalog. Each is one statement, so one snapshot. The connection's search_path is set to pg_catalog
 * first: no object of a user takes part.
 */
final class MappingReader {
    /** Stands for the settings among the fingerprints; no table has this oid. */
    static final int SETTINGS = -1;

    private static final String TABLES = """
            SELECT pg_current_snapshot()::text AS snapshot, m.relid::int8 AS oid, n.nspname, c.relname, m.alias, m.writable,
                   CASE WHEN c.relrowsecurity THEN '%s'
                        WHEN p.problem IS NOT NULL THEN p.problem
                        WHEN NOT local_cache.is_published(m.relid) THEN 'it is not in publication pgnear with whole rows'
                        WHEN NOT has_schema_privilege(n.oid, 'USAGE') THEN format('role %%s has no USAGE on its schema', current_user)
                        WHEN NOT has_table_privilege(c.oid, 'SELECT') THEN format('role %%s may not SELECT from it', current_user)
                   END AS problem,
                   (SELECT concat_ws(':', r.oid, b.oid, b.xmin) FROM pg_publication b JOIN pg_publication_rel r ON r.prpubid = b.oid
                     WHERE b.pubname = 'pgnear' AND r.prrelid = m.relid) AS mark,
                   k.names, k.numbers, k.types, k.arrays, k.enums, k.spellings
              FROM (VALUES (1)) AS one(x)
              LEFT JOIN (local_cache.mappings m
                         JOIN pg_class c ON c.oid = m.relid
                         JOIN pg_namespace n ON n.oid = c.relnamespace) ON true
              LEFT JOIN LATERAL local_cache.table_problem(m.relid) p ON true
              LEFT JOIN LATERAL (
                SELECT array_agg(a.attname::text ORDER BY x.n) AS names, array_agg(a.attnum::int4 ORDER BY x.n) AS numbers,
                       array_agg(t.oid::int8 ORDER BY x.n) AS types, array_agg(t.typarray::int8 ORDER BY x.n) AS arrays,
                       array_agg(t.typtype = 'e' ORDER BY x.n) AS enums,
                       array_agg(format('%%I.%%I', tn.nspname, t.typname) ORDER BY x.n) AS spellings
                  FROM pg_index i
                 CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS x(attnum, n)
                  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = x.attnum
                 CROSS JOIN LATERAL (
                    WITH RECURSIVE d AS (
                      SELECT y.oid, y.typtype, y.typbasetype FROM pg_type y WHERE y.oid = a.atttypid
                      UNION ALL
                      SELECT y.oid, y.typtype, y.typbasetype FROM d JOIN pg_type y ON y.oid = d.typbasetype WHERE d.typtype = 'd')
                    SELECT d.oid FROM d WHERE d.typtype <> 'd') AS base
                  JOIN pg_type t ON t.oid = base.oid
                  JOIN pg_namespace tn ON tn.oid = t.typnamespace
                 WHERE i.indrelid = m.relid AND i.indisprimary AND x.n <= i.indnkeyatts) k ON true
            """.formatted(TableMapping.ROW_SECURITY);

    /** Row writers hold RowExclusiveLock whatever else they hold; the other modes are TRUNCATE's, LOCK TABLE's and the rewrites'. */
    private static final String WRITERS = """
            SELECT l.relation::int8, l.virtualtransaction FROM pg_locks l
             WHERE l.locktype = 'relation' AND l.granted AND l.relation = ANY (?::oid[])
               AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
               AND l.mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
            """;

    /** Settings of role and database: they are for sessions that begin later. */
    private static final String SETTINGS_CHANGES = """
            (SELECT string_agg(concat_ws(',', s.setdatabase, s.setrole, s.setconfig::text), ';' ORDER BY s.setdatabase, s.setrole)
               FROM pg_db_role_setting s
              WHERE s.setdatabase IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
                AND s.setrole IN (0, current_user::regrole::oid))
            """;

    /** What else may change without a message: the event triggers themselves. */
    private static final String QUIET_CHANGES =
            "(SELECT count(*) FROM pg_event_trigger e WHERE e.evtname IN ('pgnear_ddl', 'pgnear_drop') AND e.evtenabled = 'A')";

    /** What may change of one table without a message: privileges, by membership too. */
    private static final String QUIET_CHANGES_OF_TABLE =
            "m.xmin, has_table_privilege(c.oid, 'SELECT'), has_schema_privilege(c.relnamespace, 'USAGE')";

    /** Without event triggers: every catalog row that says something about all tables. */
    private static final String ALL_CHANGES = """
            (SELECT string_agg(concat(p.oid, '.', p.xmin), ',' ORDER BY p.oid) FROM pg_publication p WHERE p.pubname = 'pgnear'),
            (SELECT string_agg(concat(e.oid, '.', e.xmin), ',' ORDER BY e.oid) FROM pg_enum e),
            (SELECT string_agg(concat(t.oid, '.', t.xmin), ',' ORDER BY t.oid) FROM pg_type t
              WHERE t.oid >= 16384 AND t.typtype IN ('d', 'e', 'r', 'b') AND t.typcategory <> 'A'),
            (SELECT string_agg(a.xmin::text, ',' ORDER BY a.attrelid, a.attnum) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
              WHERE c.relkind = 'c')
            """;

    /** And about one table. */
    private static final String ALL_CHANGES_OF_TABLE = """
            c.xmin, n.nspname,
            (SELECT string_agg(a.xmin::text, '.' ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0),
            (SELECT string_agg(concat(i.indexrelid, '.', i.xmin), '.' ORDER BY i.indexrelid) FROM pg_index i WHERE i.indrelid = c.oid),
            (SELECT string_agg(concat(q.inhrelid, '.', q.inhparent), '.' ORDER BY q.inhrelid, q.inhparent) FROM pg_inherits q
              WHERE c.oid IN (q.inhparent, q.inhrelid)),
            (SELECT string_agg(concat(r.oid, '.', r.xmin), ',' ORDER BY r.oid) FROM pg_publication_rel r WHERE r.prrelid = c.oid)
            """;

    private final Connection connection;

    /** Prepares the connection for the questions. */
    MappingReader(Connection connection) throws SQLException {
        this.connection = connection;
        try (Statement s = connection.createStatement()) {
            s.execute("SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false),"
                    + " pg_catalog.set_config('statement_timeout', '10000', false),"
                    + " pg_catalog.set_config('synchronous_commit', 'local', false)");
        }
    }

    CatalogView tables() throws SQLException {
        try (Statement s = connection.createStatement();
                ResultSet r = s.executeQuery(TABLES)) {
            String snapshot = "";
            Map<Integer, CatalogTable> tables = new HashMap<>();
            while (r.next()) {
                snapshot = r.getString("snapshot");
                int oid = (int) r.getLong("oid");
                if (oid != 0) {
                    tables.put(oid, table(oid, r));
                }
            }
            return new CatalogView(Snapshot.parse(snapshot), tables);
        }
    }

    private static CatalogTable table(int oid, ResultSet r) throws SQLException {
        String mark = r.getString("mark");
        return new CatalogTable(
                oid,
                r.getString("nspname"),
                r.getString("relname"),
                r.getString("alias"),
                r.getBoolean("writable"),
                key(r),
                r.getString("problem"),
                mark == null ? "" : mark);
    }

    private static List<KeyColumn> key(ResultSet r) throws SQLException {
        if (r.getArray("names") == null) {
            return List.of();
        }
        String[] names = (String[]) r.getArray("names").getArray();
        Integer[] numbers = (Integer[]) r.getArray("numbers").getArray();
        Long[] types = (Long[]) r.getArray("types").getArray();
        Long[] arrays = (Long[]) r.getArray("arrays").getArray();
        Boolean[] enums = (Boolean[]) r.getArray("enums").getArray();
        String[] spellings = (String[]) r.getArray("spellings").getArray();
        List<KeyColumn> key = new ArrayList<>();
        for (int i = 0; i < names.length; i++) {
            int type = types[i].intValue();
            Optional<KeyType> known = KeyType.of(type, enums[i]);
            if (known.isEmpty()) {
                return List.of();
            }
            key.add(new KeyColumn(names[i], numbers[i], spellings[i], type, arrays[i].intValue(), known.get()));
        }
        return key;
    }

    /** Transactions that may be writing to the tables, prepared ones included: by oid, their virtual transaction ids. */
    Map<Integer, Set<String>> writers(Collection<Integer> oids) throws SQLException {
        Map<Integer, Set<String>> writers = new HashMap<>();
        try (PreparedStatement s = connection.prepareStatement(WRITERS)) {
            s.setArray(
                    1,
                    connection.createArrayOf(
                            "int8", oids.stream().map(Integer::toUnsignedLong).toArray()));
            try (ResultSet r = s.executeQuery()) {
                while (r.next()) {
                    writers.computeIfAbsent((int) r.getLong(1), o -> new HashSet<>())
                            .add(r.getString(2));
                }
            }
        }
        return writers;
    }

    /** pg_current_wal_insert_lsn(). */
    long insertLsn() throws SQLException {
        return Lsn.parse(one("SELECT pg_current_wal_insert_lsn()::text"));
    }

    /** Moves an idle server's stream on (F23, F24). Returns at once, since the session's commits wait for no standby. */
    void beat() throws SQLException {
        one("SELECT pg_logical_emit_message(true, 'pgnear', 'beat')::text");
    }

    /** Whether DDL announces itself in the stream. */
    boolean eventTriggers() throws SQLException {
        return "2"
                .equals(one("SELECT count(*)::text FROM pg_event_trigger e"
                        + " WHERE e.evtname IN ('pgnear_ddl', 'pgnear_drop') AND e.evtenabled = 'A'"));
    }

    /** By oid, what differs after every change that matters and is not announced in the stream; what concerns all tables under oid 0, {@link #SETTINGS}. */
    Map<Integer, String> fingerprints(boolean eventTriggers) throws SQLException {
        String sql = "SELECT 0::int8, md5(concat_ws('|', " + QUIET_CHANGES + (eventTriggers ? "" : ", " + ALL_CHANGES)
                + ")) UNION ALL SELECT " + SETTINGS + "::int8, md5(concat_ws('|', " + SETTINGS_CHANGES
                + ")) UNION ALL SELECT m.relid::int8, md5(concat_ws('|', " + QUIET_CHANGES_OF_TABLE
                + (eventTriggers ? "" : ", " + ALL_CHANGES_OF_TABLE) + ")) FROM local_cache.mappings m"
                + " LEFT JOIN pg_class c ON c.oid = m.relid LEFT JOIN pg_namespace n ON n.oid = c.relnamespace";
        Map<Integer, String> prints = new HashMap<>();
        try (Statement s = connection.createStatement();
                ResultSet r = s.executeQuery(sql)) {
            while (r.next()) {
                prints.put((int) r.getLong(1), r.getString(2));
            }
        }
        return prints;
    }

    private String one(String sql) throws SQLException {
        try (Statement s = connection.createStatement();
                ResultSet r = s.executeQuery(sql)) {
            @Nullable String value = r.next() ? r.getString(1) : null;
            return value == null ? "" : value;
        }
    }
}
