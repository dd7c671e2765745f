package dev.pgnear.pg.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgnear.TestPostgres;
import dev.pgnear.base.Lsn;
import dev.pgnear.coherence.Sample;
import dev.pgnear.pg.wire.PgTarget;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.PGProperty;
import org.postgresql.replication.LogSequenceNumber;
import org.postgresql.replication.PGReplicationStream;

@ParameterizedClass
@ValueSource(ints = {15, 18})
class SamplerIT {
    private static TestPostgres server;

    @Parameter
    int major;

    private CatalogDatabase db;
    private final List<Sample> samples = new CopyOnWriteArrayList<>();
    private final AtomicLong applied = new AtomicLong();

    @BeforeParameterizedClassInvocation
    static void start(int major) throws SQLException {
        server = TestPostgres.start(major);
        server.sql("create role node login replication");
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    @BeforeEach
    void create() throws SQLException {
        db = new CatalogDatabase(server);
        Setup.install(db.target(), "node");
    }

    @AfterEach
    void drop() throws SQLException {
        server.sql("alter system reset synchronous_standby_names", "select pg_reload_conf()");
        db.close();
    }

    private Sampler sampler(PgTarget target) {
        return new Sampler(target, "n1", 1500, System::nanoTime, 50, applied::get, samples::add);
    }

    private Sample next() {
        int had = samples.size();
        await().atMost(Duration.ofSeconds(15)).until(() -> samples.size() > had + 1);
        return samples.getLast();
    }

    /** A standby of this name that acknowledges everything, on a walsender of its own. */
    private AutoCloseable standby(String name) throws SQLException {
        String count = "select count(*) from pg_stat_replication where application_name = '" + name + "'";
        String before = Objects.requireNonNull(db.query(count));
        Properties p = new Properties();
        p.setProperty("user", "postgres");
        PGProperty.REPLICATION.set(p, "database");
        PGProperty.PREFER_QUERY_MODE.set(p, "simple");
        PGProperty.ASSUME_MIN_SERVER_VERSION.set(p, "14");
        PGProperty.APPLICATION_NAME.set(p, name);
        Connection c = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + server.port() + "/" + db.name, p);
        LogSequenceNumber from =
                LogSequenceNumber.valueOf(Objects.requireNonNull(db.query("select pg_current_wal_flush_lsn()")));
        PGReplicationStream stream = c.unwrap(PGConnection.class)
                .getReplicationAPI()
                .replicationStream()
                .physical()
                .withStartPosition(from)
                .withStatusInterval(100, java.util.concurrent.TimeUnit.MILLISECONDS)
                .start();
        // A standby that has never named a flushed position counts as asynchronous.
        stream.setFlushedLSN(from);
        stream.setAppliedLSN(from);
        Thread reader = Thread.ofVirtual().start(() -> {
            try {
                while (true) {
                    ByteBuffer ignored = stream.read();
                    stream.setFlushedLSN(stream.getLastReceiveLSN());
                    stream.setAppliedLSN(stream.getLastReceiveLSN());
                }
            } catch (SQLException e) {
                // the connection was closed
            }
        });
        return () -> {
            c.unwrap(org.postgresql.jdbc.PgConnection.class).abort(Runnable::run);
            reader.join();
            await().until(() -> before.equals(db.query(count)));
        };
    }

    private void standbys(String value) throws SQLException {
        server.sql("alter system set synchronous_standby_names = '" + value + "'", "select pg_reload_conf()");
    }

    private void awaitReason(String part) {
        await().atMost(Duration.ofSeconds(15))
                .untilAsserted(() -> assertThat(next().reason()).contains(part));
        assertThat(samples.getLast().required()).isFalse();
    }

    private void awaitRequired() {
        await().atMost(Duration.ofSeconds(15))
                .untilAsserted(() -> assertThat(next().reason()).isEmpty());
        assertThat(samples.getLast().required()).isTrue();
    }

