package dev.pgnear.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgnear.NodeProcess;
import dev.pgnear.RespClient;
import dev.pgnear.TestNodes;
import dev.pgnear.TestPostgres;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The node itself is killed or stopped. */
class NodeProcessIT {
    private static final String KEY = "CRUD:postgres.public.t:{\"id\":1}";

    private TestPostgres pg;
    private TestNodes nodes;

    @BeforeEach
    void start() throws Exception {
        pg = TestPostgres.start(18);
        nodes = new TestNodes(pg);
        pg.sql("CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 0)");
        nodes.setup();
        nodes.attach("public.t");
    }

    @AfterEach
    void end() throws Exception {
        nodes.close();
        pg.close();
    }

    private NodeProcess serve(String coherence) throws Exception {
        return new NodeProcess(
                "serve",
                "--postgres",
                pg.url(),
                "--node-name",
                "n",
                "--coherence",
                coherence,
                "--resp-port",
                "0",
                "--http-port",
                "0",
                "--memory-budget",
                "32MiB");
    }

    private void awaitRequired() {
        await("the node is required")
                .atMost(Duration.ofSeconds(20))
                .until(
                        () -> Objects.equals(
                                "sync",
                                pg.query(
                                        "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'n' AND state = 'streaming'")));
    }

    private CompletableFuture<Void> update(int v) {
        return CompletableFuture.runAsync(() -> {
            try (Connection c = pg.connect();
                    Statement s = c.createStatement()) {
                s.execute("UPDATE t SET v = " + v + " WHERE id = 1");
            } catch (java.sql.SQLException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static void awaitHit(RespClient c) {
        await("a hit").atMost(Duration.ofSeconds(20)).until(() -> {
            long before = TestNodes.counter(c, "cache_hits");
            c.call("GET", KEY);
            return TestNodes.counter(c, "cache_hits") > before;
        });
    }

    @Test
    void killedWhileFencedWritersWaitAndItsRestartFreesThem() throws Exception {
        CompletableFuture<Void> waiting;
        try (NodeProcess first = serve("fenced")) {
            int port = first.respPort();
            nodes.require("n");
            awaitRequired();
            try (RespClient c = new RespClient(port)) {
                awaitHit(c);
            }
            first.kill();
            waiting = update(1);
            await("the writer waits")
                    .atMost(Duration.ofSeconds(5))
                    .until(() -> "t"
                            .equals(pg.query(
                                    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')")));
        }
        try (NodeProcess second = serve("fenced")) {
            waiting.get(20, TimeUnit.SECONDS);
            try (RespClient c = new RespClient(second.respPort())) {
                for (int i = 0; i < 200; i++) {
                    assertThat(c.get(KEY)).isEqualTo("{\"id\":1,\"v\":1}");
                }
                awaitHit(c);
                update(2).get(10, TimeUnit.SECONDS);
                assertThat(c.get(KEY)).isEqualTo("{\"id\":1,\"v\":2}");
            }
            nodes.requireNobody();
            assertThat(second.stop(10)).as("exit code").isZero();
        }
    }

    @Test
    void stoppedForFiveSecondsServesNothingOldAfterwards() throws Exception {
        try (NodeProcess node = serve("tracked");
                RespClient c = new RespClient(node.respPort())) {
            awaitHit(c);
            for (int round = 1; round <= 3; round++) {
                TestPostgres.signal("STOP", node.pid());
                long stopped = System.nanoTime();
                try {
                    update(round).get(10, TimeUnit.SECONDS);
                    long wait = round == 1 ? 5000 : 1500;
                    await("stopped")
                            .atMost(Duration.ofSeconds(10))
                            .until(() -> System.nanoTime() - stopped > TimeUnit.MILLISECONDS.toNanos(wait));
                    c.send("GET", KEY);
                    c.flush();
                } finally {
                    TestPostgres.signal("CONT", node.pid());
                }
                assertThat(c.read()).as("round " + round).isEqualTo("{\"id\":1,\"v\":" + round + "}");
                awaitHit(c);
            }
        }
    }

    @Test
    void endsInTimeOnSigterm() throws Exception {
        try (NodeProcess node = serve("tracked")) {
            node.awaitReady(60);
            assertThat(node.stop(5)).as("exit code").isZero();
        }
    }

    @Test
    void wrongUsesAreOneSentenceAndAnExitCode() throws Exception {
        check(2, "--resp-prt", "serve", "--resp-prt", "1");
        check(2, "memory-budget", "serve", "--postgres", pg.url(), "--memory-budget", "lots");
        check(
                1,
                "Cannot connect to",
                "serve",
                "--postgres",
                "postgresql://postgres@127.0.0.1:1/postgres",
                "--resp-port",
                "0",
                "--http-port",
                "0");
        check(
                1,
                "setup",
                "serve",
                "--postgres",
                "postgresql://postgres@127.0.0.1:" + pg.port() + "/template1",
                "--resp-port",
                "0",
                "--http-port",
                "0");
    }

    private static void check(int exit, String part, String... words) throws Exception {
        try (NodeProcess p = new NodeProcess(words)) {
            assertThat(p.awaitExit(30)).as(String.join(" ", words)).isEqualTo(exit);
            String last = p.output().getLast();
            assertThat(last).startsWith("pgnear: ").contains(part).doesNotContain("Exception");
            assertThat(p.output().stream().filter(l -> l.startsWith("\tat "))).isEmpty();
        }
    }
}
