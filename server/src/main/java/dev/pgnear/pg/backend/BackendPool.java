package dev.pgnear.pg.backend;

import dev.pgnear.base.Check;
import dev.pgnear.base.Limits;
import dev.pgnear.base.NanoClock;
import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.pg.wire.PgException;
import dev.pgnear.pg.wire.PgTarget;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.PromiseCombiner;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one event loop to PostgreSQL; used on that loop only, so nothing here is synchronised.
 *
 * <p><b>Placement.</b> All executions go down the first connection, one behind the other. A connection whose oldest execution has made no
 * progress for {@link Limits#BACKEND_STUCK_MILLIS} is <i>stuck</i>, most likely in a lock: new executions pass it by, to the next
 * connection, up to {@link Limits#BACKEND_CONNECTIONS_PER_LOOP}. Repeatable ones that were behind it in its pipeline move as well, once
 * each. So that the readers of one locked table cannot make all connections stuck, the statement that hangs gets a {@link Lane}: its
 * further executions are parked until the lock is gone. While answers are "lock timeout", one parked execution at a time tries again.
 *
 * <p><b>Time.</b> A watch looks every {@value #WATCH_MILLIS} ms, only while something is under way: it fails what is past its deadline and
 * finds stuck connections. A connection that hangs in an execution nobody waits for any more is replaced; that is also the end of a link
 * whose other side is gone without a word.
 *
 * <p><b>Reconnecting.</b> With no connection left the pool tries again by itself, at first at once, then with pauses that double and
 * scatter. Executions wait for the first attempt; once it has failed they fail at once, until an attempt succeeds.
 *
 * <p><b>Renewing.</b> A session keeps the settings of role and database it began with. {@link #renew} retires all connections: no execution
 * is sent there any more, and each ends when it has answered what it was sent before.
 */
public final class BackendPool {
    private static final Logger LOG = LoggerFactory.getLogger(BackendPool.class);
    private static final int WATCH_MILLIS = 5;
    private static final String LOCK_NOT_AVAILABLE = "55P03";
    private static final String QUERY_CANCELED = "57014";
    /** Every setting that decides how a value of a row becomes text. */
    private static final Statement TEXT_SETTINGS = new Statement("select pg_catalog.concat_ws('|'"
            + ", pg_catalog.current_setting('TimeZone'), pg_catalog.current_setting('DateStyle')"
            + ", pg_catalog.current_setting('IntervalStyle'), pg_catalog.current_setting('bytea_output')"
            + ", pg_catalog.current_setting('extra_float_digits'), pg_catalog.current_setting('xmlbinary')"
            + ", pg_catalog.current_setting('xmloption'), pg_catalog.current_setting('lc_monetary')"
            + ", pg_catalog.current_setting('quote_all_identifiers'), pg_catalog.current_setting('search_path'))");

    private static final long SHORT_LIFE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final EventLoop loop;
    private final PgTarget target;
    private final NanoClock clock;
    private final BackendStats stats;
    private final Connector connector;
    private final Backoff backoff;
    private final List<BackendConnection> connections = new ArrayList<>();
    /** Not used for executions any more; each goes when it has answered all it was sent. */
    private final List<BackendConnection> retired = new ArrayList<>();

    private final QueryQueue waiting = new QueryQueue();
    private final Map<Statement, Lane> lanes = new HashMap<>();

    private @Nullable BackendUnavailable unavailable;
    private boolean connecting;
    private boolean pausing;
    private boolean watching;
    private boolean trimming;
    private boolean closed;
    private int renewals;

    /**
     * Connects when it is first used, or by {@link #start}.
     *
     * @throws IllegalArgumentException with one sentence for the user if the root certificate of the target is not usable
     */
    public BackendPool(
            EventLoop loop,
            Class<? extends SocketChannel> channelClass,
            PgTarget target,
            BackendSettings settings,
            NanoClock clock,
            BackendStats stats) {
        this.loop = loop;
        this.target = target;
        this.clock = clock;
        this.stats = stats;
        this.connector = new Connector(loop, channelClass, target, settings);
        this.backoff = new Backoff(clock.nanos());
    }

    /** Begins to connect; from any thread. */
    public void start() {
        loop.execute(this::openFirst);
    }

    /**
     * Executes a statement in a READ COMMITTED transaction of its own, without waiting for those before it. On the pool's event loop only.
     *
     * @param parameters in binary format, null for NULL; not to be changed before the end
     * @param deadlineNanos in the time of the pool's clock; observed to a few milliseconds
     */
    public void execute(
            Statement statement, byte[] @Nullable [] parameters, long deadlineNanos, ResultHandler handler) {
        Check.that(loop.inEventLoop(), "execute() outside of the pool's event loop");
        Check.that(parameters.length <= 0xFFFF, "more than 65535 parameters");
        stats.queries.increment();
        Query q = new Query(statement, parameters, deadlineNanos, handler, stats);
        if (closed) {
            failLater(q, new BackendUnavailable("pgnear is shutting down.", false, null));
        } else {
            submit(q);
        }
    }

    /** Whether an execution would be sent now. On the event loop. */
    public boolean available() {
        return !connections.isEmpty();
    }

    /** Open connections. On the event loop. */
    public int connectionCount() {
        return connections.size();
    }

    /**
     * Replaces all connections; from any thread. Complete when nothing is sent any more on a connection that was opened, or was being
     * opened, at the call; what was sent there is still answered.
     */
    public Future<?> renew() {
        return loop.submit(this::retireAll);
    }

    private void retireAll() {
        renewals++;
        List<BackendConnection> old = List.copyOf(connections);
        connections.clear();
        retired.addAll(old);
        old.forEach(this::endIfRetired);
        if (!old.isEmpty()) {
            openFirst();
        }
    }

    private void endIfRetired(BackendConnection c) {
        if (!retired.isEmpty() && c.depth() == 0 && retired.remove(c)) {
            c.terminate("it was renewed");
        }
    }

    /**
     * Asks a connection for the settings that decide how a value becomes text. From any thread; null if none is open or being opened, or
     * there is no answer until the deadline. It does not count as a query.
     */
    public Future<@Nullable String> textSettings(long deadlineNanos) {
        Promise<@Nullable String> answer = loop.newPromise();
        loop.execute(() -> {
            if (closed || connections.isEmpty() && !connecting) {
                answer.setSuccess(null);
            } else {
                Settings handler = new Settings(answer);
                submit(new Query(TEXT_SETTINGS, new byte[0][], deadlineNanos, handler, new BackendStats()));
            }
        });
        return answer;
    }

    private static final class Settings implements ResultHandler {
        private final Promise<@Nullable String> answer;
        private @Nullable String text;

        Settings(Promise<@Nullable String> answer) {
            this.answer = answer;
        }

        @Override
        public void row(DataRow row) {
            text = row.getString(0);
        }

        @Override
        public void complete(ServerIdentity server) {
            answer.trySuccess(text);
        }

        @Override
        public void failed(Throwable cause) {
            answer.trySuccess(null);
        }
    }

    /** Ends all connections; what is under way fails. From any thread; complete when the last connection is closed. */
    public Future<?> close() {
        Promise<Void> done = loop.newPromise();
        loop.execute(() -> close(done));
        return done;
    }

    private void close(Promise<Void> done) {
        closed = true;
        PromiseCombiner all = new PromiseCombiner(loop);
        for (BackendConnection c : allConnections()) {
            all.add(c.terminate("pgnear is shutting down"));
        }
        failAllQueued(new BackendUnavailable("pgnear is shutting down.", false, null));
        all.finish(done);
    }

    private List<BackendConnection> allConnections() {
        if (retired.isEmpty()) {
            return List.copyOf(connections);
        }
        List<BackendConnection> all = new ArrayList<>(connections);
        all.addAll(retired);
        return all;
    }

    // ---- placement

    private void submit(Query q) {
        watch();
        Lane lane = lanes.isEmpty() ? null : lanes.get(q.statement);
        if (lane == null) {
            place(q);
        } else {
            enqueue(lane.parked, q);
        }
    }

    private void place(Query q) {
        BackendConnection c = freeConnection();
        if (c != null) {
            c.send(q);
        } else if (connections.isEmpty() && unavailable != null) {
            failLater(q, unavailable);
        } else {
            enqueue(waiting, q);
            openAnother();
        }
    }

    private @Nullable BackendConnection freeConnection() {
        for (int i = 0; i < connections.size(); i++) {
            BackendConnection c = connections.get(i);
            if (c.depth() < Limits.BACKEND_PIPELINE && !c.stuck()) {
                return c;
            }
        }
        return null;
    }

    private void enqueue(QueryQueue queue, Query q) {
        if (queue.size() < Limits.BACKEND_WAITING) {
            queue.add(q);
        } else {
            failLater(q, new BackendUnavailable("Too many queries wait for PostgreSQL; try again later.", false, null));
        }
    }

    private void failLater(Query q, BackendUnavailable why) {
        loop.execute(() -> {
            q.fail(why);
            leaveLane(q);
        });
    }

    private void drainWaiting() {
        while (!waiting.isEmpty()) {
            BackendConnection c = freeConnection();
            Query q = c == null ? null : waiting.poll();
            if (c == null || q == null) {
                return;
            }
            c.send(q);
        }
    }

    // ---- lanes

    private void blockLane(Exchange head) {
        head.lane = lanes.computeIfAbsent(head.statement, Lane::new);
    }

    /** Moves what is behind the head of a stuck connection: its own statement into the lane, others to another connection. */
    private void moveFollowers(BackendConnection stuck, Exchange head) {
        for (Exchange e : stuck.exchanges()) {
            Query q = e.query;
            if (e != head && q != null && q.movable()) {
                if (e.statement == head.statement && head.lane != null) {
                    move(e, q, head.lane.parked);
                } else if (freeConnection() != null || canOpen()) {
                    move(e, q, waiting);
                }
            }
        }
        drainWaiting();
        if (!waiting.isEmpty()) {
            openAnother();
        }
    }

    private void move(Exchange from, Query q, QueryQueue to) {
        if (to.size() < Limits.BACKEND_WAITING) {
            from.query = null;
            q.moved = true;
            stats.resent.increment();
            to.add(q);
        }
    }

    private void answeredInLane(Lane lane, @Nullable Throwable failure) {
        if (lanes.get(lane.statement) != lane) {
            return;
        }
        if (lockedOut(failure)) {
            probe(lane);
        } else {
            openLane(lane);
        }
    }

    private static boolean lockedOut(@Nullable Throwable failure) {
        return failure instanceof PgException e
                && (e.sqlState().equals(LOCK_NOT_AVAILABLE) || e.sqlState().equals(QUERY_CANCELED));
    }

    private void probe(Lane lane) {
        Query q = lane.parked.poll();
        if (q == null) {
            lanes.remove(lane.statement);
        } else {
            q.probe = lane;
            place(q);
        }
    }

    private void openLane(Lane lane) {
        lanes.remove(lane.statement);
        for (Query q = lane.parked.poll(); q != null; q = lane.parked.poll()) {
            place(q);
        }
    }

    // ---- the watch

    private void watch() {
        if (!watching) {
            watching = true;
            loop.schedule(this::look, WATCH_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void look() {
        watching = false;
        long now = clock.nanos();
        expireQueued(now);
        for (BackendConnection c : allConnections()) {
            c.expire(now);
            lookAt(c, now);
        }
        drainWaiting();
        if (busy()) {
            watch();
        }
    }

    private void lookAt(BackendConnection c, long now) {
        Exchange head = c.oldest();
        if (head == null || !c.lookWhetherStuck(now)) {
            return;
        }
        if (head.query != null) {
            if (head.lane == null) {
                blockLane(head);
            }
            moveFollowers(c, head);
        } else if (c.stalledNanos(now) > TimeUnit.MILLISECONDS.toNanos(Limits.BACKEND_GIVE_UP_MILLIS)) {
            giveUp(c);
        }
    }

    private void giveUp(BackendConnection c) {
        for (Exchange e : c.exchanges()) {
            Query q = e.query;
            if (q != null && q.movable()) {
                move(e, q, waiting);
            }
        }
        c.close("it hung in a query that nobody waits for any more", null);
        if (!waiting.isEmpty()) {
            openAnother();
        }
    }

    private void expireQueued(long now) {
        expire(waiting, now);
        for (Lane lane : List.copyOf(lanes.values())) {
            expire(lane.parked, now);
        }
    }

    private void expire(QueryQueue queue, long now) {
        ArrayDeque<Query> expired = queue.takeExpired(now);
        if (expired != null) {
            expired.forEach(this::timeOutQueued);
        }
    }

    private void timeOutQueued(Query q) {
        q.timeOut();
        leaveLane(q);
    }

    /** A probe that was never sent lets the next one try. */
    private void leaveLane(Query q) {
        if (q.probe != null) {
            nextProbe(q.probe);
        }
    }

    private void nextProbe(Lane lane) {
        if (lanes.get(lane.statement) == lane) {
            probe(lane);
        }
    }

    private boolean busy() {
        if (!waiting.isEmpty() || !lanes.isEmpty()) {
            return true;
        }
        for (BackendConnection c : allConnections()) {
            if (c.depth() > 0) {
                return true;
            }
        }
        return false;
    }

    // ---- connections

    private boolean canOpen() {
        return !closed && (connecting || !pausing && connections.size() < Limits.BACKEND_CONNECTIONS_PER_LOOP);
    }

    private void openFirst() {
        if (connections.isEmpty()) {
            openAnother();
        }
    }

    private void openAnother() {
        if (canOpen() && !connecting) {
            connecting = true;
            connector.connect(new Opening());
        }
    }

    private void pause() {
        if (!pausing && !closed) {
            pausing = true;
            loop.schedule(this::pauseOver, backoff.nextMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void pauseOver() {
        pausing = false;
        if (connections.isEmpty() || !waiting.isEmpty()) {
            openAnother();
        }
    }

    private void opened(BackendConnection c, ServerIdentity server, int renewalsBefore) {
        connecting = false;
        if (closed) {
            c.terminate("pgnear is shutting down");
            return;
        }
        if (renewals != renewalsBefore) {
            c.terminate("it was renewed");
            openAnother();
            return;
        }
        stats.connects.increment();
        if (unavailable != null) {
            LOG.info("PostgreSQL at {} is reachable again ({})", target.authority(), server);
        }
        unavailable = null;
        connections.add(c);
        drainWaiting();
        trimLater();
    }

    private void openFailed(BackendUnavailable why) {
        connecting = false;
        stats.connectFailures.increment();
        if (connections.isEmpty()) {
            if (unavailable == null) {
                LOG.warn("{}", why.getMessage());
            }
            unavailable = why;
            failAllQueued(why);
        }
        pause();
    }

    private void failAllQueued(BackendUnavailable why) {
        List<QueryQueue> queues = new ArrayList<>();
        lanes.values().forEach(lane -> queues.add(lane.parked));
        lanes.clear();
        queues.add(waiting);
        for (QueryQueue queue : queues) {
            for (int n = queue.size(); n > 0; n--) {
                Query q = queue.poll();
                if (q != null) {
                    q.fail(q.sent ? new BackendUnavailable(String.valueOf(why.getMessage()), true, why) : why);
                }
            }
        }
    }

    private void connectionLost(BackendConnection c, ArrayDeque<Exchange> left, String why, @Nullable Throwable cause) {
        boolean unexpected = connections.remove(c) && !closed;
        retired.remove(c);
        if (unexpected) {
            stats.lostConnections.increment();
            LOG.warn(
                    "A connection to PostgreSQL at {} was lost with {} queries under way: {}",
                    target.authority(),
                    left.size(),
                    why);
            replace(c);
        }
        BackendUnavailable lost = new BackendUnavailable(
                "The connection to PostgreSQL at " + target.authority() + " was lost: " + why + ".", true, cause);
        for (Exchange e : left) {
            Query q = e.query;
            if (q != null) {
                q.fail(lost);
            }
            if (e.lane != null) {
                nextProbe(e.lane);
            }
        }
    }

    /** A server that accepts connections and drops them at once is not asked without pauses either. */
    private void replace(BackendConnection lost) {
        if (lost.ageNanos(clock.nanos()) > SHORT_LIFE_NANOS) {
            backoff.reset();
            openFirst();
        } else {
            pause();
        }
    }

    private void trimLater() {
        if (!trimming && connections.size() > 1) {
            trimming = true;
            loop.schedule(this::trim, Limits.BACKEND_IDLE_SECONDS / 2, TimeUnit.SECONDS);
        }
    }

    private void trim() {
        trimming = false;
        long now = clock.nanos();
        for (BackendConnection c : List.copyOf(connections)) {
            if (connections.size() > 1 && c.idleNanos(now) > TimeUnit.SECONDS.toNanos(Limits.BACKEND_IDLE_SECONDS)) {
                connections.remove(c);
                c.terminate("it was idle");
            }
        }
        trimLater();
    }

    /** One new connection, from its first byte until it is known which server it reached; then one of the pool's. */
    private final class Opening implements Connector.Outcome, BackendConnection.Owner, IdentityQuery.Outcome {
        private final int renewalsBefore = renewals;
        private @Nullable BackendConnection connection;
        private boolean inPool;

        @Override
        public void connected(ChannelHandlerContext ctx) {
            BackendConnection c = new BackendConnection(this, clock, ctx);
            connection = c;
            c.install();
            long deadline = clock.nanos() + TimeUnit.MILLISECONDS.toNanos(Limits.BACKEND_LOGIN_MILLIS);
            // Counters of its own: nobody asked for this execution.
            BackendStats uncounted = new BackendStats();
            c.send(new Query(
                    IdentityQuery.STATEMENT, new byte[0][], deadline, new IdentityQuery(target, this), uncounted));
            loop.schedule(this::timeOut, Limits.BACKEND_LOGIN_MILLIS, TimeUnit.MILLISECONDS);
        }

        private void timeOut() {
            if (!inPool && connection != null) {
                connection.close("it did not say in time which server it is", null);
            }
        }

        @Override
        public void known(ServerIdentity identity) {
            BackendConnection c = Objects.requireNonNull(connection);
            c.identify(identity);
            inPool = true;
            opened(c, identity, renewalsBefore);
        }

        @Override
        public void refused(BackendUnavailable why) {
            BackendConnection c = connection;
            connection = null;
            openFailed(why);
            if (c != null) {
                c.terminate("refused");
            }
        }

        @Override
        public void failed(BackendUnavailable why) {
            openFailed(why);
        }

        @Override
        public void answered(BackendConnection c, Exchange exchange, @Nullable Query again) {
            if (again != null) {
                stats.resent.increment();
                again.probe = exchange.lane;
                sendAgain(c, again);
            } else if (exchange.lane != null) {
                answeredInLane(exchange.lane, exchange.failure);
            }
            if (!waiting.isEmpty()) {
                drainWaiting();
            }
            endIfRetired(c);
        }

        private void sendAgain(BackendConnection c, Query again) {
            if (retired.contains(c)) {
                place(again);
            } else {
                c.send(again);
            }
        }

        @Override
        public void lost(BackendConnection c, ArrayDeque<Exchange> left, String why, @Nullable Throwable cause) {
            if (inPool) {
                connectionLost(c, left, why, cause);
            } else if (connection != null) {
                // Fails the identity query, and by that the opening.
                left.forEach(e -> failIdentity(e, why, cause));
            }
        }

        private void failIdentity(Exchange e, String why, @Nullable Throwable cause) {
            if (e.query != null) {
                e.query.fail(new BackendUnavailable(why, true, cause));
            }
        }
    }
}
