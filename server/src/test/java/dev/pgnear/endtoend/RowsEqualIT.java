package dev.pgnear.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgnear.RespClient;
import dev.pgnear.Server;
import dev.pgnear.TestNodes;
import dev.pgnear.TestPostgres;
import dev.pgnear.coherence.CoherenceStatus.Mode;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every row equals {@code row_to_json(t)::text} byte for byte, over RESP2 and RESP3, cold and warm. */
class RowsEqualIT {
    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void aHundredThousandRows(int major) throws Exception {
        try (TestPostgres pg = TestPostgres.start(major);
                TestNodes nodes = new TestNodes(pg)) {
            pg.sql(
                    "CREATE TABLE items (id bigint PRIMARY KEY, tenant int, name text, amount numeric(12,2), enabled boolean, metadata jsonb,"
                            + " payload text, note text NULL, updated_at timestamptz)",
                    "INSERT INTO items SELECT i, i % 100, 'item ' || i, i / 7.0, i % 2 = 0, jsonb_build_object('size', i % 40), repeat(md5(i::text), 3),"
                            + " CASE WHEN i % 5 = 0 THEN 'note ' || i END, timestamptz '2026-01-01 00:00+00' + i * interval '1 second'"
                            + " FROM generate_series(1, 100000) i");
            nodes.setup();
            nodes.attach("public.items", "items");
            Server node = nodes.start("n", "tracked", "memory-budget", "128MiB");
            nodes.awaitMode(Mode.TRACKED);
            nodes.awaitCaching("items:1");
            compare(pg, node, "items", i -> "items:" + i);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void everyBuiltInType(int major) throws Exception {
        try (TestPostgres pg = TestPostgres.start(major);
                TestNodes nodes = new TestNodes(pg);
                InputStream in = Objects.requireNonNull(getClass().getResourceAsStream("every_type.sql"))) {
            pg.sql(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            nodes.setup();
            nodes.attach("public.every_type");
            Server node = nodes.start("n", "tracked");
            nodes.awaitMode(Mode.TRACKED);
            nodes.awaitCaching("CRUD:postgres.public.every_type:{\"id\":0}");
            compare(pg, node, "every_type", i -> "CRUD:postgres.public.every_type:{\"id\":" + i + "}");
            // a change that leaves the out-of-line values alone must not lose them
            pg.sql("UPDATE every_type SET c_int4 = 4711 WHERE id >= 7");
            String key = "CRUD:postgres.public.every_type:{\"id\":8}";
            try (RespClient c = new RespClient(node.respPort())) {
                // tracked: the stream may be a moment behind
                await().untilAsserted(() -> assertThat(c.get(key)).contains("\"c_int4\":4711"));
            }
            compare(pg, node, "every_type", i -> "CRUD:postgres.public.every_type:{\"id\":" + i + "}");
        }
    }

    /** Such a table is not cached: the text of its rows changes without them. */
    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void namesOfOtherObjects(int major) throws Exception {
        try (TestPostgres pg = TestPostgres.start(major);
                TestNodes nodes = new TestNodes(pg)) {
            pg.sql(
                    "CREATE TABLE named (id int PRIMARY KEY, v text)",
                    "INSERT INTO named SELECT i, 'v' || i FROM generate_series(1, 3) i",
                    "CREATE TABLE one (id int)");
            nodes.setup();
            nodes.attach("public.named", "named");
            Server node = nodes.start("n", "tracked");
            nodes.awaitMode(Mode.TRACKED);
            nodes.awaitCaching("named:1");
            pg.sql("ALTER TABLE named ADD COLUMN c_regclass regclass DEFAULT 'one'::regclass");
            try (RespClient c = new RespClient(node.respPort())) {
                // tracked: the stream may be a moment behind
                await().untilAsserted(() -> assertThat(c.get("named:1")).contains("\"c_regclass\":\"one\""));
                for (String name : List.of("two", "three")) {
                    assertThat(c.get("named:1")).isEqualTo(rows(pg, "named").get(1L));
                    pg.sql("ALTER TABLE " + c.get("named:1").replaceAll(".*\"c_regclass\":\"(\\w+)\".*", "$1")
                            + " RENAME TO " + name);
                    assertThat(c.get("named:1")).contains("\"c_regclass\":\"" + name + "\"");
                    assertThat(c.get("named:1")).isEqualTo(rows(pg, "named").get(1L));
                }
            }
        }
    }

    private interface Key {
        String of(long id);
    }

    private static Map<Long, String> rows(TestPostgres pg, String table) throws Exception {
        Map<Long, String> rows = new LinkedHashMap<>();
        try (Connection c = pg.connect();
                Statement s = c.createStatement();
                ResultSet r = s.executeQuery("SELECT id, row_to_json(t)::text FROM " + table + " t ORDER BY id")) {
            while (r.next()) {
                rows.put(r.getLong(1), r.getString(2));
            }
        }
        return rows;
    }

    private static void compare(TestPostgres pg, Server node, String table, Key key) throws Exception {
        Map<Long, String> rows = rows(pg, table);
        List<Long> ids = List.copyOf(rows.keySet());
        try (RespClient two = new RespClient(node.respPort());
                RespClient three = new RespClient(node.respPort())) {
            assertThat(three.call("HELLO", "3")).isInstanceOf(List.class);
            for (int pass = 0; pass < 2; pass++) {
                for (RespClient c : List.of(two, three)) {
                    long reads = TestNodes.counter(c, "database_reads");
                    for (int from = 0; from < ids.size(); from += 500) {
                        List<Long> some = ids.subList(from, Math.min(from + 500, ids.size()));
                        for (long id : some) {
                            c.send("GET", key.of(id));
                        }
                        c.flush();
                        for (long id : some) {
                            assertThat(c.read()).as(table + " " + id).isEqualTo(rows.get(id));
                        }
                    }
                    if (pass > 0) {
                        assertThat(TestNodes.counter(c, "database_reads"))
                                .as("warm: no database reads")
                                .isEqualTo(reads);
                    }
                }
            }
        }
    }
}
