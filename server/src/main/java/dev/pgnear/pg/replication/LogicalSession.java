package dev.pgnear.pg.replication;

import dev.pgnear.base.Limits;
import dev.pgnear.base.Lsn;
import dev.pgnear.base.NanoClock;
import dev.pgnear.coherence.CommittedTransaction;
import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.coherence.Snapshot;
import dev.pgnear.coherence.StreamApplier;
import dev.pgnear.pg.catalog.StreamTables;
import dev.pgnear.pg.replication.StreamStatus.State;
import dev.pgnear.pg.wire.PgException;
import dev.pgnear.pg.wire.PgTarget;
import dev.pgnear.pg.wire.TlsClient;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One life of a logical stream, from the connection to its loss: the start sequence of docs/COHERENCE.md, "Cold start and reconnect", and then
 * decoding, applying, acknowledging. The applier was told that the stream is down before.
 *
 * <p>Never do two walsenders carry the node's name because of us: the stand-in begins only when nobody has it, the stream takes it only when
 * the stand-in has gone (F16, F18).
 */
final class LogicalSession implements AutoCloseable {
    private static final int OLDEST_VERSION = 140000;
    private static final int FIRST_WITH_TRANSACTION_TIMEOUT = 170000;
    private static final Duration NO_TIMEOUT = Duration.ZERO;
    private static final long LOOK_AGAIN_MILLIS = 10;

    /** What a session needs of its stream. */
    interface Owner {
        /**
         * @param waitsFor what keeps the state from being left, one sentence, or empty
         */
        void state(State state, String waitsFor);
    }

    private record Slot(String name, long consistentPoint, ServerIdentity server, Snapshot snapshot) {}

    private final PgTarget target;
    private final TlsClient tls;
    private final StreamOptions options;
    private final StreamTables tables;
    private final StreamApplier applier;
    private final NanoClock clock;
    private final StreamCounters counters;
    private final Owner owner;
    private final String slotName;
    private final WalConnection connection;
    private final WalConnection standInConnection;
    private final CountDownLatch closing = new CountDownLatch(1);
    private int version;
    private Duration statusInterval;
    private volatile @Nullable StandIn standIn;
    private volatile @Nullable WalLink link;
    private volatile boolean creatingSlot;

    LogicalSession(
            PgTarget target,
            TlsClient tls,
            StreamOptions options,
            StreamTables tables,
            StreamApplier applier,
            NanoClock clock,
            StreamCounters counters,
            Owner owner,
            String slotName) {
        this.target = target;
        this.tls = tls;
        this.options = options;
        this.tables = tables;
        this.applier = applier;
        this.clock = clock;
        this.counters = counters;
        this.owner = owner;
        this.slotName = slotName;
        this.statusInterval = options.statusInterval();
        this.connection = new WalConnection(target, tls, options.connectTimeout(), clock);
        this.standInConnection = new WalConnection(target, tls, options.connectTimeout(), clock);
    }

    /**
     * Starts, streams.
     *
     * @param leftBehind process ids of walsenders of earlier sessions, which may not have noticed yet that their client is gone
     * @throws IOException always, in the end
     */
    void run(Set<Integer> leftBehind) throws IOException {
        try {
            startAndStream(leftBehind);
        } catch (IOException e) {
            StandIn s = standIn;
            IOException cause = s == null ? null : s.failure();
            throw cause == null ? e : cause;
        }
    }

    private void startAndStream(Set<Integer> leftBehind) throws IOException {
        connection.open(options.startingName());
        checkServer();
        endLeftBehind(leftBehind);
        Slot slot;
        long caughtUp;
        if (options.standIn()) {
            waitUntilNameIsFree(State.CONNECTING);
            startStandIn();
            slot = createSlot();
            caughtUp = endStandIn();
            waitUntilNameIsFree(State.TAKING_NAME);
        } else {
            slot = createSlot();
            caughtUp = slot.consistentPoint();
        }
        stream(slot, caughtUp);
    }

    // ---- before

