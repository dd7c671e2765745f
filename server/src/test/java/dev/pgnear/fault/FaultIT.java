package dev.pgnear.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgnear.RespClient;
import dev.pgnear.Server;
import dev.pgnear.TcpProxy;
import dev.pgnear.TestNodes;
import dev.pgnear.TestPostgres;
import dev.pgnear.coherence.CoherenceStatus.Mode;
import dev.pgnear.torture.Auditor;
import dev.pgnear.torture.Reader;
import dev.pgnear.torture.Writer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each case: writers and readers run all the time, an auditor checks each answer; the fault comes, goes, and hits must be back in time. */
class FaultIT {
    private static final int KEYS = 100;
    private static final String KEY = Reader.key(0);

    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicLong commits = new AtomicLong();
    private final Auditor auditor = new Auditor(KEYS);
    private final List<Thread> threads = new ArrayList<>();
    private TestPostgres pg;
    private TestNodes nodes;

    @BeforeEach
    void start() throws Exception {
        pg = TestPostgres.start(18);
        nodes = new TestNodes(pg);
        pg.sql(
                "CREATE TABLE torture (id bigint PRIMARY KEY, version bigint NOT NULL, doomed boolean NOT NULL, pad text)",
                "CREATE TABLE versions (id int PRIMARY KEY, version bigint NOT NULL)",
                "INSERT INTO versions SELECT i, 0 FROM generate_series(0, " + (KEYS - 1) + ") i");
        nodes.setup();
        nodes.attach("public.torture");
    }

    @AfterEach
    void end() throws Exception {
        stop.set(true);
        try {
            nodes.close();
        } finally {
            pg.close();
        }
    }

    private void run(int respPort, boolean fenced) {
        for (int i = 0; i < 3; i++) {
            threads.add(Thread.ofPlatform().start(new Writer(pg, auditor, KEYS, i, stop, commits, true)));
        }
        for (int i = 0; i < 3; i++) {
            threads.add(Thread.ofPlatform()
                    .start(new Reader(
                            "reader " + i,
                            respPort,
                            auditor,
                            KEYS,
                            fenced,
                            TimeUnit.SECONDS.toNanos(1),
                            i,
                            stop,
                            true)));
        }
    }

    private void finish() throws InterruptedException {
        stop.set(true);
        for (Thread t : threads) {
            t.join(TimeUnit.SECONDS.toMillis(30));
            assertThat(t.isAlive()).as(t.getName() + " hangs").isFalse();
        }
        assertThat(auditor.violations()).isEmpty();
    }

    private static void awaitHits(Server node, Duration within) {
        await("hits are back, now " + node.status())
                .atMost(within)
                .until(() -> node.status().hitsAllowed());
        await("a key is hit again").atMost(within).until(() -> {
            try (RespClient c = new RespClient(node.respPort())) {
                long before = TestNodes.counter(c, "cache_hits");
                for (int i = 0; i < 50; i++) {
                    c.call("GET", KEY);
                }
                return TestNodes.counter(c, "cache_hits") > before;
            }
        });
    }

    private void awaitCommits(long more) {
        long from = commits.get();
        await(more + " commits").atMost(Duration.ofSeconds(20)).until(() -> commits.get() >= from + more);
    }

    private void terminateWalsenders(String name) throws SQLException {
        pg.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_replication WHERE application_name = '" + name + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fenced", "tracked"})
    void walsenderKilledAgainAndAgain(String mode) throws Exception {
        Server node = nodes.start("n", mode);
        fence(mode);
        run(node.respPort(), mode.equals("fenced"));
        for (int i = 0; i < 5; i++) {
            awaitCommits(20);
            terminateWalsenders("n");
            await("the loss was seen")
                    .atMost(Duration.ofSeconds(5))
                    .until(() -> !node.status().hitsAllowed() || node.streamReconnects() > 0);
            awaitHits(node, Duration.ofSeconds(5));
        }
        awaitCommits(20);
        finish();
    }

    @ParameterizedTest
    @ValueSource(strings = {"fenced", "tracked"})
    void postgresKilledAndStartedAgain(String mode) throws Exception {
        Server node = nodes.start("n", mode);
        fence(mode);
        run(node.respPort(), mode.equals("fenced"));
        for (int i = 0; i < 2; i++) {
            awaitCommits(20);
            pg.crash();
            await("hits stop")
                    .atMost(Duration.ofSeconds(2))
                    .until(() -> !node.status().hitsAllowed());
            pg.restart();
            awaitHits(node, Duration.ofSeconds(5));
        }
        awaitCommits(20);
        finish();
    }

    @ParameterizedTest
    @ValueSource(strings = {"fenced", "tracked"})
    void walsenderStoppedForFiveSeconds(String mode) throws Exception {
        Server node = nodes.start("n", mode);
        fence(mode);
        run(node.respPort(), mode.equals("fenced"));
        awaitCommits(20);
        long pid = Long.parseLong(pg.query("SELECT pid FROM pg_stat_replication WHERE application_name = 'n'"));
        long stopped = System.nanoTime();
        TestPostgres.signal("STOP", pid);
        try {
            await("hits stop while the stream is suspect")
                    .atMost(Duration.ofSeconds(3))
                    .until(() -> !node.status().hitsAllowed());
            await("five seconds")
                    .atMost(Duration.ofSeconds(6))
                    .until(() -> System.nanoTime() - stopped > TimeUnit.SECONDS.toNanos(5));
        } finally {
            TestPostgres.signal("CONT", pid);
        }
        awaitHits(node, Duration.ofSeconds(5));
        awaitCommits(20);
        finish();
    }

    @Test
    void linkCutWithoutFinAndHealed() throws Exception {
        try (TcpProxy link = new TcpProxy(pg.port())) {
            Server node = nodes.startAt("postgresql://postgres@127.0.0.1:" + link.port() + "/postgres", "n", "tracked");
            nodes.awaitMode(Mode.TRACKED);
            run(node.respPort(), false);
            for (int i = 0; i < 2; i++) {
                awaitCommits(50);
                awaitHits(node, Duration.ofSeconds(10));
                link.cut();
                await("hits stop while the stream is suspect")
                        .atMost(Duration.ofSeconds(2))
                        .until(() -> !node.status().hitsAllowed());
                awaitCommits(50);
                link.heal();
                // the old connections stay silent for ever: they have to be given up first
                awaitHits(node, Duration.ofSeconds(15));
            }
            finish();
        }
    }

    private void fence(String mode) throws SQLException {
        if (mode.equals("fenced")) {
            nodes.require("n");
            nodes.awaitMode(Mode.FENCED);
        } else {
            nodes.awaitMode(Mode.TRACKED);
        }
    }
}
