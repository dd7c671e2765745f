package dev.pgnear.pg.backend;

import static dev.pgnear.pg.backend.TestPool.failure;
import static dev.pgnear.pg.backend.TestPool.int4;
import static dev.pgnear.pg.backend.TestPool.utf8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pgnear.TestPostgres;
import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.net.Transport;
import dev.pgnear.pg.backend.TestPool.Answer;
import dev.pgnear.pg.wire.PgException;
import dev.pgnear.pg.wire.PgTarget;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@ParameterizedClass
@ValueSource(ints = {15, 18})
class BackendPoolIT {
    @Parameter
    private int major;

    private static final Statement ECHO = new Statement("select ($1::int4)::text");
    private static final Statement T = new Statement("select v from t where id = $1");
    private static final Statement U = new Statement("select v from u where id = $1");

    private static TestPostgres pg;

    @BeforeParameterizedClassInvocation
    static void start(int major) {
        pg = TestPostgres.start(major);
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        pg.close();
    }

    @BeforeEach
    void tables() throws Exception {
        pg.sql(
                "drop table if exists t, u",
                "create table t (id int primary key, v text)",
                "insert into t select i, 't' || i from generate_series(1, 1000) i",
                "create table u (id int primary key, v text)",
                "insert into u select i, 'u' || i from generate_series(1, 1000) i");
    }

    @ParameterizedTest
    @EnumSource
    void answersOverEachTransport(Transport transport) {
        assumeTrue(transport.unavailable() == null, transport.text());
        try (TestPool p =
                new TestPool(PgTarget.parse(pg.url()), transport, BackendSettings.named("over " + transport.text()))) {
            assertThat(p.text(new Statement("show server_version"))).startsWith(Integer.toString(major));
            assertThat(p.text(T, int4(7))).isEqualTo("t7");
            assertThat(p.text(new Statement("select $1 || repeat('x', 100000)", 25), utf8("ä")))
                    .isEqualTo("ä" + "x".repeat(100000));
            assertThat(p.text(new Statement("select $1::text"), (byte[]) null)).isEqualTo("NULL");
            assertThat(p.text(new Statement("show application_name"))).isEqualTo("over " + transport.text());
        }
    }

    @Test
    void saysWhichServerAnswered() throws Exception {
        try (TestPool p = new TestPool(pg.url())) {
            ServerIdentity server = p.ask(ECHO, int4(1)).join().server();
            assertThat(Long.toUnsignedString(server.systemId()))
                    .isEqualTo(pg.query("select system_identifier from pg_control_system()"));
            assertThat(server.timeline()).isEqualTo(1);
            assertThat(Long.toString(server.postmasterStartMicros()))
                    .isEqualTo(pg.query("select (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint"));
        }
    }

    @Test
    void setsOnlyWhatItMust() throws Exception {
        pg.sql(
                "alter role postgres set datestyle = 'German'",
                "alter role postgres set default_transaction_isolation = 'serializable'");
        try (TestPool p = new TestPool(pg.url())) {
            assertThat(p.text(new Statement("show datestyle"))).startsWith("German");
            assertThat(p.text(new Statement("show transaction_isolation"))).isEqualTo("read committed");
            assertThat(p.text(new Statement("show statement_timeout"))).isEqualTo("2s");
            assertThat(p.text(new Statement("show lock_timeout"))).isEqualTo("250ms");
            assertThat(p.text(new Statement("show client_encoding"))).isEqualTo("UTF8");
        } finally {
            pg.sql("alter role postgres reset all");
        }
    }