    private void checkServer() throws IOException {
        @Nullable
        String[] r = connection
                .query(
                        "SELECT current_setting('server_version_num'), current_setting('wal_level'), pg_is_in_recovery(),"
                                + " (SELECT setting FROM pg_settings WHERE name = 'wal_sender_timeout'),"
                                + " EXISTS (SELECT FROM pg_publication WHERE pubname = "
                                + literal(options.publication())
                                + ")")
                .get(0);
        version = Integer.parseInt(Objects.requireNonNull(r[0]));
        refuse(
                version < OLDEST_VERSION,
                "PostgreSQL at " + target.authority() + " has version " + version / 10000
                        + ": pgnear needs 14 or later.");
        refuse(
                "t".equals(r[2]),
                "PostgreSQL at " + target.authority() + " is a standby in recovery: connect pgnear to the primary.");
        refuse(
                !"logical".equals(r[1]),
                "PostgreSQL at " + target.authority() + " has wal_level = " + r[1]
                        + ": set wal_level = logical and restart it.");
        refuse(
                "f".equals(r[4]),
                "Database \"" + target.database() + "\" has no publication \"" + options.publication()
                        + "\": run pgnear setup.");
        liveWithTimeouts(Long.parseLong(Objects.requireNonNull(r[3])));
    }

    private static void refuse(boolean condition, String sentence) throws StreamRefusedException {
        if (condition) {
            throw new StreamRefusedException(sentence);
        }
    }

    /**
     * Switches off what newer versions can end a session by, and reports often enough for the server's patience.
     *
     * @param walSenderTimeoutMillis 0 for none
     */
    private void liveWithTimeouts(long walSenderTimeoutMillis) throws IOException {
        connection.query("SET idle_session_timeout = 0");
        if (version >= FIRST_WITH_TRANSACTION_TIMEOUT) {
            connection.query("SET transaction_timeout = 0");
        }
        Duration often = Duration.ofMillis(walSenderTimeoutMillis / 4);
        if (walSenderTimeoutMillis > 0 && often.compareTo(statusInterval) < 0) {
            statusInterval = often;
        }
    }

    /** A walsender whose client is gone without a word keeps the name (and a slot) until wal_sender_timeout. */
    private void endLeftBehind(Set<Integer> leftBehind) throws IOException {
        if (leftBehind.isEmpty()) {
            return;
        }
        String pids = leftBehind.stream().map(String::valueOf).collect(Collectors.joining(","));
        try {
            connection.query("SELECT pg_terminate_backend(pid) FROM pg_stat_replication WHERE pid IN (" + pids
                    + ") AND application_name IN (" + literal(options.node()) + ","
                    + literal(options.startingName()) + ")");
        } catch (PgException e) {
            // it may be another role's by now; then it ends by itself
        }
        leftBehind.clear();
    }

    private void waitUntilNameIsFree(State state) throws IOException {
        owner.state(state, "");
        while (true) {
            List<@Nullable String[]> others = connection.query(
                    "SELECT pid FROM pg_stat_replication WHERE application_name = " + literal(options.node()));
            if (others.isEmpty()) {
                return;
            }
            owner.state(
                    state,
                    "Another walsender (process " + others.get(0)[0] + ") has the name \"" + options.node()
                            + "\": it must end first, and no two nodes may share a name.");
            pause();
        }
    }

