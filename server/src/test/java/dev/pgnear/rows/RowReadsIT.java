package dev.pgnear.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgnear.TestPostgres;
import dev.pgnear.coherence.Relation;
import dev.pgnear.pg.catalog.Setup;
import dev.pgnear.pg.wire.PgTarget;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows and mappings on a real server, from the key to the bytes, and what DDL does to them. */
class RowReadsIT {
    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void wholeLifeOfMappings(int major) throws Exception {
        try (TestPostgres pg = TestPostgres.start(major)) {
            pg.sql(
                    "CREATE TABLE items (id bigint PRIMARY KEY, name text)",
                    "INSERT INTO items SELECT i, 'n' || i FROM generate_series(1, 5000) i",
                    "CREATE TYPE mood AS ENUM ('sad', 'ok')",
                    "CREATE TABLE moods (m mood, d date, t text, n numeric(10,2), note text, PRIMARY KEY (m, d, t, n))",
                    "INSERT INTO moods VALUES ('ok', '1999-01-08', 'x', 1.50, 'found')",
                    "CREATE SCHEMA \"my.schema\"",
                    "CREATE TABLE \"my.schema\".\"t\" (\"t\" char(8) PRIMARY KEY, big text)",
                    "INSERT INTO \"my.schema\".\"t\" VALUES ('a', NULL), ('b', repeat('x', 1100000))");
            try (RowsNode node = new RowsNode(pg)) {
                pg.sql(
                        "SELECT local_cache.attach_table('items', true, 'items')",
                        "SELECT local_cache.attach_table('moods', false, 'moods')",
                        "SELECT local_cache.attach_table('\"my.schema\".\"t\"', false, 'tt')");
                await().until(() -> node.mappings.get().all().size() == 3);
                node.awaitReady();
                hitsAndMisses(node);
                spellings(node);
                sizesAndErrors(node);
                invalidation(pg, node);
                everyType(pg, node);
                ddl(pg, node);
                longWriterHoldsAttachingBack(pg, node);
            }
        }
    }

    private static void hitsAndMisses(RowsNode node) throws Exception {
        String row = "{\"id\":42,\"name\":\"n42\"}";
        assertThat(node.read("items:42")).isEqualTo("miss " + row);
        assertThat(node.read("CRUD:postgres.public.items:{\"id\":\"42\"}")).isEqualTo("hit " + row);
        assertThat(node.read("items:0")).isEqualTo("miss");
        assertThat(node.read("items:0")).isEqualTo("hit");

        long queries = node.backendStats.queries.sum();
        List<String> keys = new ArrayList<>();
        for (int i = 1000; i < 3000; i++) {
            keys.add("items:" + i);
        }
        List<String> answers = node.get(keys);
        for (int i = 0; i < keys.size(); i++) {
            assertThat(answers.get(i)).isEqualTo("miss {\"id\":" + (1000 + i) + ",\"name\":\"n" + (1000 + i) + "\"}");
        }
        assertThat(node.backendStats.queries.sum() - queries)
                .as("one query per 1024 keys")
                .isEqualTo(2);
        assertThat(node.get(keys)).allMatch(a -> a.startsWith("hit {"));

        Relation items = Objects.requireNonNull(node.mappings.get().byName("public", "items"))
                .relation();
        assertThat(node.stats.of(items).hits()).isEqualTo(2002);
        assertThat(node.stats.of(items).negativeHits()).isEqualTo(1);
        assertThat(node.stats.of(items).misses()).isEqualTo(2002);
    }

    private static void spellings(RowsNode node) throws Exception {
        String row = "{\"m\":\"ok\",\"d\":\"1999-01-08\",\"t\":\"x\",\"n\":1.50,\"note\":\"found\"}";
        assertThat(node.read("moods:ok:1999-01-08:x:1.5")).isEqualTo("miss " + row);
        assertThat(node.read("moods:ok:1999-01-08:x:1.50")).isEqualTo("hit " + row);
        assertThat(node.read("moods:ok:January 8, 1999:x:1.500")).isEqualTo("miss " + row);
        assertThat(node.read("moods:ok:1999-01-08:x:1.501")).isEqualTo("miss");
        assertThat(node.read("moods:bad:1999-01-08:x:1.5"))
                .isEqualTo("ERR PostgreSQL: 22P02 invalid input value for enum mood: \"bad\"");
        assertThat(node.read("moods:ok:nonsense:x:1.5"))
                .isEqualTo("ERR PostgreSQL: 22007 invalid input syntax for type date: \"nonsense\"");
        assertThat(node.read("items:99999999999999999999"))
                .isEqualTo("ERR PostgreSQL: 22003 value \"99999999999999999999\" is out of range for type bigint");
        assertThat(node.get(List.of(
                        "moods:bad:1999-01-08:x:1.5", "moods:ok:1999-01-09:x:1.5", "moods:ok:1999-01-08:x:1.51")))
                .as("one bad key spoils no other")
                .containsExactly("ERR PostgreSQL: 22P02 invalid input value for enum mood: \"bad\"", "miss", "miss");
    }