    @Test
    void renewedConnectionsHaveTheSettingsOfNow() throws Exception {
        Statement sleep = new Statement("select pg_sleep(0.5)::text || current_setting('bytea_output')");
        Statement show = new Statement("show bytea_output");
        try (TestPool p = new TestPool(pg.url())) {
            assertThat(p.text(show)).isEqualTo("hex");
            pg.sql("alter role postgres set bytea_output = 'escape'");
            CompletableFuture<Answer> old = p.ask(sleep);
            assertThat(p.renew()).isTrue();
            assertThat(p.text(show)).isEqualTo("escape");
            assertThat(old.get(10, TimeUnit.SECONDS).rows()).containsExactly("hex");
            await().untilAsserted(() -> assertThat(
                            pg.query("select count(*) from pg_stat_activity where application_name = 'pgnear-test'"))
                    .isEqualTo("1"));
            assertThat(p.connections()).isEqualTo(1);
            assertThat(p.stats.lostConnections.sum()).isZero();
        } finally {
            pg.sql("alter role postgres reset all");
        }
    }

    @Test
    void answersAThousandPipelinedQueriesInOrder() throws Exception {
        try (TestPool p = new TestPool(pg.url())) {
            p.text(ECHO, int4(0));
            List<Integer> order = new ArrayList<>();
            List<CompletableFuture<Answer>> answers = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                int n = i;
                CompletableFuture<Answer> answer = p.ask(10_000, ECHO, int4(i));
                answer.thenRun(() -> order.add(n));
                answers.add(answer);
            }
            for (int i = 0; i < 1000; i++) {
                assertThat(answers.get(i).get(15, TimeUnit.SECONDS).rows()).containsExactly(Integer.toString(i));
            }
            if (p.stats.resent.sum() == 0) {
                assertThat(order).isSorted();
            }
        }
    }

    @Test
    void anErrorInThePipelineIsTheErrorOfOneQuery() throws Exception {
        Statement divide = new Statement("select (10 / $1::int4)::text");
        try (TestPool p = new TestPool(pg.url())) {
            List<CompletableFuture<Answer>> answers = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                answers.add(p.ask(divide, int4(i - 2)));
            }
            assertThat(failure(answers.get(2)))
                    .isInstanceOfSatisfying(
                            PgException.class, e -> assertThat(e.sqlState()).isEqualTo("22012"));
            assertThat(answers.get(0).join().rows()).containsExactly("-5");
            assertThat(answers.get(4).join().rows()).containsExactly("5");
            assertThat(p.stats.failures.sum()).isEqualTo(1);
            assertThat(p.stats.lostConnections.sum()).isZero();
        }
    }

    @Test
    void whoeverIsBehindAFailedPrepareGetsItsErrorToo() throws Exception {
        Statement wrong = new Statement("select v from no_such_table where id = $1");
        try (TestPool p = new TestPool(pg.url())) {
            List<CompletableFuture<Answer>> answers = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                answers.add(p.ask(wrong, int4(i)));
            }
            for (CompletableFuture<Answer> a : answers) {
                assertThat(failure(a)).hasMessageContaining("relation \"no_such_table\" does not exist");
            }
            pg.sql("create table no_such_table (id int, v text)", "insert into no_such_table values (1, 'now')");
            assertThat(p.text(wrong, int4(1))).isEqualTo("now");
            pg.sql("drop table no_such_table");
        }
    }

    @Test
    void preparesAgainWhenTheTableChangedOrTheStatementIsGone() throws Exception {
        Statement star = new Statement("select * from c order by 1");
        pg.sql("drop table if exists c", "create table c (a text)", "insert into c values ('x')");
        try (TestPool p = new TestPool(pg.url())) {
            assertThat(p.text(star)).isEqualTo("x");
            pg.sql("alter table c add b int");
            assertThat(p.text(star)).isEqualTo("x");
            pg.sql("alter table c drop a", "alter table c alter b type text", "insert into c values ('y')");
            assertThat(p.ask(star).join().rows()).containsExactly("y", "NULL");
        }
        try (TestPool p = new TestPool(pg.url())) {
            assertThat(p.text(star)).isEqualTo("y");
            p.ask(new Statement("discard all")).join();
            assertThat(p.text(star)).isEqualTo("y");
            assertThat(p.stats.resent.sum()).isEqualTo(1);
            assertThat(p.stats.failures.sum()).isZero();
        }
    }

    @Test
    void keepsABoundedNumberOfPreparedStatements() throws Exception {
        Statement count = new Statement("select count(*)::text from pg_prepared_statements");
        try (TestPool p = new TestPool(pg.url())) {
            for (int i = 0; i < 300; i++) {
                assertThat(p.text(new Statement("select '" + i + "'"))).isEqualTo(Integer.toString(i));
            }
            assertThat(p.text(count)).isEqualTo("256");
        }
    }

    @Test
    void aLockedTableDelaysOnlyItsOwnReaders() throws Exception {
        try (TestPool p = new TestPool(pg.url());
                Connection locker = pg.connect()) {
            p.text(T, int4(1));
            p.text(U, int4(1));
            locker.setAutoCommit(false);
            locker.createStatement().execute("lock table t in access exclusive mode");
            List<CompletableFuture<Answer>> locked = new ArrayList<>();
            List<CompletableFuture<Answer>> others = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                locked.add(p.ask(3_000, T, int4(i + 1)));
                others.add(p.ask(3_000, U, int4(i + 1)));
                Thread.onSpinWait();
                others.get(i).get(5, TimeUnit.SECONDS);
            }
            for (int i = 0; i < 40; i++) {
                assertThat(others.get(i).join().rows()).containsExactly("u" + (i + 1));
                assertThat(others.get(i).join().nanos())
                        .as("reader %d of the other table", i)
                        .isLessThan(TimeUnit.MILLISECONDS.toNanos(200));
            }
            assertThat(p.connections()).isLessThanOrEqualTo(3);
            assertThat(failure(locked.get(0)))
                    .isInstanceOfSatisfying(
                            PgException.class, e -> assertThat(e.sqlState()).isEqualTo("55P03"));
            locker.rollback();
            assertThat(locked.get(39).get(5, TimeUnit.SECONDS).rows()).containsExactly("t40");
            assertThat(p.text(T, int4(2))).isEqualTo("t2");
        }
    }

    @Test
    void aDeadlineFailsTheQueryAndNoOther() throws Exception {
        Statement sleep = new Statement("select 'slept' from pg_sleep(0.5)");
        try (TestPool p = new TestPool(pg.url())) {
            p.text(ECHO, int4(0));
            long start = System.nanoTime();
            CompletableFuture<Answer> slow = p.ask(60, sleep);
            CompletableFuture<Answer> behind = p.ask(5_000, ECHO, int4(5));
            assertThat(failure(slow))
                    .isInstanceOfSatisfying(
                            BackendTimeout.class, e -> assertThat(e.sent()).isTrue());
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(400));
            assertThat(behind.get(5, TimeUnit.SECONDS).rows()).containsExactly("5");
            assertThat(behind.join().nanos()).isLessThan(TimeUnit.MILLISECONDS.toNanos(400));
            assertThat(p.stats.timeouts.sum()).isEqualTo(1);
        }
    }

    @Test
    void theServerEndsAStatementByItself() {
        try (TestPool p =
                new TestPool(PgTarget.parse(pg.url()), Transport.NIO, new BackendSettings("short", 100, 50))) {
            assertThat(failure(p.ask(5_000, new Statement("select '' from pg_sleep(3)"))))
                    .isInstanceOfSatisfying(
                            PgException.class, e -> assertThat(e.sqlState()).isEqualTo("57014"));
        }
    }

    @Test
    void findsTheServerAgainAfterACrashAndARestart() throws Exception {
        try (TestPool p = new TestPool(pg.url())) {
            ServerIdentity before = p.ask(ECHO, int4(1)).join().server();
            CompletableFuture<Answer> underWay = p.ask(5_000, new Statement("select '' from pg_sleep(1)"));
            await().until(() -> pg.query("select count(*) from pg_stat_activity where query like '%pg_sleep(1)%'"
                            + " and state = 'active' and pid <> pg_backend_pid()")
                    .equals("1"));
            pg.crash();
            assertThat(failure(underWay))
                    .isInstanceOfSatisfying(
                            BackendUnavailable.class, e -> assertThat(e.sent()).isTrue());
            await().atMost(Duration.ofSeconds(5)).untilAsserted(() -> {
                long start = System.nanoTime();
                assertThat(failure(p.ask(2_000, ECHO, int4(1))))
                        .isInstanceOf(BackendUnavailable.class)
                        .hasMessageContaining("127.0.0.1:" + pg.port());
                assertThat(System.nanoTime() - start).isLessThan(TimeUnit.MILLISECONDS.toNanos(100));
            });
            pg.restart();
            await().atMost(Duration.ofSeconds(5))
                    .until(() -> !p.ask(ECHO, int4(1)).isCompletedExceptionally()
                            && p.ask(ECHO, int4(1)).handle((a, e) -> e == null).get(5, TimeUnit.SECONDS));
            ServerIdentity after = p.ask(ECHO, int4(2)).join().server();
            assertThat(after.systemId()).isEqualTo(before.systemId());
            assertThat(after.postmasterStartMicros()).isGreaterThan(before.postmasterStartMicros());

            pg.stop();
            await().atMost(Duration.ofSeconds(5))
                    .until(() ->
                            p.ask(ECHO, int4(1)).handle((a, e) -> e != null).get(5, TimeUnit.SECONDS));
            pg.restart();
            await().atMost(Duration.ofSeconds(5))
                    .until(() ->
                            p.ask(ECHO, int4(1)).handle((a, e) -> e == null).get(5, TimeUnit.SECONDS));
        }
    }

    @Test
    void aTerminatedSessionIsReplaced() throws Exception {
        try (TestPool p = new TestPool(pg.url())) {
            p.text(ECHO, int4(1));
            CompletableFuture<Answer> underWay = p.ask(5_000, new Statement("select '' from pg_sleep(1)"));
            String kill = "select count(pg_terminate_backend(pid)) from pg_stat_activity"
                    + " where application_name = 'pgnear-test' and state = 'active'";
            await().until(() -> pg.query(kill).equals("1"));
            assertThat(failure(underWay))
                    .isInstanceOf(BackendUnavailable.class)
                    .hasMessageContaining("57P01")
                    .hasCauseInstanceOf(PgException.class);
            assertThat(p.text(ECHO, int4(3))).isEqualTo("3");
        }
    }

    @Test
    void aFrozenSessionIsPassedByAndReplaced() throws Exception {
        try (TestPool p = new TestPool(pg.url())) {
            long frozen = Long.parseLong(p.text(new Statement("select pg_backend_pid()::text")));
            TestPostgres.signal("STOP", frozen);
            try {
                CompletableFuture<Answer> hanging = p.ask(300, T, int4(1));
                assertThat(failure(hanging)).isInstanceOf(BackendTimeout.class);
                assertThat(p.text(ECHO, int4(1))).isEqualTo("1");
                assertThat(p.text(T, int4(1))).isEqualTo("t1");
                await().until(() -> p.stats.lostConnections.sum() == 1);
            } finally {
                TestPostgres.signal("CONT", frozen);
            }
        }
    }

    @Test
    void aWriteIsNeverSentTwice() throws Exception {
        Statement slow = new Statement("select pg_sleep(0.2)::text");
        Statement write = Statement.write("insert into u values ($1, 'new') returning v");
        try (TestPool p = new TestPool(pg.url())) {
            p.text(ECHO, int4(0));
            CompletableFuture<Answer> first = p.ask(slow);
            CompletableFuture<Answer> second = p.ask(write, int4(2000));
            CompletableFuture<Answer> third = p.ask(ECHO, int4(3));
            assertThat(third.join().nanos()).isLessThan(TimeUnit.MILLISECONDS.toNanos(180));
            assertThat(second.join().rows()).containsExactly("new");
            assertThat(second.join().nanos()).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(180));
            assertThat(first.join().rows()).hasSize(1);
            assertThat(p.stats.resent.sum()).isEqualTo(1);
        }
    }
}
