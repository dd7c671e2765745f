package dev.pgnear.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgnear.RespClient;
import dev.pgnear.Server;
import dev.pgnear.TestNodes;
import dev.pgnear.TestPostgres;
import dev.pgnear.coherence.CoherenceStatus.Mode;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A row's text is what a plain session prints now, also after a setting has changed. */
class SettingsIT {
    private static final int ROWS = 200;

    @Test
    void rowsFollowTheSettings() throws Exception {
        try (TestPostgres pg = TestPostgres.start(18);
                TestNodes nodes = new TestNodes(pg)) {
            pg.sql(
                    "ALTER DATABASE postgres SET timezone = 'UTC'",
                    "CREATE TABLE public.t (id int PRIMARY KEY, at timestamptz, b bytea)",
                    "INSERT INTO public.t SELECT i, '2026-01-01 00:00+00', 'a' FROM generate_series(1, " + ROWS
                            + ") i");
            nodes.setup();
            nodes.attach("public.t", "t");
            Server node = nodes.start("n", "tracked");
            nodes.awaitMode(Mode.TRACKED);
            nodes.awaitCaching("t:1");
            try (RespClient a = new RespClient(node.respPort());
                    RespClient b = new RespClient(node.respPort())) {
                all(a, 1, ROWS / 2, "+00:00\"", "\\\\x61");
                pg.sql("ALTER DATABASE postgres SET timezone = 'Asia/Tokyo'");
                changed(a, b, "+09:00\"", "\\\\x61");
                pg.sql("ALTER ROLE postgres SET bytea_output = 'escape'");
                changed(b, a, "+09:00\"", "\"a\"");
                pg.sql("ALTER ROLE postgres RESET bytea_output");
                changed(a, b, "+09:00\"", "\\\\x61");
                pg.sql("ALTER SYSTEM SET bytea_output = 'escape'", "SELECT pg_reload_conf()");
                changed(b, a, "+09:00\"", "\"a\"");
                nodes.awaitCaching("t:1");
                changed(a, b, "+09:00\"", "\"a\"");
            }
        }
    }

    /** Rows that were cached, and rows that were not. */
    private static void changed(RespClient a, RespClient b, String zone, String bytes) {
        await().atMost(Duration.ofSeconds(5)).untilAsserted(() -> all(a, 1, ROWS, zone, bytes));
        await().during(Duration.ofSeconds(2)).atMost(Duration.ofSeconds(4)).untilAsserted(() -> {
            all(a, 1, ROWS, zone, bytes);
            all(b, 1, ROWS, zone, bytes);
        });
    }

    private static void all(RespClient c, int from, int to, String zone, String bytes) throws Exception {
        for (int i = from; i <= to; i++) {
            assertThat(c.get("t:" + i)).contains(zone).contains(bytes);
        }
    }
}
