package dev.pgnear.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgnear.RespClient;
import dev.pgnear.Server;
import dev.pgnear.TestNodes;
import dev.pgnear.TestPostgres;
import dev.pgnear.coherence.CoherenceStatus.Mode;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Many writers and readers over two nodes. {@code -Dpgnear.torture.seconds=600} runs each case for ten minutes; {@code -Dpgnear.torture.seed}
 * repeats the choices (not the interleaving).
 */
class TortureIT {
    private static final int KEYS = 400;
    private static final int WRITERS = 8;
    private static final int READERS_PER_NODE = 4;

    @ParameterizedTest(name = "PostgreSQL {0}, {1}")
    @CsvSource({"15, fenced", "15, tracked", "18, fenced", "18, tracked"})
    void noIllegalAnswerUnderManyWritersAndReaders(int major, String mode) throws Exception {
        long seconds = Long.getLong("pgnear.torture.seconds", 60);
        long seed = Long.getLong("pgnear.torture.seed", System.nanoTime());
        boolean fenced = mode.equals("fenced");
        try (TestPostgres pg = TestPostgres.start(major);
                TestNodes nodes = new TestNodes(pg)) {
            pg.sql(
                    "CREATE TABLE torture (id bigint PRIMARY KEY, version bigint NOT NULL, doomed boolean NOT NULL, pad text)",
                    "CREATE TABLE versions (id int PRIMARY KEY, version bigint NOT NULL)",
                    "INSERT INTO versions SELECT i, 0 FROM generate_series(0, " + (KEYS - 1) + ") i");
            nodes.setup();
            nodes.attach("public.torture");
            Server a = nodes.start("a", mode);
            Server b = nodes.start("b", mode);
            if (fenced) {
                nodes.require("a", "b");
                nodes.awaitMode(Mode.FENCED);
            } else {
                nodes.awaitMode(Mode.TRACKED);
            }
            nodes.awaitCaching("CRUD:postgres.public.torture:{\"id\":0}");
            Auditor auditor = new Auditor(KEYS);
            AtomicBoolean stop = new AtomicBoolean();
            AtomicLong commits = new AtomicLong();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                threads.add(Thread.ofPlatform()
                        .name("writer-" + i)
                        .start(new Writer(pg, auditor, KEYS, seed + i, stop, commits, false)));
            }
            for (Server node : List.of(a, b)) {
                for (int i = 0; i < READERS_PER_NODE; i++) {
                    String name = "reader " + i + " on port " + node.respPort();
                    threads.add(Thread.ofPlatform()
                            .name(name)
                            .start(new Reader(
                                    name,
                                    node.respPort(),
                                    auditor,
                                    KEYS,
                                    fenced,
                                    TimeUnit.SECONDS.toNanos(1),
                                    seed + 100 + i,
                                    stop,
                                    false)));
                }
            }
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            while (System.nanoTime() < end && auditor.violations().isEmpty()) {
                Thread.sleep(50);
            }
            stop.set(true);
            for (Thread t : threads) {
                t.join(TimeUnit.SECONDS.toMillis(60));
                assertThat(t.isAlive()).as(t.getName() + " hangs").isFalse();
            }
            System.out.printf(
                    "torture PostgreSQL %d %s: %d s, %d commits, %d answers checked, %d violations (seed %d)%n",
                    major,
                    mode,
                    seconds,
                    commits.get(),
                    auditor.checked(),
                    auditor.violations().size(),
                    seed);
            assertThat(auditor.violations()).as("seed " + seed).isEmpty();
            assertThat(commits.get()).isGreaterThan(10 * seconds);
            assertThat(auditor.checked()).isGreaterThan(100 * seconds);
            for (Server node : List.of(a, b)) {
                everyKeyEqualsTheTable(pg, node);
            }
        }
    }

    private static void everyKeyEqualsTheTable(TestPostgres pg, Server node) throws Exception {
        Map<Integer, String> table = new HashMap<>();
        try (Connection c = pg.connect();
                Statement s = c.createStatement();
                ResultSet r = s.executeQuery("SELECT id, row_to_json(t)::text FROM torture t")) {
            while (r.next()) {
                table.put(r.getInt(1), r.getString(2));
            }
        }
        try (RespClient c = new RespClient(node.respPort())) {
            await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
                for (int k = 0; k < KEYS; k++) {
                    assertThat(c.get(Reader.key(k))).as("key " + k).isEqualTo(table.get(k));
                }
            });
            for (int k = 0; k < KEYS; k++) {
                assertThat(c.get(Reader.key(k))).as("key " + k + ", warm").isEqualTo(table.get(k));
            }
        }
    }
}
