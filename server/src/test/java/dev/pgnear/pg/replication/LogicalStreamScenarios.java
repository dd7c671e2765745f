package dev.pgnear.pg.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgnear.TestPostgres;
import dev.pgnear.base.Lsn;
import dev.pgnear.pg.replication.StreamStatus.State;
import dev.pgnear.pg.wire.PgTarget;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What a logical stream does against a real server, for the versions that the subclasses name. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class LogicalStreamScenarios {
    private static final Duration LONG = Duration.ofSeconds(20);

    private final int major;
    private TestPostgres pg;
    private TestTables tables;
    private RecordingApplier applier;
    private LogicalStream stream;

    LogicalStreamScenarios(int major) {
        this.major = major;
    }

    @BeforeAll
    void startServer() {
        pg = TestPostgres.start(
                major, "logical_decoding_work_mem", "64kB", "max_replication_slots", "3", "synchronous_commit", "on");
    }

    @AfterAll
    void stopServer() {
        pg.close();
    }

    @BeforeEach
    void prepare() throws SQLException {
        pg.sql(
                "drop publication if exists pgnear",
                "drop table if exists t, u, child cascade",
                "create table t (k bigint primary key, v text)",
                "create table u (k bigint primary key, v text)",
                "insert into t select i, 'old' from generate_series(1, 10) i",
                "create publication pgnear for table t, u");
        tables = new TestTables();
        map("t");
        map("u");
        applier = new RecordingApplier();
    }

    @AfterEach
    void stop() throws SQLException {
        applier.gate.countDown();
        if (stream != null) {
            stream.close();
        }
        names("");
    }

    private void map(String table) throws SQLException {
        tables.add(Integer.parseInt(pg.query("select '" + table + "'::regclass::oid")), table, "k");
    }

    private void names(String list) throws SQLException {
        pg.sql("alter system set synchronous_standby_names = '" + list + "'", "select pg_reload_conf()");
        await().atMost(LONG).until(() -> list.equals(pg.query("show synchronous_standby_names")));
    }

    private LogicalStream start(boolean standIn) {
        return start(pg.port(), StreamOptions.of("pgnear1", standIn));
    }

    private LogicalStream start(int port, StreamOptions options) {
        stream = open(port, options, "postgres");
        stream.start();
        streaming();
        return stream;
    }

    private LogicalStream open(int port, StreamOptions options, String user) {
        PgTarget target = new PgTarget("127.0.0.1", port, "postgres", user, null, PgTarget.SslMode.DISABLE, null);
        return new LogicalStream(target, options, tables, applier, System::nanoTime, new Random(port));
    }

    private void streaming() {
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(stream.status().state())
                        .as(() -> stream.status().toString())
                        .isEqualTo(State.STREAMING));
    }

    /** Waits until everything up to now is applied and acknowledged. */
    private void settle() throws SQLException {
        long now = Lsn.parse(pg.query("select pg_current_wal_flush_lsn()"));
        await().atMost(LONG)
                .until(() -> applier.appliedLsn >= now && stream.status().acknowledgedLsn() >= now);
    }

    private List<String> changesOf(String... statements) throws SQLException {
        applier.transactions.clear();
        pg.sql(statements);
        settle();
        return applier.changes();
    }

    private CompletableFuture<Void> inBackground(String... statements) {
        return CompletableFuture.runAsync(() -> {
            try {
                pg.sql(statements);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    // ---- changes

    @Test
    void rowChanges() throws SQLException {
        start(false);
        assertThat(changesOf("update t set v = 'new' where k = 1")).containsExactly("t[1]");
        assertThat(changesOf("insert into t values (11, 'x')")).containsExactly("t[11]");
        assertThat(changesOf("delete from t where k = 11")).containsExactly("t[11]");
        assertThat(changesOf("update t set k = 12 where k = 10")).containsExactly("t[10,12]");
        assertThat(changesOf("update t set v = 'z' where k in (1, 2, 3)")).containsExactly("t[1,2,3]");
        assertThat(changesOf("begin", "insert into u values (-1)", "delete from t where k = 1", "commit"))
                .containsExactly("t[1] u[-1]");
        assertThat(changesOf("begin", "update t set v = 'no' where k = 2", "rollback"))
                .isEmpty();
        assertThat(tables.unreadable).isEmpty();
    }

    @Test
    void xidIsTheTopLevelOneWith64Bits() throws SQLException {
        start(false);
        try (Connection c = pg.connect();
                Statement s = c.createStatement()) {
            c.setAutoCommit(false);
            var r = s.executeQuery("select pg_current_xact_id()::text::bigint");
            r.next();
            long xid = r.getLong(1);
            s.execute("savepoint a");
            s.execute("update t set v = 'sub' where k = 1");
            c.commit();
            settle();
            assertThat(applier.transactions)
                    .singleElement()
                    .satisfies(t -> assertThat(t.xid()).isEqualTo(xid));
        }
    }

    @Test
    void rolledBackPartsAreNoChanges() throws SQLException {
        start(false);
        assertThat(changesOf(
                        "begin",
                        "update t set v = 'a' where k = 1",
                        "savepoint s",
                        "update t set v = 'b' where k = 2",
                        "rollback to s",
                        "update t set v = 'c' where k = 3",
                        "commit"))
                .containsExactly("t[1,3]");
        assertThat(changesOf("do $$ begin update t set v = 'd' where k = 4;"
                        + " begin update t set v = 'e' where k = 5; perform 1/0; exception when others then null; end;"
                        + " end $$"))
                .containsExactly("t[4]");
    }

    @Test
    void preparedTransactionsCountWhenCommitted() throws SQLException {
        start(false);
        assertThat(changesOf("begin", "update t set v = 'p' where k = 1", "prepare transaction 'p1'"))
                .isEmpty();
        assertThat(changesOf("commit prepared 'p1'")).containsExactly("t[1]");
        assertThat(changesOf(
                        "begin",
                        "update t set v = 'q' where k = 1",
                        "prepare transaction 'p2'",
                        "rollback prepared 'p2'"))
                .isEmpty();
    }

    @Test
    void truncateIsAChangeOfTheWholeTable() throws SQLException {
        pg.sql(
                "create table child (k bigint primary key references t)",
                "insert into child values (1)",
                "alter publication pgnear add table child");
        map("child");
        start(false);
        assertThat(changesOf("truncate t cascade")).containsExactly("*child *t");
        assertThat(changesOf(
                        "begin", "insert into u values (1)", "truncate u, child", "insert into u values (1)", "commit"))
                .containsExactly("*child *u");
    }

    @Test
    void messagesArriveInsideTheirTransactionInOrder() throws SQLException {
        start(false);
        assertThat(changesOf("select pg_logical_emit_message(true, 'pgnear', 'mapping 7')"))
                .allMatch(String::isEmpty);
        assertThat(changesOf(
                        "begin",
                        "select pg_logical_emit_message(true, 'pgnear', 'ddl 0 X')",
                        "select pg_logical_emit_message(true, 'pgnear', 'invalidate all')",
                        "select pg_logical_emit_message(true, 'other', 'not ours')",
                        "commit",
                        "begin",
                        "select pg_logical_emit_message(true, 'pgnear', 'rolled back')",
                        "rollback",
                        "select pg_logical_emit_message(false, 'pgnear', 'not transactional')"))
                .containsExactly("*t *u");
        assertThat(tables.messages).containsExactly("mapping 7", "ddl 0 X", "invalidate all");
    }

    @Test
    void anOverlongMessageIsAChangeOfEverything() throws SQLException {
        start(false);
        assertThat(changesOf("select pg_logical_emit_message(true, 'pgnear', repeat('x', 5000))"))
                .containsExactly("everything");
    }

    @Test
    void identityThatDoesNotHoldTheKeyMakesTheTableUnreadable() throws SQLException {
        pg.sql(
                "alter table t add n int",
                "update t set n = k",
                "alter table t alter n set not null",
                "alter table t add unique (n)",
                "alter table t replica identity using index t_n_key");
        start(false);
        assertThat(changesOf("update t set k = 100 where k = 1")).containsExactly("*t");
        assertThat(tables.unreadable).containsExactly("t: key column k is not part of its replica identity");
        assertThat(changesOf("alter table t replica identity full", "update t set k = 101 where k = 100"))
                .containsExactly("t[100,101]");
    }

    @Test
    void toastedColumnLeftUnchanged() throws SQLException {
        start(false);
        pg.sql(
                "alter table t alter v set storage external",
                "insert into t values (20, repeat('x', 20000))",
                "alter table t add w int");
        settle();
        assertThat(changesOf("update t set w = 1 where k = 20")).containsExactly("t[20]");
        assertThat(changesOf("alter table t replica identity full", "update t set w = 2 where k = 20"))
                .containsExactly("t[20]");
    }

    // ---- large transactions

    @Test
    void streamedTransactionWithoutItsRolledBackParts() throws SQLException {
        start(false);
        String pad = ", repeat('x', 200) from generate_series";
        List<String> changes = changesOf(
                "begin",
                "insert into t select i" + pad + "(1001, 2000) i",
                "savepoint a",
                "insert into t select i" + pad + "(2001, 3000) i",
                "rollback to a",
                "insert into t select i" + pad + "(3001, 3500) i",
                "savepoint b",
                "insert into u select i" + pad + "(1, 3) i",
                "commit");
        String keys = LongStream.concat(LongStream.rangeClosed(1001, 2000), LongStream.rangeClosed(3001, 3500))
                .mapToObj(String::valueOf)
                .collect(Collectors.joining(","));
        assertThat(changes).containsExactly("t[" + keys + "] u[1,2,3]");
        await().atMost(LONG)
                .until(() -> Integer.parseInt(pg.query(
                                "select coalesce(sum(stream_count), 0)::int" + " from pg_stat_replication_slots"))
                        > 1);
    }

    @Test
    void streamedTransactionThatRollsBack() throws SQLException {
        start(false);
        assertThat(changesOf(
                        "begin",
                        "insert into t select i, repeat('x', 200) from generate_series(1001, 5000) i",
                        "rollback",
                        "update t set v = 'after' where k = 1"))
                .containsExactly("t[1]");
    }

    @Test
    void tooManyKeysCollapseToTheTable() throws SQLException {
        start(false);
        assertThat(changesOf(
                        "begin",
                        "insert into u values (1)",
                        "insert into t select i, 'x' from generate_series(1001, 11000) i",
                        "commit"))
                .containsExactly("*t *u");
        assertThat(stream.status().counters().collapsed()).isEqualTo(1);
    }

    @Test
    void aRowLongerThanIsLookedAtIsAChangeOfTheTable() throws SQLException {
        start(false);
        assertThat(changesOf("insert into t values (30, repeat('x', 17000000))"))
                .containsExactly("*t");
        assertThat(changesOf("update t set v = 'small' where k = 30")).containsExactly("t[30]");
    }

    // ---- positions

    @Test
    void positionMovesWhileAnotherDatabaseWrites() throws SQLException {
        start(false);
        pg.sql("drop database if exists other", "create database other");
        try (Connection c = pg.connect("postgres", "other");
                Statement s = c.createStatement()) {
            s.execute("create table x as select generate_series(1, 1000)");
            settle();
        }
        assertThat(applier.transactions).isEmpty();
        String node =
                pg.query("select flush_lsn = replay_lsn from pg_stat_replication where application_name = 'pgnear1'");
        assertThat(node).isEqualTo("t");
    }

    @Test
    void identityAndSnapshotAreThoseOfTheServer() throws SQLException {
        start(true);
        assertThat(applier.calls).startsWith("down", "slotReady", "catchUpTo");
        assertThat(applier.catchUpTo).isGreaterThanOrEqualTo(1);
        assertThat(applier.server.systemId())
                .isEqualTo(Long.parseLong(pg.query("select system_identifier from pg_control_system()")));
        assertThat(applier.server.timeline()).isEqualTo(1);
        assertThat(applier.server.postmasterStartMicros())
                .isEqualTo(Long.parseLong(
                        pg.query("select (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint")));
        assertThat(applier.snapshot.xmax()).isPositive();
    }

    // ---- fenced

    @Test
    void commitWaitsUntilApplyHasReturned() throws Exception {
        start(true);
        names("FIRST 1 (pgnear1)");
        pg.sql("update t set v = 'first' where k = 1");
        applier.transactions.clear();
        applier.gate = new CountDownLatch(1);
        CompletableFuture<Void> commit = inBackground("update t set v = 'second' where k = 2");
        await().atMost(LONG).until(() -> applier.changes().equals(List.of("t[2]")));
        await().during(Duration.ofMillis(1500)).atMost(LONG).until(() -> !commit.isDone());
        assertThat(pg.query("select v from t where k = 2")).isEqualTo("old");
        applier.gate.countDown();
        assertThat(commit).succeedsWithin(LONG);
    }

    @Test
    void aCommitElsewhereIsReleasedAtOnce() throws Exception {
        start(true);
        names("FIRST 1 (pgnear1)");
        pg.sql("create table if not exists unpublished (a int)", "insert into unpublished values (1)");
        long begin = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            pg.sql("insert into unpublished values (1)");
        }
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    void restartFreesACommitThatWaitsForTheNode() throws Exception {
        start(true);
        names("FIRST 1 (pgnear1)");
        stream.close();
        CompletableFuture<Void> commit = inBackground("update t set v = 'waiting' where k = 3");
        await().atMost(LONG)
                .until(() ->
                        "1".equals(pg.query("select count(*) from pg_stat_activity where wait_event = 'SyncRep'")));
        applier = new RecordingApplier();
        start(true);
        assertThat(commit).succeedsWithin(LONG);
        assertThat(applier.catchUpTo).isPositive();
        assertThat(pg.query("select count(*) from pg_stat_replication where application_name = 'pgnear1'"))
                .isEqualTo("1");
        assertThat(changesOf("update t set v = 'after' where k = 3")).containsExactly("t[3]");
    }

    // ---- losses

    @Test
    void killedWalsenderIsReplaced() throws SQLException {
        start(true);
        int downs = applier.downs.size();
        pg.sql("select pg_terminate_backend(pid) from pg_stat_replication where application_name = 'pgnear1'");
        await().atMost(LONG).until(() -> applier.downs.size() > downs);
        streaming();
        assertThat(stream.status().counters().reconnects()).isPositive();
        assertThat(changesOf("update t set v = 'after' where k = 3")).containsExactly("t[3]");
    }

    @Test
    void serverCrashIsSurvived() throws Exception {
        start(true);
        long started = applier.server.postmasterStartMicros();
        pg.crash();
        await().atMost(LONG).until(() -> stream.status().state() != State.STREAMING);
        await().atMost(LONG).until(() -> stream.status().error().contains("cannot be reached"));
        pg.restart();
        streaming();
        assertThat(applier.server.postmasterStartMicros()).isGreaterThan(started);
        assertThat(changesOf("update t set v = 'after' where k = 3")).containsExactly("t[3]");
    }

    @Test
    void linkCutWithoutFinIsFoundAndTheNameTakenBack() throws Exception {
        try (TcpProxy proxy = new TcpProxy(pg.port())) {
            start(
                    proxy.port(),
                    StreamOptions.of("pgnear1", true).withSilence(Duration.ofMillis(200), Duration.ofMillis(1000)));
            settle();
            int downs = applier.downs.size();
            proxy.cut();
            await().atMost(Duration.ofSeconds(3)).until(() -> applier.downs.size() > downs);
            assertThat(applier.downs.getLast()).contains("nothing came from PostgreSQL for 1000 ms");
            streaming();
            assertThat(pg.query("select count(*) from pg_stat_replication where application_name = 'pgnear1'"))
                    .isEqualTo("1");
            assertThat(changesOf("update t set v = 'after' where k = 3")).containsExactly("t[3]");
            stream.close();
        }
    }

    @Test
    void slowApplyIsNoReasonForTheServerToGiveUp() throws Exception {
        pg.sql("alter system set wal_sender_timeout = '1s'", "select pg_reload_conf()");
        try {
            start(true);
            settle();
            int downs = applier.downs.size();
            applier.gate = new CountDownLatch(1);
            pg.sql("update t set v = 'slow' where k = 3");
            await().during(Duration.ofSeconds(4)).atMost(LONG).until(() -> applier.downs.size() == downs);
            long held = stream.status().acknowledgedLsn();
            assertThat(held).isLessThan(Lsn.parse(pg.query("select pg_current_wal_flush_lsn()")));
            applier.gate.countDown();
            settle();
            assertThat(applier.downs).hasSize(downs);
        } finally {
            pg.sql("alter system reset wal_sender_timeout", "select pg_reload_conf()");
        }
    }

    @Test
    void droppedPublicationEndsTheStream() throws SQLException {
        start(true);
        int downs = applier.downs.size();
        pg.sql("drop publication pgnear", "update t set v = 'unseen' where k = 1");
        await().atMost(LONG).until(() -> applier.downs.size() > downs);
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(stream.status().error()).contains("run pgnear setup"));
        pg.sql("create publication pgnear for table t, u");
        streaming();
        assertThat(changesOf("update t set v = 'seen' where k = 1")).containsExactly("t[1]");
    }

    @Test
    void quietLinkIsNotLost() throws Exception {
        start(
                pg.port(),
                StreamOptions.of("pgnear1", true).withSilence(Duration.ofMillis(200), Duration.ofMillis(1000)));
        int downs = applier.downs.size();
        await().during(Duration.ofSeconds(3)).atMost(LONG).until(() -> applier.downs.size() == downs);
    }

    @Test
    void closeFreesTheSlotAtOnce() throws SQLException {
        start(true);
        stream.close();
        assertThat(stream.status().state()).isEqualTo(State.CLOSED);
        assertThat(applier.downs.getLast()).isEqualTo("the stream is closed");
        await().atMost(LONG).until(() -> "0".equals(pg.query("select count(*) from pg_replication_slots")));
    }

    @Test
    void closeWhileTheSlotWaitsForATransaction() throws SQLException {
        try (Connection c = pg.connect();
                Statement s = c.createStatement()) {
            c.setAutoCommit(false);
            s.execute("select pg_current_xact_id()");
            stream = open(pg.port(), StreamOptions.of("pgnear1", true), "postgres");
            stream.start();
            await().atMost(LONG).until(() -> stream.status().state() == State.CREATING_SLOT);
            await().atMost(LONG)
                    .until(() -> "1".equals(pg.query("select count(*) from pg_replication_slots where active")));
            assertThat(stream.status().error()).contains("waits for the transactions");
            stream.close();
            assertThat(stream.status().state()).isEqualTo(State.CLOSED);
            await().atMost(LONG).until(() -> "0".equals(pg.query("select count(*) from pg_replication_slots")));
        }
    }

    // ---- refusals

    private void refused(LogicalStream s, String... words) {
        stream = s;
        stream.start();
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(stream.status().error()).contains(words));
        assertThat(applier.downs.getLast()).isNotBlank();
    }

    @Test
    void passwordsAndTls() throws Exception {
        pg.sql(
                "set password_encryption = 'scram-sha-256'",
                "drop role if exists careful",
                "create role careful login replication password 'right'");
        pg.sql("grant pg_read_all_stats to careful");
        certificate();
        Path hba = pg.data().resolve("pg_hba.conf");
        String before = Files.readString(hba);
        Files.writeString(hba, "hostssl all careful 127.0.0.1/32 scram-sha-256\n" + before);
        pg.sql("alter system set ssl = on", "select pg_reload_conf()");
        try {
            await().atMost(LONG).until(() -> "on".equals(pg.query("show ssl")));
            stream = secured("wrong");
            refused(stream, "does not let user \"careful\" in", "check the password");
            stream.close();
            applier = new RecordingApplier();
            stream = secured("right");
            stream.start();
            streaming();
            assertThat(pg.query("select bool_and(ssl) from pg_stat_ssl join pg_stat_replication using (pid)"))
                    .isEqualTo("t");
            assertThat(changesOf("update t set v = 'seen' where k = 1")).containsExactly("t[1]");
        } finally {
            Files.writeString(hba, before);
            pg.sql("alter system reset ssl", "select pg_reload_conf()");
        }
    }

    private LogicalStream secured(String password) {
        PgTarget target =
                new PgTarget("127.0.0.1", pg.port(), "postgres", "careful", password, PgTarget.SslMode.REQUIRE, null);
        return new LogicalStream(
                target, StreamOptions.of("pgnear1", true), tables, applier, System::nanoTime, new Random(1));
    }

    /** A self-signed one, owned by whoever owns the data. */
    private void certificate() throws Exception {
        Path key = pg.data().resolve("server.key");
        Path crt = pg.data().resolve("server.crt");
        Process p = new ProcessBuilder(
                        "openssl",
                        "req",
                        "-x509",
                        "-newkey",
                        "rsa:2048",
                        "-nodes",
                        "-days",
                        "2",
                        "-subj",
                        "/CN=localhost",
                        "-keyout",
                        key.toString(),
                        "-out",
                        crt.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(p.waitFor()).isZero();
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        for (Path f : List.of(key, crt)) {
            Files.setOwner(f, Files.getOwner(pg.data().resolve("PG_VERSION")));
        }
    }

    @Test
    void refusalsSayWhatToDo() throws SQLException {
        StreamOptions options = StreamOptions.of("pgnear1", false);
        pg.sql("drop role if exists weak", "create role weak login");
        refused(open(pg.port(), options, "weak"), "may not replicate", "ALTER ROLE");
        stream.close();
        pg.sql("drop publication pgnear");
        refused(open(pg.port(), options, "postgres"), "no publication", "pgnear setup");
        pg.sql("create publication pgnear for table t, u");
        streaming();
        stream.close();
        for (int i = 0; i < 3; i++) {
            pg.sql("select pg_create_physical_replication_slot('taken" + i + "')");
        }
        try {
            refused(open(pg.port(), options, "postgres"), "No replication slot is free", "max_replication_slots");
        } finally {
            for (int i = 0; i < 3; i++) {
                pg.sql("select pg_drop_replication_slot('taken" + i + "')");
            }
        }
        streaming();
    }
}