    private static void sizesAndErrors(RowsNode node) throws Exception {
        assertThat(node.read("CRUD:postgres.\"my.schema\".t:{\"t\":\"a   \"}"))
                .isEqualTo("miss {\"t\":\"a       \",\"big\":null}");
        assertThat(node.read("tt:a")).isEqualTo("hit {\"t\":\"a       \",\"big\":null}");
        assertThat(node.read("tt:b")).startsWith("ERR row too large");
        assertThat(node.read("tt:b")).startsWith("ERR row too large");
        assertThat(node.read("CRUD:postgres.public.nothing:{\"id\":1}"))
                .startsWith("ERR table public.nothing is not attached");
    }

    private static void invalidation(TestPostgres pg, RowsNode node) throws Exception {
        assertThat(node.scopes.invalidate("items:42")).isEqualTo(1);
        assertThat(node.scopes.invalidate("items:42")).isZero();
        assertThat(node.read("items:42")).startsWith("miss");
        assertThat(node.scopes.invalidate("CRUD:postgres.public.items")).isEqualTo(2002);
        assertThat(node.read("items:42")).startsWith("miss");
        pg.sql("SELECT local_cache.invalidate('CRUD:postgres.public.items')");
        await().untilAsserted(() -> assertThat(node.read("items:42")).startsWith("miss"));
        await().untilAsserted(() -> assertThat(node.read("items:42")).startsWith("hit"));
        pg.sql("UPDATE items SET name = 'new' WHERE id = 42");
        await().untilAsserted(() -> assertThat(node.read("items:42")).endsWith("{\"id\":42,\"name\":\"new\"}"));
    }

    private static void everyType(TestPostgres pg, RowsNode node) throws Exception {
        try (InputStream in =
                Objects.requireNonNull(RowReadsIT.class.getResourceAsStream("/dev/pgnear/endtoend/every_type.sql"))) {
            pg.sql(new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .replace("TYPE mood ", "TYPE mood2 ")
                    .replace("mood,", "mood2,")
                    .replace("mood[]", "mood2[]"));
        }
        pg.sql("SELECT local_cache.attach_table('every_type', false, 'every')");
        await().until(() -> node.mappings.get().byName("public", "every_type") != null);
        node.awaitReady();
        Map<Long, String> rows = new LinkedHashMap<>();
        try (Connection c = pg.connect();
                Statement s = c.createStatement();
                ResultSet r = s.executeQuery("SELECT id, row_to_json(t)::text FROM every_type t ORDER BY id")) {
            while (r.next()) {
                rows.put(r.getLong(1), r.getString(2));
            }
        }
        assertThat(rows).hasSizeGreaterThan(5);
        for (var row : rows.entrySet()) {
            assertThat(node.read("every:" + row.getKey())).isEqualTo("miss " + row.getValue());
            assertThat(node.read("every:" + row.getKey())).isEqualTo("hit " + row.getValue());
        }
    }

    private static void ddl(TestPostgres pg, RowsNode node) throws Exception {
        pg.sql("ALTER TABLE items ADD COLUMN more int DEFAULT 7");
        await().untilAsserted(() ->
                assertThat(node.read("items:42")).isEqualTo("hit {\"id\":42,\"name\":\"new\",\"more\":7}"));

        pg.sql("ALTER TABLE items RENAME TO things", "ALTER TABLE things SET SCHEMA \"my.schema\"");
        assertThat(node.read("items:43"))
                .as("an alias follows, at once")
                .endsWith("{\"id\":43,\"name\":\"n43\",\"more\":7}");
        await().untilAsserted(() -> assertThat(node.read("CRUD:postgres.\"my.schema\".things:{\"id\":43}"))
                .startsWith("hit {"));
        assertThat(node.read("CRUD:postgres.public.items:{\"id\":43}"))
                .startsWith("ERR table public.items is not attached");
        pg.sql("CREATE TABLE items (id bigint PRIMARY KEY)");
        assertThat(node.read("CRUD:postgres.public.items:{\"id\":43}"))
                .startsWith("ERR table public.items is not attached");

        pg.sql("ALTER TABLE \"my.schema\".things ALTER COLUMN id TYPE text");
        await().untilAsserted(() ->
                assertThat(node.read("items:43")).isEqualTo("hit {\"id\":\"43\",\"name\":\"n43\",\"more\":7}"));
        pg.sql("ALTER TABLE \"my.schema\".things REPLICA IDENTITY NOTHING");
        await().untilAsserted(() -> assertThat(bypassReason(node, "things")).contains("replica identity is NOTHING"));
        assertThat(node.read("items:43")).isEqualTo("miss {\"id\":\"43\",\"name\":\"n43\",\"more\":7}");
        assertThat(node.read("items:43")).as("served, not cached").startsWith("miss {");
        pg.sql(
                "UPDATE \"my.schema\".things SET more = 8 WHERE id = '43'",
                "ALTER TABLE \"my.schema\".things REPLICA IDENTITY DEFAULT");
        await().untilAsserted(() ->
                assertThat(node.read("items:43")).isEqualTo("hit {\"id\":\"43\",\"name\":\"n43\",\"more\":8}"));

        pg.sql("ALTER TABLE \"my.schema\".things ENABLE ROW LEVEL SECURITY");
        await().untilAsserted(() -> assertThat(node.read("items:43")).startsWith("NOPERM my.schema.things"));
        pg.sql("ALTER TABLE \"my.schema\".things DISABLE ROW LEVEL SECURITY");
        await().untilAsserted(() -> assertThat(node.read("items:43")).startsWith("hit"));

        pg.sql("SELECT local_cache.detach_table('moods')");
        await().untilAsserted(
                        () -> assertThat(node.read("moods:ok:1999-01-08:x:1.5")).isEqualTo("not a row"));
        pg.sql("DROP TABLE \"my.schema\".things");
        await().untilAsserted(() -> assertThat(node.read("items:43")).isEqualTo("not a row"));
    }

