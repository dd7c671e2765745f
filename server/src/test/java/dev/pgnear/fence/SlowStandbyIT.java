package dev.pgnear.fence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgnear.RespClient;
import dev.pgnear.Server;
import dev.pgnear.TestNodes;
import dev.pgnear.TestPostgres;
import dev.pgnear.coherence.CoherenceStatus.Mode;
import dev.pgnear.coherence.Mutants;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A second synchronous standby is slow, so a writer still waits after this node has acknowledged; meanwhile its key is read 1000 times. Every one
 * of those reads may fill from a snapshot for which the transaction is still running (COHERENCE F01).
 */
class SlowStandbyIT {
    private static final int READS = 1000;

    private record Change(
            String name,
            String sql,
            @Nullable String before,
            @Nullable String after) {}

    private static final Change[] CHANGES = {
        new Change(
                "UPDATE",
                "UPDATE s SET v = 'new' WHERE id = 1",
                "{\"id\":1,\"v\":\"old\"}",
                "{\"id\":1,\"v\":\"new\"}"),
        new Change("DELETE", "DELETE FROM s WHERE id = 2", "{\"id\":2,\"v\":\"old\"}", null),
        new Change("INSERT of an absent key", "INSERT INTO s VALUES (3, 'new')", null, "{\"id\":3,\"v\":\"new\"}"),
    };

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void nothingStaleAfterCommitReturnsAndNothingStoredTooEarly(int major) throws Exception {
        try (TestPostgres pg = TestPostgres.start(major);
                TestNodes nodes = new TestNodes(pg);
                SlowStandby slow = prepare(pg, nodes, false)) {
            Server node = nodes.start("node", "fenced");
            nodes.require("node", "slow");
            nodes.awaitMode(Mode.FENCED);
            for (int i = 0; i < CHANGES.length; i++) {
                Outcome o = change(pg, node, slow, CHANGES[i], i + 1);
                assertThat(o.staleAfterCommit)
                        .as(CHANGES[i].name + ": stale reads after COMMIT returned")
                        .isZero();
                assertThat(o.hitsWhileWaiting)
                        .as(CHANGES[i].name + ": entries stored while the writer waited")
                        .isZero();
                assertThat(o.refused).as(CHANGES[i].name + ": fills refused").isGreaterThanOrEqualTo(READS);
            }
        }
    }

    /** The test above can fail: without the fence the entry filled too early outlives the COMMIT. */
    @Test
    void withRule3SwitchedOffTheSameReadsAreStale() throws Exception {
        try (TestPostgres pg = TestPostgres.start(18);
                TestNodes nodes = new TestNodes(pg);
                SlowStandby slow = prepare(pg, nodes, true)) {
            Server node = nodes.start("node", "fenced");
            nodes.require("node", "slow");
            nodes.awaitMode(Mode.FENCED);
            for (int i = 0; i < CHANGES.length; i++) {
                Outcome o = change(pg, node, slow, CHANGES[i], i + 1);
                assertThat(o.staleAfterCommit).as(CHANGES[i].name).isPositive();
                assertThat(o.hitsWhileWaiting).as(CHANGES[i].name).isPositive();
            }
        }
    }

    private static SlowStandby prepare(TestPostgres pg, TestNodes nodes, boolean withoutFence) throws Exception {
        pg.sql("CREATE TABLE s (id int PRIMARY KEY, v text)", "INSERT INTO s VALUES (1, 'old'), (2, 'old')");
        nodes.setup();
        nodes.attach("public.s");
        if (withoutFence) {
            nodes.coherence(Mutants::withoutFence);
        }
        return new SlowStandby(pg, "slow");
    }

    private record Outcome(int staleAfterCommit, long hitsWhileWaiting, long refused) {}

    private static Outcome change(TestPostgres pg, Server node, SlowStandby slow, Change change, int id)
            throws Exception {
        String key = "CRUD:postgres.public.s:{\"id\":" + id + "}";
        try (RespClient reader = new RespClient(node.respPort());
                RespClient late = new RespClient(node.respPort());
                Connection w = pg.connect();
                Statement s = w.createStatement()) {
            await("warm").atMost(Duration.ofSeconds(20)).until(() -> {
                long before = hits(reader);
                assertThat(reader.get(key)).isEqualTo(change.before);
                return hits(reader) > before;
            });
            slow.hold();
            CompletableFuture<Void> commit = CompletableFuture.runAsync(() -> {
                try {
                    s.execute(change.sql);
                } catch (java.sql.SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            await("the writer waits and this node has acknowledged")
                    .atMost(Duration.ofSeconds(10))
                    .until(
                            () -> "t"
                                    .equals(
                                            pg.query(
                                                    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')"
                                                            + " AND (SELECT bool_and(replay_lsn >= pg_current_wal_flush_lsn()) FROM pg_stat_replication WHERE application_name = 'node')")));
            long hitsBefore = hits(reader);
            long refusedBefore = TestNodes.counter(reader, "fills_refused");
            for (int i = 0; i < READS; i++) {
                assertThat(reader.get(key)).isEqualTo(change.before);
            }
            long hitsWhileWaiting = hits(reader) - hitsBefore;
            long refused = TestNodes.counter(reader, "fills_refused") - refusedBefore;
            assertThat(commit).isNotDone();
            slow.release();
            commit.get(20, TimeUnit.SECONDS);
            int stale = 0;
            for (int i = 0; i < 100; i++) {
                stale += Objects.equals(late.get(key), change.after) ? 0 : 1;
                stale += Objects.equals(reader.get(key), change.after) ? 0 : 1;
            }
            return new Outcome(stale, hitsWhileWaiting, refused);
        }
    }

    private static long hits(RespClient c) throws Exception {
        return TestNodes.counter(c, "cache_hits") + TestNodes.counter(c, "negative_hits");
    }
}
