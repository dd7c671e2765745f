package dev.pgnear.pg.catalog;

import dev.pgnear.base.Limits;
import dev.pgnear.base.Lsn;
import dev.pgnear.base.NanoClock;
import dev.pgnear.coherence.Sample;
import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.coherence.Snapshot;
import dev.pgnear.pg.wire.PgTarget;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the server a few times a second on a connection of its own and hands what it saw to the coherence rules: identity, snapshot, insert
 * position, and whether commits wait for this node. One statement a look, so that all of it belongs together.
 *
 * <p>A sample counts once the applied position has reached its insert position. On an idle server that may never happen by itself: an open
 * transaction's WAL is not flushed (F23), or the insert position names the start of the next page (F24). When a sample stays unpassed for
 * {@link Limits#BEAT_AFTER_MILLIS}, one small transactional message {@code beat} pushes the stream past it.
 *
 * <p>One virtual thread owns the connection and all state; {@link #close} may be called from any thread. A failure never ends it: it says so
 * once in the log, opens a new connection after a pause, and meanwhile no samples come, so that hits stop by the lease.
 */
public final class Sampler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Sampler.class);

    /** pg_walfile_name's first eight digits are the timeline, also right after a promotion (F25). A server in recovery has no insert position. */
    private static final String LOOK = """
            SELECT (SELECT system_identifier FROM pg_control_system()),
                   CASE WHEN pg_is_in_recovery() THEN NULL ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END,
                   (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,
                   pg_current_snapshot()::text,
                   CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_insert_lsn()::text END,
                   current_setting('synchronous_standby_names'),
                   pg_has_role('pg_read_all_stats', 'USAGE'),
                   EXISTS (SELECT 1 FROM local_cache.releases x WHERE x.node = ?),
                   (SELECT array_agg(ARRAY[coalesce(r.application_name, ''), coalesce(r.state, ''), coalesce(r.sync_state, '')]) FROM pg_stat_replication r)""";

    private static final String REGISTER = """
            INSERT INTO local_cache.leases AS l (node, max_staleness) VALUES (?, ? * interval '1 millisecond')
                ON CONFLICT (node) DO UPDATE SET max_staleness = excluded.max_staleness, registered_at = now()""";

    private final PgTarget target;
    private final String node;
    private final long maxStalenessMillis;
    private final NanoClock clock;
    private final long intervalNanos;
    private final LongSupplier appliedLsn;
    private final Consumer<Sample> consumer;
    private final Thread thread;
    private volatile boolean stopped;

    private @Nullable Connection connection;
    private boolean registered;
    private boolean healthy = true;
    private long retryMillis = Limits.RETRY_MIN_MILLIS;
    private long waitingForLsn;
    private long waitingSinceNanos;
    private long lastBeatNanos;

    /**
     * Starts sampling.
     *
     * @param node this node's name
     * @param maxStalenessMillis the lease of hits, which is registered before the first sample of each connection
     * @param intervalMillis between looks; {@link Limits#SAMPLE_INTERVAL_MILLIS} in the product, at most 1000
     * @param appliedLsn everything up to it was applied; 0 while there is no stream
     * @param consumer gets each sample on the sampler's thread; must not block
     */
    public Sampler(
            PgTarget target,
            String node,
            long maxStalenessMillis,
            NanoClock clock,
            long intervalMillis,
            LongSupplier appliedLsn,
            Consumer<Sample> consumer) {
        this.target = target;
        this.node = node;
        this.maxStalenessMillis = maxStalenessMillis;
        this.clock = clock;
        this.intervalNanos = TimeUnit.MILLISECONDS.toNanos(intervalMillis);
        this.appliedLsn = appliedLsn;
        this.consumer = consumer;
        this.lastBeatNanos = clock.nanos() - TimeUnit.MILLISECONDS.toNanos(Limits.BEAT_INTERVAL_MILLIS);
        this.thread = Thread.ofVirtual().name("sampler").start(this::run);
    }

    private void run() {
        while (!stopped) {
            long begun = clock.nanos();
            try {
                look();
                recovered();
                pause(intervalNanos - (clock.nanos() - begun));
            } catch (SQLException | RuntimeException e) {
                failed(e);
                pause(TimeUnit.MILLISECONDS.toNanos(retryMillis));
                retryMillis = Math.min(2 * retryMillis, Limits.RETRY_MAX_MILLIS);
            }
        }
        disconnect();
    }

    private void look() throws SQLException {
        Connection c = connect();
        long sent = clock.nanos();
        Sample sample;
        try (PreparedStatement s = c.prepareStatement(LOOK)) {
            s.setString(1, node);
            try (ResultSet r = s.executeQuery()) {
                r.next();
                sample = read(r, sent);
            }
        }
        if (!registered) {
            register(c);
            registered = true;
        }
        consumer.accept(sample);
        beatIfStuck(c, sample);
    }

    private Sample read(ResultSet r, long sent) throws SQLException {
        String timeline = r.getString(2);
        String lsn = r.getString(5);
        if (timeline == null || lsn == null) {
            throw new SQLException("the server is in recovery; rows are cached from a primary only");
        }
        ServerIdentity server = new ServerIdentity(r.getLong(1), Integer.parseInt(timeline, 16), r.getLong(3));
        String reason = Requirement.whyNot(node, text(r, 6), walsenders(r), r.getBoolean(7), r.getBoolean(8));
        return new Sample(
                sent, server, Snapshot.parse(text(r, 4)), Lsn.parse(lsn), reason == null, reason == null ? "" : reason);
    }

    private static List<Fence.Walsender> walsenders(ResultSet r) throws SQLException {
        List<Fence.Walsender> all = new ArrayList<>();
        if (r.getArray(9) != null && r.getArray(9).getArray() instanceof String[][] rows) {
            for (String[] w : rows) {
                all.add(new Fence.Walsender(w[0], w[1], w[2]));
            }
        }
        return all;
    }

    private void beatIfStuck(Connection c, Sample sample) throws SQLException {
        long applied = appliedLsn.getAsLong();
        if (Long.compareUnsigned(applied, waitingForLsn) >= 0 || applied == 0) {
            waitingForLsn = sample.insertLsn();
            waitingSinceNanos = sample.sentNanos();
            return;
        }
        long now = clock.nanos();
        if (now - waitingSinceNanos >= TimeUnit.MILLISECONDS.toNanos(Limits.BEAT_AFTER_MILLIS)
                && now - lastBeatNanos >= TimeUnit.MILLISECONDS.toNanos(Limits.BEAT_INTERVAL_MILLIS)) {
            lastBeatNanos = now;
            try (Statement s = c.createStatement()) {
                s.execute("SELECT pg_logical_emit_message(true, 'pgnear', 'beat')");
            }
        }
    }

    private Connection connect() throws SQLException {
        Connection c = connection;
        if (c == null) {
            c = ControlConnection.connect(
                    target,
                    node + " sampler",
                    ControlConnection.DO_NOT_WAIT,
                    Map.of("connectTimeout", "2", "loginTimeout", "4", "socketTimeout", "2", "prepareThreshold", "1"));
            connection = c;
            registered = false;
        }
        return c;
    }

    /** Whoever takes this node out of synchronous_standby_names waits for what it registered; so nothing is claimed before. */
    private void register(Connection c) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(REGISTER)) {
            s.setString(1, node);
            s.setLong(2, maxStalenessMillis);
            s.executeUpdate();
        }
    }

    private void disconnect() {
        Connection c = connection;
        connection = null;
        if (c != null) {
            try {
                c.close();
            } catch (SQLException e) {
                LOG.debug("closing the sampler's connection", e);
            }
        }
    }

    private void recovered() {
        retryMillis = Limits.RETRY_MIN_MILLIS;
        if (!healthy) {
            healthy = true;
            LOG.info("samples of {} are coming again", target);
        }
    }

    private void failed(Exception e) {
        disconnect();
        if (stopped) {
            return;
        }
        if (e instanceof RuntimeException) {
            LOG.error("a sample was not understood", e);
        } else if (healthy) {
            LOG.warn("no samples of {}: {}; no hits are served until they come again", target, e.getMessage());
        }
        healthy = false;
    }

    private void pause(long nanos) {
        if (nanos <= 0 || stopped) {
            return;
        }
        try {
            TimeUnit.NANOSECONDS.sleep(nanos);
        } catch (InterruptedException e) {
            stopped = true;
        }
    }

    private static String text(ResultSet r, int column) throws SQLException {
        return String.valueOf(r.getString(column));
    }

    /** Ends sampling; a look under way is broken off. Returns when the thread has ended. */
    @Override
    public void close() {
        stopped = true;
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