    private static String bypassReason(RowsNode node, String table) {
        return node.mappings.get().all().stream()
                .filter(m -> m.table().equals(table))
                .map(m -> String.valueOf(m.bypassReason()))
                .findFirst()
                .orElse("");
    }

    /** Rule ATTACH_WAITS: what a transaction wrote before the publication knew the table is never published (F17). */
    private static void longWriterHoldsAttachingBack(TestPostgres pg, RowsNode node) throws Exception {
        pg.sql("CREATE TABLE late (id int PRIMARY KEY, v text)", "INSERT INTO late VALUES (1, 'old')");
        try (Connection writer = pg.connect();
                Statement w = writer.createStatement();
                Connection prepared = pg.connect();
                Statement p = prepared.createStatement()) {
            writer.setAutoCommit(false);
            w.execute("UPDATE late SET v = 'new'");
            prepared.setAutoCommit(false);
            p.execute("INSERT INTO late VALUES (2, 'prepared')");
            p.execute("PREPARE TRANSACTION 'two'");
            prepared.setAutoCommit(true);
            // ALTER PUBLICATION waits for nobody who writes.
            pg.sql("SELECT local_cache.attach_table('late', false, 'late')");
            await().until(() -> node.mappings.get().byName("public", "late") != null);
            for (int i = 0; i < 20; i++) {
                assertThat(node.read("late:1")).isEqualTo("miss {\"id\":1,\"v\":\"old\"}");
                assertThat(node.read("late:2")).isEqualTo("miss");
            }
            writer.commit();
            assertThat(node.read("late:1")).isEqualTo("miss {\"id\":1,\"v\":\"new\"}");
            assertThat(node.read("late:2")).isEqualTo("miss");
            assertThat(node.read("late:2"))
                    .as("a prepared transaction still holds its lock")
                    .isEqualTo("miss");
            p.execute("COMMIT PREPARED 'two'");
        }
        node.awaitReady();
        await().untilAsserted(() -> assertThat(node.read("late:1")).isEqualTo("hit {\"id\":1,\"v\":\"new\"}"));
        await().untilAsserted(() -> assertThat(node.read("late:2")).isEqualTo("hit {\"id\":2,\"v\":\"prepared\"}"));
    }

    /** Without event triggers the catalog's fingerprint shows what changed. */
    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void ddlWithoutEventTriggers(int major) throws Exception {
        try (TestPostgres pg = TestPostgres.start(major)) {
            pg.sql("CREATE TABLE items (id int PRIMARY KEY, name text)", "INSERT INTO items VALUES (1, 'one')");
            try (RowsNode node = new RowsNode(pg)) {
                pg.sql(
                        "DROP EVENT TRIGGER pgnear_ddl",
                        "DROP EVENT TRIGGER pgnear_drop",
                        "SELECT local_cache.attach_table('items', false, 'items')");
                await().untilAsserted(
                                () -> assertThat(node.read("items:1")).isEqualTo("hit {\"id\":1,\"name\":\"one\"}"));
                await().until(() -> !node.mappings.announcesDdl());
                pg.sql("ALTER TABLE items ADD COLUMN more int DEFAULT 7");
                await().untilAsserted(() ->
                        assertThat(node.read("items:1")).isEqualTo("hit {\"id\":1,\"name\":\"one\",\"more\":7}"));
                pg.sql("ALTER TABLE items RENAME TO things");
                await().untilAsserted(() -> assertThat(node.read("CRUD:postgres.public.things:{\"id\":1}"))
                        .startsWith("hit"));
                pg.sql("DROP TABLE things");
                await().untilAsserted(() -> assertThat(node.read("items:1")).isEqualTo("not a row"));
            }
        }
    }

