package dev.pgnear.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.TestPostgres;
import dev.pgnear.coherence.TestRelations;
import dev.pgnear.pg.catalog.KeyCodec;
import dev.pgnear.pg.catalog.KeyColumn;
import dev.pgnear.pg.catalog.KeyType;
import dev.pgnear.pg.catalog.TableMapping;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fill's plan is one index scan per key for every key type: generic plan, analysed or never analysed, domains and collations. */
class FillQueryIT {
    private record Case(String columnType, String castType, KeyType type, String value) {}

    private static final List<Case> CASES = List.of(
            new Case("int2", "pg_catalog.int2", KeyType.INT2, "(i % 30000)::int2"),
            new Case("int4", "pg_catalog.int4", KeyType.INT4, "i"),
            new Case("int8", "pg_catalog.int8", KeyType.INT8, "i"),
            new Case("text", "pg_catalog.text", KeyType.TEXT, "i::text"),
            new Case("text COLLATE \"C\"", "pg_catalog.text", KeyType.TEXT, "i::text"),
            new Case("varchar", "pg_catalog.varchar", KeyType.VARCHAR, "i::text"),
            new Case("varchar(20)", "pg_catalog.varchar", KeyType.VARCHAR, "i::text"),
            new Case("char(20)", "pg_catalog.bpchar", KeyType.BPCHAR, "i::text"),
            new Case("uuid", "pg_catalog.uuid", KeyType.UUID, "lpad(i::text, 32, '0')::uuid"),
            new Case("numeric", "pg_catalog.numeric", KeyType.NUMERIC, "i"),
            new Case("numeric(12,2)", "pg_catalog.numeric", KeyType.NUMERIC, "i"),
            new Case("date", "pg_catalog.date", KeyType.DATE, "date '2000-01-01' + i"),
            new Case(
                    "timestamp(3)",
                    "pg_catalog.timestamp",
                    KeyType.TIMESTAMP,
                    "timestamp '2000-01-01' + i * interval '1 s'"),
            new Case(
                    "timestamptz",
                    "pg_catalog.timestamptz",
                    KeyType.TIMESTAMPTZ,
                    "timestamptz '2000-01-01 00:00Z' + i * interval '1 s'"),
            new Case("bytea", "pg_catalog.bytea", KeyType.BYTEA, "int4send(i)"),
            new Case("mood", "\"public\".\"mood\"", KeyType.ENUM, "('m' || (i % 300))::mood"),
            new Case("mood_domain", "\"public\".\"mood\"", KeyType.ENUM, "('m' || (i % 300))::mood"),
            new Case("int_domain", "pg_catalog.int4", KeyType.INT4, "i"),
            new Case("text_domain", "pg_catalog.text", KeyType.TEXT, "i::text"));

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void everyKeyIsOneIndexScan(int major) throws Exception {
        try (TestPostgres pg = TestPostgres.start(major, "autovacuum", "off");
                Connection c = pg.connect();
                Statement s = c.createStatement()) {
            StringBuilder labels = new StringBuilder("'m0'");
            for (int i = 1; i < 300; i++) {
                labels.append(", 'm").append(i).append('\'');
            }
            s.execute("CREATE TYPE mood AS ENUM (" + labels + ")");
            s.execute("CREATE DOMAIN mood_domain AS mood CHECK (VALUE IS NOT NULL)");
            s.execute("CREATE DOMAIN int_domain AS int4 CHECK (VALUE >= 0)");
            s.execute("CREATE DOMAIN text_domain AS text COLLATE \"POSIX\" CHECK (VALUE <> '')");
            s.execute("SET plan_cache_mode = force_generic_plan");
            for (int i = 0; i < CASES.size(); i++) {
                one(s, "t" + i, CASES.get(i));
            }
            composite(s);
        }
    }

    private static void one(Statement s, String table, Case x) throws Exception {
        s.execute("CREATE TABLE " + table + " (k " + x.columnType + " PRIMARY KEY, t text)");
        String sql = FillQuery.rowsSql(mapping(table, column("k", x)));
        s.execute("PREPARE p_" + table + "(" + x.castType + "[]) AS " + sql);
        check(s, table, x + ", empty", "NULL");
        s.execute("INSERT INTO " + table + " SELECT " + x.value + ", 'x' FROM generate_series(1, 5) i");
        s.execute("ANALYZE " + table);
        // PostgreSQL prefers to scan the one page, and would keep that plan while the table grows, until it is analysed
        // again.
        assertThat(plan(s, table, "NULL")).as(x.toString()).contains("Seq Scan");
        s.execute("SET enable_seqscan = off");
        s.execute("DISCARD PLANS");
        check(s, table, x + ", analysed when it had five rows, without sequential scans", "NULL");
        s.execute("RESET enable_seqscan");
        s.execute("TRUNCATE " + table);
        s.execute("INSERT INTO " + table + " SELECT DISTINCT ON (1) " + x.value
                + ", repeat('x', 100) FROM generate_series(1, 3000) i");
        check(s, table, x + ", never analysed", "NULL");
        s.execute("ANALYZE " + table);
        check(s, table, x + ", analysed", "NULL");
    }

    private static void composite(Statement s) throws Exception {
        List<KeyColumn> key = new ArrayList<>();
        StringBuilder columns = new StringBuilder();
        StringBuilder types = new StringBuilder();
        StringBuilder values = new StringBuilder();
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < CASES.size(); i += 2) {
            Case x = CASES.get(i);
            key.add(column("k" + i, x));
            columns.append("k").append(i).append(' ').append(x.columnType).append(", ");
            types.append(i == 0 ? "" : ", ").append(x.castType).append("[]");
            values.append(x.value).append(", ");
            names.append(i == 0 ? "" : ", ").append("k").append(i);
        }
        s.execute("CREATE TABLE wide (" + columns + "t text, PRIMARY KEY (" + names + "))");
        s.execute("INSERT INTO wide SELECT " + values + " 'x' FROM generate_series(1, 3000) i");
        s.execute("PREPARE p_wide(" + types + ") AS "
                + FillQuery.rowsSql(mapping("wide", key.toArray(KeyColumn[]::new))));
        check(s, "wide", "composite", "NULL" + ", NULL".repeat(key.size() - 1));
    }

    private static void check(Statement s, String table, String as, String arguments) throws Exception {
        String plan = plan(s, table, arguments);
        assertThat(plan)
                .as(as)
                .containsPattern("(Index Scan using|Bitmap Index Scan on) " + table + "_pkey")
                .contains("Index Cond")
                .doesNotContain("Seq Scan");
    }

    private static String plan(Statement s, String table, String arguments) throws Exception {
        StringBuilder plan = new StringBuilder();
        try (ResultSet r = s.executeQuery("EXPLAIN EXECUTE p_" + table + "(" + arguments + ")")) {
            while (r.next()) {
                plan.append(r.getString(1)).append('\n');
            }
        }
        return plan.toString();
    }

    private static KeyColumn column(String name, Case x) {
        return new KeyColumn(name, 1, x.castType, x.type.typeOid(), x.type);
    }

    private static TableMapping mapping(String table, KeyColumn... key) {
        return new TableMapping(
                1, "public", table, null, false, new KeyCodec(List.of(key)), TestRelations.relation(1), null);
    }
}