    @Test
    void showsIdentitySnapshotAndPosition() throws Exception {
        try (Sampler sampler = sampler(db.target("node"));
                Connection writer = server.connect("postgres", db.name)) {
            long before = System.nanoTime();
            Sample s = next();
            assertThat(s.server().systemId())
                    .isEqualTo(Long.parseLong(db.query("select system_identifier from pg_control_system()")));
            assertThat(s.server().timeline()).isEqualTo(1);
            assertThat(s.server().postmasterStartMicros())
                    .isEqualTo(Long.parseLong(
                            db.query("select (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint")));
            assertThat(s.sentNanos()).isGreaterThan(before);
            writer.setAutoCommit(false);
            long xid;
            try (Statement w = writer.createStatement();
                    var r = w.executeQuery("select pg_current_xact_id()")) {
                r.next();
                xid = r.getLong(1);
            }
            long lsn = Lsn.parse(db.query("select pg_current_wal_insert_lsn()"));
            assertThat(next().snapshot().sees(xid)).isFalse();
            assertThat(samples.getLast().insertLsn()).isGreaterThanOrEqualTo(lsn);
            writer.commit();
            assertThat(next().snapshot().sees(xid)).isTrue();
            assertThat(samples.getLast().required()).isFalse();
            assertThat(samples.getLast().reason()).isEqualTo("synchronous_standby_names is empty");
        }
        int count = samples.size();
        await().until(() ->
                "0".equals(db.query("select count(*) from pg_stat_activity where application_name = 'n1 sampler'")));
        assertThat(samples).hasSize(count);
    }

    @Test
    void fencedOnlyIfRequiredAndVisible() throws Exception {
        try (Sampler sampler = sampler(db.target("node"))) {
            awaitReason("is empty");
            try (AutoCloseable n1 = standby("n1")) {
                standbys("FIRST 1 (n1)");
                awaitReason("GRANT pg_monitor");
                server.sql("set synchronous_commit = local", "grant pg_monitor to node");
                awaitRequired();
                standbys("FIRST 1 (n1, n2)");
                awaitReason("waits for 1 of 2 names");
                standbys("*");
                awaitReason("contains *");
                standbys("n2");
                awaitReason("does not list n1");
                standbys("ANY 1 (\"N1\")");
                awaitRequired();
                try (AutoCloseable twin = standby("n1")) {
                    awaitReason("2 walsenders call themselves");
                }
                awaitRequired();
                try (Connection c = ControlConnection.openLocal(db.target(), "test")) {
                    assertThat(new Fence(c).lease("N1")).contains(Duration.ofMillis(1500));
                    assertThat(new Fence(c).lease("n2")).isEmpty();
                    new Fence(c).announce("n1");
                    awaitReason("release is announced");
                    assertThat(new Fence(c).leave("n1")).isEqualTo(SynchronousStandbys.NONE);
                    assertThat(new Fence(c).join("n1")).hasToString("FIRST 1 (\"n1\")");
                    awaitRequired();
                }
            }
            awaitReason("not connected");
            try (Connection c = ControlConnection.openLocal(db.target(), "test")) {
                new Fence(c).leave("n1");
            }
            awaitReason("is empty");
        } finally {
            server.sql("set synchronous_commit = local", "revoke pg_monitor from node");
        }
    }

    @Test
    void beatsOnlyWhenASampleIsNotPassed() throws Exception {
        db.listen();
        applied.set(-1L);
        try (Sampler sampler = sampler(db.target("node"))) {
            next();
            next();
            assertThat(db.messages()).isEmpty();
            applied.set(1);
            await().atMost(Duration.ofSeconds(15)).until(() -> db.messages().contains("beat"));
            applied.set(0);
            next();
            db.messages();
            next();
            next();
            assertThat(db.messages()).isEmpty();
        }
    }

    @Test
    void comesBackAfterTheServerDoes() throws Exception {
        try (TestPostgres own = TestPostgres.start(major)) {
            PgTarget target = PgTarget.parse(own.url());
            Setup.install(target, null);
            try (Sampler sampler = sampler(target)) {
                Sample first = next();
                own.crash();
                own.restart();
                await().atMost(Duration.ofSeconds(10))
                        .until(() -> !samples.getLast().server().equals(first.server()));
                Sample later = next();
                assertThat(later.server().systemId()).isEqualTo(first.server().systemId());
                assertThat(later.server().postmasterStartMicros())
                        .isGreaterThan(first.server().postmasterStartMicros());
            }
        }
    }
}
