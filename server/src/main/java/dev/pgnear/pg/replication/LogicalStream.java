package dev.pgnear.pg.replication;

import dev.pgnear.base.Check;
import dev.pgnear.base.NanoClock;
import dev.pgnear.coherence.StreamApplier;
import dev.pgnear.pg.catalog.StreamTables;
import dev.pgnear.pg.replication.StreamStatus.State;
import dev.pgnear.pg.wire.PgTarget;
import dev.pgnear.pg.wire.TlsClient;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stream of one database by logical decoding: our own replication client, a temporary slot, pgoutput.
 *
 * <pre>
 *   NEW -- start() --> CONNECTING --> STANDING_IN --> CREATING_SLOT --> TAKING_NAME --> STREAMING
 *                        ^    \            \               \               /              /
 *                        |     +------------+---------------+-------------+--------------+
 *                        |                  any loss or refusal: applier.down(reason)
 *                        +---- BACKING_OFF <---------+                         close(): CLOSED, from every state
 * </pre>
 *
 * <p>Without a stand-in the way leads from CONNECTING to CREATING_SLOT and straight to STREAMING. One thread does it all and makes all calls of
 * the applier and the tables; small threads beside it repeat the status and watch for silence ({@link WalLink}), and run the stand-in. Whatever
 * goes wrong ends the session, the applier hears of it before anything else happens, and a new session begins from nothing: a slot is never
 * used twice, so there is no position that could be wrong.
 */
public final class LogicalStream implements InvalidationStream {
    private static final Logger LOG = LoggerFactory.getLogger(LogicalStream.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final PgTarget target;
    private final StreamOptions options;
    private final StreamTables tables;
    private final StreamApplier applier;
    private final NanoClock clock;
    private final RandomGenerator random;
    private final TlsClient tls;
    private final StreamErrors errors;
    private final StreamCounters counters = new StreamCounters();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private final Set<Integer> leftBehind = new HashSet<>();
    private String warned = "";
    private volatile State state = State.NEW;
    private volatile String error = "the stream has not started yet";
    private volatile @Nullable LogicalSession session;

    /**
     * @param target the database; its user needs REPLICATION
     * @param random for slot names
     * @throws IllegalArgumentException with one sentence for the user if the target's root certificate is not usable
     */
    public LogicalStream(
            PgTarget target,
            StreamOptions options,
            StreamTables tables,
            StreamApplier applier,
            NanoClock clock,
            RandomGenerator random) {
        this.target = target;
        this.options = options;
        this.tables = tables;
        this.applier = applier;
        this.clock = clock;
        this.random = random;
        this.tls = TlsClient.of(target);
        this.errors = new StreamErrors(target);
        this.thread = Thread.ofPlatform()
                .daemon()
                .name("pgnear-stream-" + target.database())
                .unstarted(this::run);
    }

    @Override
    public void start() {
        Check.that(state == State.NEW, "a stream is started once");
        state = State.CONNECTING;
        thread.start();
    }

    private void run() {
        try {
            applier.down(error);
            Duration backoff = options.firstBackoff();
            while (!closed()) {
                boolean streamed = live();
                backoff = streamed ? options.firstBackoff() : min(backoff.multipliedBy(2), options.lastBackoff());
                pause(backoff);
            }
        } finally {
            state = State.CLOSED;
            applier.down("the stream is closed");
        }
    }

    /** One session; true if it reached the state STREAMING. */
    private boolean live() {
        state = State.CONNECTING;
        boolean streamed;
        LogicalSession s = newSession();
        session = s;
        try (s) {
            if (closed()) {
                return false;
            }
            s.run(leftBehind);
        } catch (IOException | RuntimeException e) {
            fail(e);
        } finally {
            streamed = state == State.STREAMING;
            state = State.BACKING_OFF;
            leftBehind.addAll(s.processIds());
            session = null;
        }
        return streamed;
    }

    private LogicalSession newSession() {
        return new LogicalSession(
                target,
                tls,
                options,
                tables,
                applier,
                clock,
                counters,
                new Owner(),
                options.slotName(random.nextInt()));
    }

    /** The applier hears of it first: from this moment on nothing is served from the cache. */
    private void fail(Exception e) {
        String reason = closed() ? "the stream is closed" : errors.sentence(e);
        applier.down(reason);
        if (closed()) {
            return;
        }
        counters.reconnect();
        if (!reason.equals(warned)) {
            warned = reason;
            LOG.warn("{}", reason, unexpected(e));
        }
        error = reason;
    }

    /** Programmers want the stack, users do not. */
    private static @Nullable Exception unexpected(Exception e) {
        return e instanceof IllegalStateException || e instanceof NullPointerException ? e : null;
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    private boolean closed() {
        return closing.getCount() == 0;
    }

    private void pause(Duration time) {
        try {
            boolean ignored = closing.await(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            closing.countDown();
        }
    }

    @Override
    public StreamStatus status() {
        LogicalSession s = session;
        return new StreamStatus(
                state, error, s == null ? 0 : s.received(), s == null ? 0 : s.reported(), counters.read());
    }

    @Override
    public void close() {
        closing.countDown();
        LogicalSession s = session;
        if (s != null) {
            s.close();
        }
        try {
            boolean ignored = thread.join(CLOSE_TIMEOUT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private final class Owner implements LogicalSession.Owner {
        @Override
        public void state(State newState, String waitsFor) {
            if (newState == State.STREAMING) {
                LOG.info("streaming from {}", target);
                warned = "";
                error = "";
            } else if (!waitsFor.isEmpty()) {
                error = waitsFor;
            }
            state = newState;
        }
    }
}