    /** A plain role whose search_path belongs to somebody hostile; privileges that come and go, directly and by membership. */
    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void privilegesAndHostileSearchPath(int major) throws Exception {
        try (TestPostgres pg = TestPostgres.start(major)) {
            pg.sql(
                    "CREATE TABLE items (id int PRIMARY KEY, name text)",
                    "INSERT INTO items VALUES (1, 'one')",
                    "CREATE ROLE node LOGIN REPLICATION IN ROLE pg_monitor",
                    "CREATE ROLE readers NOLOGIN",
                    "GRANT readers TO node",
                    "GRANT SELECT ON items TO readers",
                    "CREATE SCHEMA evil",
                    "GRANT USAGE ON SCHEMA evil TO node",
                    "CREATE FUNCTION evil.row_to_json(record) RETURNS json LANGUAGE plpgsql AS $$ BEGIN RETURN '{}'; END $$",
                    "CREATE FUNCTION evil.unnest(int[]) RETURNS SETOF int LANGUAGE sql AS $$ SELECT 666 $$",
                    "CREATE FUNCTION evil.pg_current_snapshot() RETURNS pg_snapshot LANGUAGE sql AS $$ SELECT '1:1:'::pg_snapshot $$",
                    "CREATE FUNCTION evil.no(int, int) RETURNS boolean LANGUAGE sql AS $$ SELECT false $$",
                    "CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.no)",
                    "CREATE OPERATOR evil.<= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.no)",
                    "CREATE DOMAIN evil.text AS pg_catalog.text CHECK (VALUE = 'never')",
                    "CREATE TABLE evil.items (id int PRIMARY KEY, name pg_catalog.text)",
                    "ALTER ROLE node SET search_path = evil, pg_catalog, public");
            Setup.install(target(pg, "postgres"), "node");
            pg.sql("SELECT local_cache.attach_table('public.items', false, 'items')");
            try (RowsNode node = new RowsNode(target(pg, "node"), false)) {
                await().untilAsserted(
                                () -> assertThat(node.read("items:1")).isEqualTo("hit {\"id\":1,\"name\":\"one\"}"));

                pg.sql("REVOKE readers FROM node");
                await().untilAsserted(() -> assertThat(node.read("items:1"))
                        .isEqualTo("ERR PostgreSQL: 42501 permission denied for table items"));
                await().untilAsserted(
                                () -> assertThat(bypassReason(node, "items")).contains("may not SELECT"));
                pg.sql("GRANT SELECT ON items TO node");
                await().untilAsserted(
                                () -> assertThat(node.read("items:1")).isEqualTo("hit {\"id\":1,\"name\":\"one\"}"));
                pg.sql("REVOKE SELECT ON items FROM node");
                await().untilAsserted(() -> assertThat(node.read("items:1")).startsWith("ERR PostgreSQL: 42501"));
            }
        }
    }

    private static PgTarget target(TestPostgres pg, String user) {
        return new PgTarget("127.0.0.1", pg.port(), "postgres", user, null, PgTarget.SslMode.DISABLE, null);
    }

    /** DDL that lies between two streams is in neither: everything is verified anew when a stream starts. */
    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void ddlWhileTheStreamIsDown(int major) throws Exception {
        try (TestPostgres pg = TestPostgres.start(major)) {
            pg.sql("CREATE TABLE items (id int PRIMARY KEY, name text)", "INSERT INTO items VALUES (1, 'one')");
            try (RowsNode node = new RowsNode(pg)) {
                pg.sql("SELECT local_cache.attach_table('items', false, 'items')");
                await().untilAsserted(() -> assertThat(node.read("items:1")).startsWith("hit"));
                for (int i = 0; i < 5; i++) {
                    pg.sql(
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_replication",
                            "ALTER TABLE items ADD COLUMN c" + i + " int DEFAULT " + i,
                            "UPDATE items SET name = 'name" + i + "'");
                    String end = ",\"c" + i + "\":" + i + "}";
                    String name = "\"name\":\"name" + i + "\"";
                    await().untilAsserted(() -> assertThat(node.read("items:1"))
                            .startsWith("hit")
                            .contains(name)
                            .endsWith(end));
                }
                pg.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_replication", "DROP TABLE items");
                await().untilAsserted(() -> assertThat(node.read("items:1")).isEqualTo("not a row"));
            }
        }
    }
}
