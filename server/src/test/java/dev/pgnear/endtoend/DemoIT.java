package dev.pgnear.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgnear.NodeProcess;
import dev.pgnear.RespClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first thing that a user does. */
class DemoIT {
    private static NodeProcess demo(Path folder, String... more) throws Exception {
        String[] words = {
            "demo",
            "--rows",
            "200",
            "--pg-port",
            "0",
            "--resp-port",
            "0",
            "--http-port",
            "0",
            "--data-dir",
            folder.toString()
        };
        String[] all = java.util.Arrays.copyOf(words, words.length + more.length);
        System.arraycopy(more, 0, all, words.length, more.length);
        return new NodeProcess(all);
    }

    private static void update(String readyLine, String sql) throws Exception {
        String url = readyLine.replaceAll(".*postgres=postgresql://postgres@", "jdbc:postgresql://") + "?user=postgres";
        try (Connection c = DriverManager.getConnection(url);
                Statement s = c.createStatement()) {
            s.execute("SET statement_timeout = '10s'");
            s.execute(sql);
        }
    }

    @Test
    void fencedReadsAreNewAtOnceAndTheStopIsInOrder(@TempDir Path folder) throws Exception {
        try (NodeProcess demo = demo(folder, "--coherence", "fenced")) {
            String ready = demo.awaitReady(120);
            try (RespClient c = new RespClient(demo.respPort())) {
                await("fenced")
                        .atMost(Duration.ofSeconds(20))
                        .until(() -> String.valueOf(c.call("INFO", "coherence")).contains("mode:fenced"));
                for (int i = 0; i < 20; i++) {
                    assertThat(c.get("items:42")).contains("\"id\":42,");
                    update(ready, "UPDATE items SET name = 'round " + i + "' WHERE id = 42");
                    assertThat(c.get("items:42")).contains("\"name\":\"round " + i + "\"");
                }
            }
            assertThat(demo.stop(15)).as("exit code").isZero();
            assertThat(demo.output()).noneMatch(l -> l.contains("Exception"));
        }
        assertThat(Files.readString(folder.resolve("data/postgresql.auto.conf")))
                .doesNotContain("pgnear1");
    }

    @Test
    void afterAKillTheSameFolderServesAgainAndNoCommitWaits(@TempDir Path folder) throws Exception {
        try (NodeProcess killed = demo(folder, "--coherence", "fenced")) {
            killed.awaitReady(120);
            killed.kill();
        }
        try (NodeProcess again = demo(folder, "--node-name", "other")) {
            String ready = again.awaitReady(120);
            update(ready, "UPDATE items SET name = 'free' WHERE id = 1");
            try (RespClient c = new RespClient(again.respPort())) {
                await().atMost(Duration.ofSeconds(5))
                        .untilAsserted(() -> assertThat(c.get("items:1")).contains("\"name\":\"free\""));
            }
            try (NodeProcess second = demo(folder)) {
                assertThat(second.awaitExit(30))
                        .as("exit code of a second demo on the folder")
                        .isEqualTo(1);
                assertThat(second.output().getLast()).contains("Another demo is already running on");
            }
            assertThat(again.stop(15)).as("exit code").isZero();
        }
    }
}