    private void pause() throws IOException {
        try {
            if (closing.await(LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS)) {
                throw new IOException("closed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    // ---- stand-in

    private void startStandIn() throws IOException {
        owner.state(State.STANDING_IN, "");
        standInConnection.open(options.node());
        standIn = new StandIn(
                standInConnection,
                options,
                statusInterval,
                clock,
                counters,
                Thread.currentThread().getName() + "-stand-in",
                this::interruptSlot);
        if (closing.getCount() == 0) {
            close();
        }
    }

    /** Nobody acknowledges any more: the transactions that the slot waits for may wait for us. */
    private void interruptSlot() {
        if (creatingSlot) {
            connection.cancel();
        }
        connection.abort();
    }

    private long endStandIn() throws IOException {
        StandIn s = Objects.requireNonNull(standIn);
        long highest = s.stop();
        if (s.failure() != null) {
            throw new IOException("the stand-in ended before the slot was made");
        }
        return highest;
    }

    // ---- slot

    private Slot createSlot() throws IOException {
        owner.state(
                State.CREATING_SLOT,
                "The stream waits for the transactions that are writing now to end; it starts when they have.");
        connection.query("BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ");
        Slot slot = identify(createSlotNow());
        connection.query("COMMIT");
        return slot;
    }

    /** Its consistent point. */
    private long createSlotNow() throws IOException {
        String option = version >= 150000 ? "(SNAPSHOT 'use')" : "USE_SNAPSHOT";
        creatingSlot = true;
        try {
            @Nullable
            String[] created = connection
                    .query(
                            "CREATE_REPLICATION_SLOT \"" + slotName + "\" TEMPORARY LOGICAL pgoutput " + option,
                            NO_TIMEOUT)
                    .get(0);
            return Lsn.parse(Objects.requireNonNull(created[1]));
        } finally {
            creatingSlot = false;
        }
    }

    /** The first query of the transaction shows the slot's own snapshot (F14). */
    private Slot identify(long point) throws IOException {
        @Nullable
        String[] r = connection
                .query("SELECT pg_current_snapshot()::text, (pg_control_system()).system_identifier,"
                        + " substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8),"
                        + " (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint")
                .get(0);
        ServerIdentity server = new ServerIdentity(
                Long.parseLong(Objects.requireNonNull(r[1])),
                Integer.parseInt(Objects.requireNonNull(r[2]), 16),
                Long.parseLong(Objects.requireNonNull(r[3])));
        return new Slot(slotName, point, server, Snapshot.parse(Objects.requireNonNull(r[0])));
    }

    // ---- stream

    private void stream(Slot slot, long caughtUp) throws IOException {
        connection.query("SET application_name = " + literal(options.node()));
        connection.startCopyBoth("START_REPLICATION SLOT \"" + slot.name() + "\" LOGICAL "
                + Lsn.format(slot.consistentPoint())
                + " (proto_version '2', publication_names " + literal("\"" + options.publication() + "\"")
                + ", binary 'true', messages 'true', streaming 'on')");
        applier.slotReady(slot.server(), slot.snapshot(), slot.consistentPoint());
        applier.catchUpTo(caughtUp);
        WalLink l = new WalLink(connection, slot.consistentPoint(), options, statusInterval, clock, counters);
        link = l;
        owner.state(State.STREAMING, "");
        l.run(new Apply(l, slot.snapshot()), Thread.currentThread().getName() + "-heartbeat");
    }

    /** Decodes, applies, and only then moves the position. */
    private final class Apply implements WalLink.Messages, TransactionAssembler.Sink {
        private final WalLink link;
        private final TransactionAssembler transactions;
        private final PgOutputDecoder decoder;

        Apply(WalLink link, Snapshot start) {
            this.link = link;
            this.transactions = new TransactionAssembler(
                    tables, new XidEpoch(start.xmax()), Limits.DIRTY_KEYS_PER_TRANSACTION, this);
            this.decoder = new PgOutputDecoder(transactions);
        }

        @Override
        public void data(byte[] buffer, int from, int to, boolean cut, long walStart) throws IOException {
            decoder.decode(buffer, from, to, cut);
        }

        @Override
        public void keepalive(long walEnd) {
            long applied = transactions.applied(walEnd);
            applier.applied(applied);
            link.applied(applied);
        }

        @Override
        public boolean unfinished() {
            return transactions.isOpen();
        }

        @Override
        public void committed(CommittedTransaction t, long endLsn) {
            if (t.isEmpty()) {
                applier.applied(endLsn);
            } else {
                applier.apply(t, endLsn);
            }
            counters.applied(t);
            link.applied(endLsn);
        }
    }

    // ---- around

    long received() {
        WalLink l = link;
        return l == null ? 0 : l.received();
    }

    long reported() {
        WalLink l = link;
        return l == null ? 0 : l.reported();
    }

    /** Process ids of this session's walsenders. */
    Set<Integer> processIds() {
        Set<Integer> ids = new HashSet<>(Set.of(connection.processId()));
        ids.add(standInConnection.processId());
        ids.remove(0);
        return ids;
    }

    /** From any thread; {@link #run} ends soon. */
    @Override
    public void close() {
        closing.countDown();
        if (creatingSlot) {
            connection.cancel();
        }
        connection.close();
        StandIn s = standIn;
        if (s != null) {
            s.close();
        }
        standInConnection.close();
    }

    private static String literal(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
