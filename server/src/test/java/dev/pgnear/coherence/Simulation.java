package dev.pgnear.coherence;

import dev.pgnear.base.Limits;
import dev.pgnear.cache.Cache;
import dev.pgnear.coherence.SimPostgres.Commit;
import dev.pgnear.coherence.SimPostgres.Frozen;
import dev.pgnear.coherence.SimPostgres.Key;
import dev.pgnear.coherence.SimPostgres.Tx;
import dev.pgnear.coherence.SimPostgres.TxState;
import dev.pgnear.coherence.SimPostgres.Version;
import dev.pgnear.coherence.Violation.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One random run from one seed: a {@link SimPostgres}, one or two nodes with the product's {@link Coherence}, sessions that read and write, and
 * an auditor that knows every legal answer. Everything runs on one thread in single steps; when the product is about to take a lock, or has
 * just changed a space, other steps may run in between, as other threads would.
 *
 * <p>At the end the world becomes quiet, and then every entry must equal the database, hits and the fenced claim must be back, and nothing may
 * be remembered any more.
 */
final class Simulation {
    private static final long MAX_STALENESS = 12;
    private static final long GRACE = 4;

    private enum Action {
        WRITE,
        COMMIT,
        ABORT,
        FLUSH,
        VISIBLE,
        RETURN,
        CANCEL,
        GROW,
        READ,
        RETRY,
        FILL_SEND,
        FILL_SNAP,
        FILL_ARRIVE,
        FILL_FAIL,
        APPLY,
        SAMPLE,
        TIME,
        STREAM_LOST,
        RECONNECT,
        CRASH,
        NOTICE,
        CUT,
        ATTACH,
        SUSPEND,
        RESUME,
        OWN_BEGIN,
        OWN_STEP,
        SQL_WRITE,
        MULTI,
        EVICT,
        INVALIDATE,
        RELEASE
    }

    private enum Conn {
        DOWN,
        SLOT_WAIT,
        SLOT,
        STREAMING,
        ZOMBIE
    }

    private final class Node {
        final int number;
        final MapCache cache = new MapCache();
        final Coherence coherence;
        final Relation[] relations;
        final List<SimFill> fills = new ArrayList<>();
        final List<SimSample> samples = new ArrayList<>();
        final List<OwnOp> owns = new ArrayList<>();
        final Map<Key, Version> ownFloor = new HashMap<>();
        final Set<Tx> slotWaits = new HashSet<>();
        Conn conn = Conn.DOWN;

        @Nullable
        ServerIdentity streamed;

        boolean cut;
        long received;
        long acked;
        boolean named = fenced;
        boolean joined;
        long namedAt;
        boolean announced;
        long announcedAt;
        /** Which of the product's monitors this run's own stack holds; other threads would wait for them. */
        boolean inStream;

        boolean inPurging;
        boolean inRelation;

        Node(int number) {
            this.number = number;
            int bound = random.nextInt(4) == 0 ? 1 : Limits.FENCES_PER_PARTITION;
            coherence = new Coherence(cache, Simulation.this::clock, fenced, MAX_STALENESS, GRACE, off, bound);
            relations = new Relation[pg.published.length];
            for (int r = 0; r < relations.length; r++) {
                relations[r] = coherence.newRelation("r" + r);
            }
            cache.beforeLock = () -> interleave(inPurging ? 30 : 6, inStream ? 8 : 3);
            cache.afterSpace = () -> {
                boolean before = inRelation;
                inRelation = true;
                interleave(2, 20);
                inRelation = before;
            };
        }

        long hash(Key key) {
            return key.hash(relations[key.relation].id());
        }

        @Override
        public String toString() {
            return "n" + number;
        }
    }

    private static final class SimFill {
        final Fill fill;
        final Key key;
        int state;
        long lsn;
        boolean lsnAtArrival;

        @Nullable
        Snapshot snapshot;

        @Nullable
        Version version;

        @Nullable
        ServerIdentity from;

        SimFill(Fill fill, Key key) {
            this.fill = fill;
            this.key = key;
        }
    }

    private static final class SimSample {
        long sentAt;

        @Nullable
        Sample answer;
    }

    private static final class OwnOp {
        final Session session;
        final OwnWrite write;
        final List<Key> keys;
        final Tx tx;

        @Nullable
        ServerIdentity server;

        long lsn;
        boolean replied;

        OwnOp(Session session, OwnWrite write, List<Key> keys, Tx tx) {
            this.session = session;
            this.write = write;
            this.keys = keys;
            this.tx = tx;
        }
    }

    private static final class Session {
        final Node node;
        final MultiRead multi;
        final Map<Key, Version> seen = new HashMap<>();
        boolean busy;

        @Nullable
        Op retry;

        @Nullable
        Tx tx;

        long barrier;
        final List<Op> multiOps = new ArrayList<>();

        Session(Node node) {
            this.node = node;
            this.multi = node.coherence.newMultiRead();
        }
    }

    private record Floor(Kind kind, Version version) {}

    /** One read of one key, with all that its answer must not be older than. */
    private final class Op implements FillWaiter {
        final Session session;
        final Key key;
        final long begun = now;
        final List<Floor> floors = new ArrayList<>();
        byte @Nullable [] several;

        Op(Session session, Key key) {
            this.session = session;
            this.key = key;
            floor(Kind.STALE, pg.asOf(key, now - MAX_STALENESS));
            floor(Kind.BACKWARDS, session.seen.get(key));
            floor(Kind.OWN, session.node.ownFloor.get(key));
            if (session.node.coherence.fenced()) {
                floor(Kind.FENCED, returned(key));
            }
        }

        private void floor(Kind kind, @Nullable Version version) {
            if (version != null) {
                floors.add(new Floor(kind, version));
            }
        }

        @Override
        public void row(byte @Nullable [] value) {
            trace(() -> "  row of " + key);
            session.busy = false;
            audit(this, value);
        }

        @Override
        public void again() {
            trace(() -> "  again " + key);
            session.retry = this;
        }

        @Override
        public void failed(Throwable cause) {
            session.busy = false;
        }
    }

    private final SplittableRandom random;
    private final EnumSet<Rule> off;
    private final EnumSet<Caller> broken;
    private final @Nullable List<String> trace;
    private final SimPostgres pg;
    private final Profile profile;
    private final boolean fenced;
    private final boolean slotWaits;
    private final boolean attach;
    private final List<Node> nodes = new ArrayList<>();
    private final List<Session> sessions = new ArrayList<>();
    private final List<Action> actions = new ArrayList<>();
    private final Set<Tx> attachWaits = new HashSet<>();
    private final TestSink sink = new TestSink();
    private boolean attached;
    private long now = 1000;
    private long lateClock = 1000;
    private int depth;
    private boolean quiet;
    private int txNumber;

    /**
     * @param dwellOn what the run dwells on, or null to draw it from the seed
     * @param off rules of the product that are switched off
     * @param broken rules of its callers that are broken
     * @param trace collects one line for each step, or null
     */
    Simulation(
            long seed,
            @Nullable Profile dwellOn,
            EnumSet<Rule> off,
            EnumSet<Caller> broken,
            @Nullable List<String> trace) {
        this.random = new SplittableRandom(seed);
        this.off = off;
        this.broken = broken;
        this.trace = trace;
        Profile drawn = Profile.values()[random.nextInt(Profile.values().length)];
        this.profile = dwellOn == null ? drawn : dwellOn;
        boolean ownLag = profile == Profile.OWN_ORDER || profile == Profile.OWN_RACES;
        boolean lag = ownLag || profile == Profile.OVERLAPS;
        this.fenced = profile == Profile.RELEASE || !lag && random.nextBoolean();
        this.slotWaits = random.nextBoolean();
        this.attach = random.nextInt(8) == 0;
        boolean few = profile == Profile.OWN_WRITES || ownLag || profile == Profile.OVERLAPS || random.nextBoolean();
        this.pg = new SimPostgres(new int[] {few ? 1 : 2, 1});
        pg.published[0] = true;
        pg.published[1] = !attach;
        attached = !attach;
        int n = random.nextInt(5) == 0 ? 2 : 1;
        for (int i = 0; i < n; i++) {
            Node node = new Node(i);
            nodes.add(node);
            for (int s = ownLag ? 6 : 3; s > 0; s--) {
                sessions.add(new Session(node));
            }
        }
        weights();
    }

    /** What a run dwells on. */
    enum Profile {
        GENERAL,
        SEVERAL_ROWS,
        SLOW,
        SPLIT,
        RELEASE,
        OWN_WRITES,
        OWN_ORDER,
        OWN_RACES,
        RESTARTS,
        OVERLAPS,
        RELATIONS,
        SESSIONS
    }

    private void weights() {
        add(Action.WRITE, 14);
        add(Action.COMMIT, 10);
        add(Action.ABORT, 1);
        add(Action.FLUSH, 8);
        add(Action.VISIBLE, 10);
        add(Action.RETURN, 10);
        add(Action.READ, 20);
        add(Action.RETRY, 6);
        add(Action.FILL_SEND, 9);
        add(Action.FILL_SNAP, 8);
        add(Action.FILL_ARRIVE, 9);
        add(Action.APPLY, 12);
        add(Action.SAMPLE, 12);
        add(Action.TIME, 4);
        add(Action.RECONNECT, 6);
        add(Action.NOTICE, 2);
        add(Action.RESUME, 2);
        if (attach) {
            add(Action.ATTACH, 4);
        }
        switch (profile) {
            case GENERAL -> {
                for (Action a : List.of(
                        Action.CANCEL,
                        Action.GROW,
                        Action.FILL_FAIL,
                        Action.STREAM_LOST,
                        Action.CRASH,
                        Action.CUT,
                        Action.SUSPEND,
                        Action.SQL_WRITE,
                        Action.MULTI,
                        Action.EVICT,
                        Action.INVALIDATE,
                        Action.OWN_BEGIN,
                        Action.OWN_STEP)) {
                    add(a, random.nextInt(3));
                }
            }
            case SEVERAL_ROWS -> {
                add(Action.MULTI, random.nextBoolean() ? 45 : 15);
                add(Action.SAMPLE, 10);
                boolean own = random.nextBoolean();
                add(Action.OWN_BEGIN, own ? 8 : 0);
                add(Action.OWN_STEP, own ? 20 : 0);
            }
            case SLOW -> {
                less(Action.APPLY, 2 + random.nextInt(3));
                less(Action.FILL_ARRIVE, 1 + random.nextInt(8));
                less(Action.NOTICE, 0);
                less(Action.FLUSH, 3);
                add(Action.TIME, 20);
                add(Action.READ, 20);
                add(Action.CUT, random.nextInt(2));
            }
            case SPLIT -> {
                less(Action.NOTICE, 0);
                add(Action.CRASH, 1);
                add(Action.TIME, 20);
                add(Action.READ, 20);
                add(Action.SAMPLE, 20);
            }
            case RELEASE -> {
                add(Action.TIME, 8);
                add(Action.CUT, 2);
                add(Action.RELEASE, 5);
                add(Action.SAMPLE, 15);
                add(Action.READ, 20);
            }
            case OWN_WRITES -> {
                less(Action.SAMPLE, random.nextInt(4));
                add(Action.OWN_BEGIN, 12);
                add(Action.OWN_STEP, 30);
                add(Action.STREAM_LOST, random.nextInt(2));
                add(Action.RECONNECT, 6);
            }
            case OWN_ORDER -> {
                less(Action.SAMPLE, 2 + random.nextInt(8));
                less(Action.APPLY, 5);
                less(Action.TIME, 1);
                less(Action.READ, 6 + random.nextInt(20));
                less(Action.ABORT, 0);
                less(Action.WRITE, 4 + random.nextInt(20));
                add(Action.COMMIT, 10);
                add(Action.FLUSH, 10);
                add(Action.VISIBLE, 10);
                add(Action.RETURN, 5);
                add(Action.OWN_BEGIN, 15);
                add(Action.OWN_STEP, 60);
                add(Action.MULTI, 40);
            }
            case OWN_RACES -> {
                less(Action.SAMPLE, 6);
                less(Action.APPLY, 3);
                less(Action.TIME, 1);
                add(Action.READ, 10);
                add(Action.WRITE, 20);
                add(Action.COMMIT, 10);
                add(Action.FLUSH, 10);
                add(Action.VISIBLE, 30);
                add(Action.FILL_SEND, 10);
                add(Action.FILL_SNAP, 15);
                add(Action.FILL_ARRIVE, 15);
                add(Action.EVICT, 8);
                add(Action.OWN_BEGIN, 15);
                add(Action.OWN_STEP, 15);
            }
            case RESTARTS -> {
                less(Action.FILL_ARRIVE, 3);
                add(Action.STREAM_LOST, 2);
                add(Action.RECONNECT, 12);
                add(Action.READ, 10);
                add(Action.CRASH, random.nextInt(2));
            }
            case OVERLAPS -> {
                less(Action.APPLY, 3);
                less(Action.FILL_ARRIVE, 4);
                add(Action.TIME, random.nextInt(10));
                add(Action.READ, 30);
                add(Action.VISIBLE, 10);
                add(Action.SAMPLE, 20);
                add(Action.RECONNECT, 4);
                add(Action.STREAM_LOST, random.nextInt(3));
                add(Action.SUSPEND, random.nextInt(2));
                add(Action.RESUME, 10);
                add(Action.INVALIDATE, random.nextInt(3));
            }
            case RELATIONS -> {
                add(Action.EVICT, 2);
                add(Action.FILL_SEND, 9);
                add(Action.FILL_SNAP, 8);
                add(Action.FILL_ARRIVE, 9);
            }
            case SESSIONS -> {
                add(Action.SQL_WRITE, 15);
                add(Action.RETURN, 10);
            }
        }
    }

    private void add(Action action, int weight) {
        for (int i = 0; i < weight; i++) {
            actions.add(action);
        }
    }

    private void less(Action action, int weight) {
        actions.removeIf(a -> a == action);
        add(action, weight);
    }

    private boolean on(Caller rule) {
        return !broken.contains(rule);
    }

    private long clock() {
        return on(Caller.CLOCK_AFTER_REQUEST) ? now : lateClock;
    }

    private void trace(Supplier<String> text) {
        if (trace != null) {
            trace.add(now + " " + "  ".repeat(depth) + text.get());
        }
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    // ---- the run

    void run() {
        boolean cold = random.nextInt(profile == Profile.OVERLAPS ? 2 : 3) == 0;
        if (!cold) {
            nodes.forEach(this::warmUp);
        }
        int steps = 150 + random.nextInt(250);
        for (int i = 0; i < steps; i++) {
            step(any(actions));
        }
        quieten();
    }

    private void warmUp(Node node) {
        for (int i = 0; i < 4; i++) {
            reconnect(node);
        }
        resume(node);
        for (int i = 0; i < 9; i++) {
            sample(node);
            now += i % 3 == 2 ? 2 : 0;
        }
    }

    private void interleave(int oneIn, int steps) {
        if (quiet || depth >= 2 || random.nextInt(oneIn) != 0) {
            return;
        }
        depth++;
        for (int i = random.nextInt(steps); i >= 0; i--) {
            Action action = any(actions);
            if (action != Action.CRASH && action != Action.TIME) {
                step(action);
            }
        }
        depth--;
    }

    private void step(Action action) {
        Node node = any(nodes);
        switch (action) {
            case WRITE -> write();
            case COMMIT -> commit();
            case ABORT -> abort();
            case FLUSH -> pg.flush(1 + random.nextInt(3));
            case VISIBLE -> visible();
            case RETURN -> giveBack();
            case CANCEL -> cancel();
            case GROW -> pg.grow(random.nextInt(3) == 0);
            case READ -> read(any(sessions));
            case RETRY -> retry(any(sessions));
            case FILL_SEND -> sendFill(node);
            case FILL_SNAP -> snapFill(node);
            case FILL_ARRIVE -> arriveFill(node);
            case FILL_FAIL -> failFill(node);
            case APPLY -> apply(node);
            case SAMPLE -> sample(node);
            case TIME -> time();
            case STREAM_LOST -> streamLost(node);
            case RECONNECT -> reconnect(node);
            case CRASH -> crash();
            case NOTICE -> notice(node);
            case CUT -> node.cut = !node.cut;
            case ATTACH -> attach();
            case SUSPEND -> suspend(node);
            case RESUME -> resume(node);
            case OWN_BEGIN -> ownBegin(any(sessions));
            case OWN_STEP -> ownStep(node);
            case SQL_WRITE -> sqlWrite(any(sessions));
            case MULTI -> multi(any(sessions));
            case EVICT -> evict(node);
            case INVALIDATE -> invalidate(node);
            case RELEASE -> release(node);
        }
    }

    private void time() {
        lateClock = Math.max(now - 8, lateClock);
        now += 1 + random.nextInt(3);
        if (random.nextInt(3) == 0) {
            lateClock = now;
        }
    }

    // ---- transactions

    private Tx newTx(boolean plain) {
        Commit[] commits = Commit.values();
        Commit how = random.nextInt(3) == 0 ? commits[random.nextInt(commits.length)] : Commit.SYNC;
        boolean bulk = !plain && random.nextInt(profile == Profile.RELATIONS ? 4 : 10) == 0;
        return new Tx(txNumber++, how, bulk, random.nextInt(20) == 0);
    }

    private void write() {
        List<Tx> open = pg.txs.stream().filter(this::foreignOpen).toList();
        Tx t = open.isEmpty() || open.size() < 3 && random.nextBoolean() ? newTx(false) : any(open);
        if (t.truncated < 0 && random.nextInt(profile == Profile.RELATIONS ? 4 : 12) == 0) {
            truncate(t, random.nextInt(pg.published.length));
            return;
        }
        Key key = any(pg.keys);
        if (pg.free(key, t) && t.truncated != key.relation && !t.writes.containsKey(key)) {
            pg.write(t, key, random.nextInt(5) == 0);
            trace(() -> t + " writes " + key);
        }
    }

    private boolean foreignOpen(Tx t) {
        return t.state == TxState.RUNNING
                && sessions.stream().noneMatch(s -> s.tx == t)
                && nodes.stream().noneMatch(n -> n.owns.stream().anyMatch(o -> o.tx == t));
    }

    private void truncate(Tx t, int relation) {
        List<Key> keys = pg.keys.stream().filter(k -> k.relation == relation).toList();
        if (keys.stream().allMatch(k -> pg.free(k, t) && !t.writes.containsKey(k))) {
            t.truncated = relation;
            keys.forEach(k -> pg.write(t, k, true));
            trace(() -> t + " truncates " + relation);
        }
    }

    private void commit() {
        List<Tx> open = pg.txs.stream()
                .filter(t -> t.state == TxState.RUNNING && !t.endless && !unfinished(t))
                .toList();
        if (!open.isEmpty()) {
            Tx t = any(open);
            pg.record(t, now, random.nextInt(12) == 0);
            trace(() -> t + " commit record " + t.lsn + " " + t.commit);
        }
    }

    /** Whether an own write has not yet written all its keys. */
    private boolean unfinished(Tx t) {
        return nodes.stream()
                .anyMatch(n -> n.owns.stream().anyMatch(o -> o.tx == t && t.writes.size() < o.keys.size()));
    }

    private void abort() {
        List<Tx> open = pg.txs.stream().filter(t -> t.state == TxState.RUNNING).toList();
        if (!open.isEmpty()) {
            abort(any(open));
        }
    }

    private void abort(Tx t) {
        trace(() -> t + " rolls back");
        pg.abort(t);
        for (Session s : sessions) {
            if (s.tx == t) {
                s.tx = null;
                s.busy = false;
            }
        }
    }

    private void visible() {
        List<Tx> may = pg.txs.stream()
                .filter(t -> t.state == TxState.RECORD && mayBecomeVisible(t))
                .toList();
        if (!may.isEmpty()) {
            Tx t = any(may);
            pg.makeVisible(t, now);
            trace(() -> t + " becomes visible");
        }
    }

    private boolean mayBecomeVisible(Tx t) {
        boolean flushed = pg.flushed >= t.lsn;
        return switch (t.commit) {
            case ASYNC -> true;
            case LOCAL -> flushed;
            case SYNC -> flushed && released(t);
        };
    }

    private boolean released(Tx t) {
        long missing = nodes.stream().filter(n -> !acknowledges(n, t)).count();
        return missing == 0 || missing == 1 && !on(Caller.ALL_NODES);
    }

    private boolean acknowledges(Node n, Tx t) {
        boolean reloading = n.joined && now - n.namedAt < GRACE;
        boolean standIn = !n.cut && (n.conn == Conn.DOWN || n.conn == Conn.SLOT_WAIT || n.conn == Conn.SLOT);
        return !n.named || reloading || standIn || n.conn == Conn.STREAMING && n.acked >= t.lsn;
    }

    private void cancel() {
        pg.txs.stream()
                .filter(t -> t.state == TxState.RECORD && t.commit == Commit.SYNC && pg.flushed >= t.lsn)
                .findFirst()
                .ifPresent(t -> {
                    t.cancelled = true;
                    pg.makeVisible(t, now);
                    trace(() -> t + " cancelled, visible");
                });
    }

    private void giveBack() {
        List<Tx> may = pg.txs.stream().filter(t -> t.state == TxState.VISIBLE).toList();
        if (!may.isEmpty()) {
            giveBack(any(may));
        }
    }

    private void giveBack(Tx t) {
        t.state = TxState.RETURNED;
        trace(() -> t + " COMMIT returns");
        for (Session s : sessions) {
            if (s.tx == t) {
                boolean waited = t.commit == Commit.SYNC && !t.cancelled && s.node.coherence.fenced();
                s.barrier = !on(Caller.RYW_AFTER) ? s.barrier : waited ? 0 : Math.max(s.barrier, pg.insertLsn());
                t.writes.forEach((k, v) -> see(s, k, v));
                s.tx = null;
                s.busy = false;
            }
        }
    }

    private @Nullable Version returned(Key key) {
        for (int i = key.chain.size() - 1; i > 0; i--) {
            Tx t = key.chain.get(i).tx;
            if (t != null && t.state == TxState.RETURNED && t.commit == Commit.SYNC && !t.cancelled) {
                return key.chain.get(i);
            }
        }
        return null;
    }

    // ---- reads

    private void read(Session s) {
        if (s.busy) {
            return;
        }
        s.busy = true;
        read(new Op(s, any(pg.keys)));
    }

    private void retry(Session s) {
        Op op = s.retry;
        if (op != null) {
            s.retry = null;
            read(op);
        }
    }

    private void read(Op op) {
        Session s = op.session;
        Node n = s.node;
        if (s.barrier != 0 && !n.coherence.reached(s.barrier)) {
            s.busy = false;
            s.barrier = pg.insertLsn(); // a forwarded read may have shown what the stream has not delivered
            trace(() -> n + " forwards read of " + op.key);
            audit(op, pg.current(op.key).value());
            return;
        }
        Relation relation = n.relations[op.key.relation];
        long hash = n.hash(op.key);
        int length = n.coherence.read(relation, hash, op.key.bytes, 0, op.key.bytes.length, sink);
        if (length != Cache.MISS) {
            byte[] value = length == Cache.ABSENT ? null : sink.value();
            trace(() -> n + " hit " + op.key + " " + text(value));
            s.busy = false;
            auditHit(op, value);
            return;
        }
        Fill fill = n.coherence.join(relation, hash, op.key.bytes, op);
        trace(() -> n + (fill == null ? " joins fill of " : " begins fill of ") + op.key);
        if (fill != null) {
            n.fills.add(new SimFill(fill, op.key));
        }
    }

    private static String text(byte @Nullable [] value) {
        return value == null ? "absent" : "v" + ByteBuffer.wrap(value).getInt();
    }

    private void multi(Session s) {
        if (s.multiOps.isEmpty()) {
            if (s.busy || !s.multi.begin() || s.barrier != 0 && !s.node.coherence.reached(s.barrier)) {
                return;
            }
            s.busy = true;
        }
        Key key = any(pg.keys);
        if (!s.multiOps.isEmpty() && s.multiOps.getFirst().key == key) {
            return;
        }
        Op op = new Op(s, key);
        s.multiOps.add(op);
        int length = s.multi.read(
                s.node.relations[op.key.relation], s.node.hash(op.key), op.key.bytes, 0, op.key.bytes.length, sink);
        op.several = length >= 0 ? sink.value() : null;
        trace(() -> s.node + " multi " + op.key + " " + (length == Cache.MISS ? "miss" : text(op.several)));
        if (length == Cache.MISS) {
            endMulti(s);
        } else if (s.multiOps.size() >= 2) {
            if (s.multi.valid()) {
                s.multiOps.forEach(o -> audit(o, o.several));
                auditTogether(s.multiOps);
            }
            endMulti(s);
        }
    }

    private static void endMulti(Session s) {
        s.multiOps.clear();
        s.busy = false;
    }

    // ---- fills

    private @Nullable SimFill fill(Node n, int state) {
        List<SimFill> may = n.fills.stream().filter(f -> f.state == state).toList();
        boolean newest = profile == Profile.OVERLAPS && random.nextInt(4) != 0;
        return may.isEmpty() ? null : newest ? may.getLast() : any(may);
    }

    private void sendFill(Node n) {
        SimFill f = fill(n, 0);
        if (f != null) {
            f.state = 4; // nobody else sends it while sent() runs
            f.lsn = on(Caller.LSN_AFTER_SNAPSHOT) ? 0 : pg.insertLsn();
            n.coherence.sent(f.fill);
            f.state = 1;
        }
    }

    private void snapFill(Node n) {
        SimFill f = fill(n, 1);
        if (f == null) {
            return;
        }
        Frozen old = pg.frozen;
        if (old != null && pg.identity.equals(n.streamed) && random.nextBoolean()) {
            f.from = old.identity();
            f.snapshot = old.snapshot();
            f.version = old.rows().get(f.key);
            f.lsn = old.insertLsn();
        } else if (pg.truncateRunning(f.key.relation)) {
            return;
        } else {
            f.from = pg.identity;
            f.snapshot = pg.snapshot();
            f.version = pg.current(f.key);
            f.lsnAtArrival = random.nextBoolean() && on(Caller.LSN_AFTER_SNAPSHOT);
            f.lsn = on(Caller.LSN_AFTER_SNAPSHOT) ? pg.insertLsn() : f.lsn;
        }
        f.state = 2;
        trace(() -> n + " fill of " + f.key + " snaps " + f.version + " " + f.snapshot);
    }

    private void arriveFill(Node n) {
        SimFill f = fill(n, 2);
        if (f != null) {
            arrive(n, f);
        }
    }

    private void arrive(Node n, SimFill f) {
        n.fills.remove(f);
        ServerIdentity from = Objects.requireNonNull(f.from);
        Version version = Objects.requireNonNull(f.version);
        Snapshot snapshot = Objects.requireNonNull(f.snapshot);
        long lsn = f.lsnAtArrival && from.equals(pg.identity) ? pg.insertLsn() : f.lsn;
        trace(() -> n + " fill of " + f.key + " arrives with " + version);
        n.coherence.arrived(f.fill, from, snapshot, lsn, version.value());
    }

    private void failFill(Node n) {
        if (!n.fills.isEmpty()) {
            SimFill f = any(n.fills);
            if (f.state != 4) {
                n.fills.remove(f);
                n.coherence.failed(f.fill, new IllegalStateException("closed"));
            }
        }
    }

    // ---- stream

    private void apply(Node n) {
        if (n.conn != Conn.STREAMING || n.cut || n.inStream) {
            return;
        }
        n.inStream = true;
        Tx next = pg.wal.stream()
                .filter(t -> t.lsn > n.received && t.lsn <= pg.flushed)
                .findFirst()
                .orElse(null);
        if (next == null) {
            long to = pg.flushed;
            n.coherence.applied(to);
            n.acked = Math.max(n.acked, to);
        } else if (!n.inRelation || next.truncated < 0 && !next.bulk) {
            n.received = next.lsn;
            n.acked = on(Caller.ACK_AFTER_APPLY) ? n.acked : next.lsn;
            trace(() -> n + " applies " + next + " up to " + next.lsn);
            n.coherence.apply(event(n, next), next.lsn);
            n.acked = Math.max(n.acked, next.lsn);
            trace(() -> n + " applied " + next);
        }
        n.inStream = false;
    }

    private CommittedTransaction event(Node n, Tx t) {
        long xid = on(Caller.TOP_LEVEL_XID) ? t.xid : t.lastXid;
        CommittedTransaction event = new CommittedTransaction(xid, t.bulk ? 0 : Limits.DIRTY_KEYS_PER_TRANSACTION);
        for (Key key : t.published) {
            if (t.truncated == key.relation) {
                event.relation(n.relations[key.relation]);
            } else {
                event.key(n.relations[key.relation], key.bytes);
            }
        }
        return event;
    }

    private void streamLost(Node n) {
        if (n.conn == Conn.STREAMING && free(n)) {
            down(n);
        }
    }

    private static boolean free(Node n) {
        return !n.inStream && !n.inPurging && !n.inRelation;
    }

    private void down(Node n) {
        trace(() -> n + " loses its stream");
        n.inStream = true;
        n.inPurging = true;
        n.conn = Conn.ZOMBIE;
        n.coherence.down("lost");
        n.conn = Conn.DOWN;
        n.slotWaits.clear();
        n.inPurging = false;
        n.inStream = false;
    }

    private void notice(Node n) {
        if ((n.conn == Conn.ZOMBIE || n.conn == Conn.STREAMING && n.cut) && free(n)) {
            down(n);
        }
    }

    /** The next step towards a stream. */
    private void reconnect(Node n) {
        if (n.cut || !free(n)) {
            return;
        }
        switch (n.conn) {
            case DOWN -> {
                n.slotWaits.clear();
                pg.txs.stream().filter(t -> slotWaits && t.running()).forEach(n.slotWaits::add);
                n.conn = Conn.SLOT_WAIT;
            }
            case SLOT_WAIT -> {
                if (n.slotWaits.stream().noneMatch(Tx::running)) {
                    slotPoint(n);
                }
            }
            case SLOT -> {
                long target = pg.flushed;
                n.acked = n.received;
                n.conn = Conn.STREAMING;
                n.inStream = true;
                n.coherence.catchUpTo(fenced ? target : n.received);
                n.inStream = false;
                trace(() -> n + " streams from " + n.received + ", catches up to " + target);
            }
            default -> {}
        }
    }

    private void slotPoint(Node n) {
        pg.flushed = pg.walEnd;
        n.received = pg.walEnd;
        n.conn = Conn.SLOT;
        n.streamed = pg.identity;
        n.inStream = true;
        n.inPurging = true;
        Snapshot slot = pg.slotSnapshot();
        trace(() -> n + " slot at " + n.received + " " + slot);
        n.coherence.slotReady(pg.identity, slot, n.received);
        n.inPurging = false;
        n.inStream = false;
    }

    private void sample(Node n) {
        if (n.cut || n.inPurging) {
            return;
        }
        if (n.samples.isEmpty() || n.samples.size() < 3 && random.nextInt(3) == 0) {
            SimSample s = new SimSample();
            s.sentAt = now;
            n.samples.add(s);
            return;
        }
        SimSample s = any(n.samples);
        Sample answer = s.answer;
        if (answer == null) {
            serve(n, s);
            return;
        }
        n.samples.remove(s);
        n.inPurging = true;
        n.coherence.sample(on(Caller.TIME_AT_SEND) ? answer : withTime(answer));
        n.inPurging = false;
    }

    private Sample withTime(Sample s) {
        return new Sample(now, s.server(), s.snapshot(), s.insertLsn(), s.required(), s.reason());
    }

    private void serve(Node n, SimSample s) {
        boolean announced = n.announced && on(Caller.RELEASE_ANNOUNCED);
        boolean required = n.named && n.conn == Conn.STREAMING && !announced;
        long lsn = on(Caller.INSERT_LSN) ? pg.insertLsn() : pg.flushed;
        s.answer = new Sample(s.sentAt, pg.identity, pg.snapshot(), lsn, required, required ? "" : "not required");
    }

    // ---- operators, crashes

    private void release(Node n) {
        if (!n.named) {
            n.named = true;
            n.joined = true;
            n.namedAt = now;
            n.announced = false;
            trace(() -> n + " joins the names");
        } else if (!n.announced) {
            n.announced = true;
            n.announcedAt = now;
            trace(() -> n + " release announced");
        } else if (now - n.announcedAt >= MAX_STALENESS || !on(Caller.RELEASE_WAITS)) {
            n.named = false;
            trace(() -> n + " leaves the names");
        }
    }

    private void crash() {
        boolean failover = random.nextBoolean();
        boolean loses = failover && random.nextBoolean() && !pg.wal.isEmpty();
        long upTo = loses ? Math.min(pg.flushed, any(pg.wal).lsn) : pg.flushed;
        trace(() -> failover ? "failover to a server with WAL up to " + upTo : "crash");
        pg.crash(now, upTo, failover);
        nodes.forEach(this::crashed);
        for (Session s : sessions) {
            if (s.tx != null || s.barrier != 0) {
                s.busy = s.tx == null && s.busy;
                s.tx = null;
                s.barrier = 0;
                s.seen.clear();
            }
        }
    }

    private void crashed(Node n) {
        List<SimFill> gone = n.fills.stream().filter(f -> f.state == 1).toList();
        n.fills.removeAll(gone);
        gone.forEach(f -> n.coherence.failed(f.fill, new IllegalStateException("crash")));
        n.samples.removeIf(s -> s.answer == null);
        if (n.conn == Conn.STREAMING || n.conn == Conn.ZOMBIE) {
            n.conn = Conn.ZOMBIE;
        } else {
            down(n);
        }
    }

    private void attach() {
        if (!pg.published[1]) {
            pg.txs.stream().filter(Tx::running).forEach(attachWaits::add);
            pg.published[1] = true;
            trace(() -> "relation 1 is published");
        } else if (!attached && (attachWaits.stream().noneMatch(Tx::running) || !on(Caller.ATTACH_WAITS))) {
            attached = true;
            trace(() -> "relation 1 is attached");
        }
    }

    private void suspend(Node n) {
        if (!n.inRelation && !n.inPurging) {
            Relation relation = n.relations[random.nextInt(n.relations.length)];
            trace(() -> n + " suspends " + relation.name());
            n.coherence.suspend(relation);
        }
    }

    private void resume(Node n) {
        for (int r = 0; r < n.relations.length && !n.inRelation && !n.inPurging; r++) {
            if ((r == 0 || attached) && !n.relations[r].caching()) {
                Relation relation = n.relations[r];
                trace(() -> n + " resumes " + relation.name());
                n.coherence.resume(relation, n.coherence.suspensions(relation));
            }
        }
    }

    private void evict(Node n) {
        Key key = any(pg.keys);
        long hash = n.hash(key);
        n.cache.lock(hash);
        n.cache.remove(n.relations[key.relation].space(), hash, key.bytes);
        n.cache.unlock(hash);
    }

    private void invalidate(Node n) {
        Key key = any(pg.keys);
        if (random.nextBoolean()) {
            n.coherence.invalidate(n.relations[key.relation], n.hash(key), key.bytes);
        } else if (!n.inRelation && !n.inPurging) {
            n.coherence.invalidate(n.relations[key.relation]);
        }
    }

    // ---- writes of sessions

    private void sqlWrite(Session s) {
        Key key = any(pg.keys);
        if (s.busy || !pg.free(key, null)) {
            return;
        }
        s.busy = true;
        Tx t = newTx(true);
        pg.write(t, key, random.nextInt(5) == 0);
        s.tx = t;
        if (!on(Caller.RYW_AFTER)) {
            s.barrier = Math.max(s.barrier, pg.insertLsn());
        }
        trace(() -> "session of " + s.node + ": " + t + " writes " + key);
    }

    private void ownBegin(Session s) {
        Key key = any(pg.keys);
        Key second = any(pg.keys);
        if (s.busy) {
            return;
        }
        s.busy = true;
        List<Key> keys = key == second || random.nextBoolean() ? List.of(key) : List.of(key, second);
        OwnWrite write = s.node.coherence.beginOwnWrite();
        OwnOp op = new OwnOp(s, write, keys, newTx(true));
        trace(() -> s.node + " own write of " + keys + " begins");
        for (Key k : keys) {
            write.key(s.node.relations[k.relation], s.node.hash(k), k.bytes);
        }
        write.sent();
        s.node.owns.add(op);
    }

    private void ownStep(Node n) {
        if (n.owns.isEmpty()) {
            return;
        }
        OwnOp op = any(n.owns);
        switch (op.tx.state) {
            case RUNNING -> {
                if (op.tx.writes.size() < op.keys.size()) {
                    Key next = op.keys.get(op.tx.writes.size());
                    if (pg.free(next, op.tx)) {
                        op.server = pg.identity;
                        pg.write(op.tx, next, random.nextInt(5) == 0);
                        trace(() -> n + " own " + op.tx + " writes " + next);
                    }
                } else if (!on(Caller.OWN_AFTER_COMMIT) && !op.replied) {
                    op.replied = true;
                    reply(n, op);
                } else {
                    pg.record(op.tx, now, false);
                    trace(() -> op.tx + " commit record " + op.tx.lsn + " " + op.tx.commit);
                }
            }
            case RECORD -> {
                if (mayBecomeVisible(op.tx)) {
                    pg.makeVisible(op.tx, now);
                    trace(() -> op.tx + " becomes visible");
                }
            }
            case VISIBLE -> giveBack(op.tx);
            case RETURNED -> {
                if (op.lsn == 0) {
                    op.lsn = on(Caller.OWN_LSN_AFTER_COMMIT) ? pg.insertLsn() : op.tx.lsn;
                    return;
                }
                n.owns.remove(op);
                if (!op.replied) {
                    reply(n, op);
                }
                for (Key k : op.keys) {
                    Version v = Objects.requireNonNull(op.tx.writes.get(k));
                    later(n.ownFloor, k, v);
                    see(op.session, k, v);
                }
                op.session.busy = false;
            }
            case ABORTED -> {
                n.owns.remove(op);
                if (!op.replied) {
                    op.write.rolledBack();
                }
                op.session.busy = false;
            }
            case LOST, RECOVERED -> {
                n.owns.remove(op);
                if (!op.replied) {
                    op.write.wrote(Objects.requireNonNull(op.server), op.tx.xid);
                    op.write.unknown();
                }
                op.session.busy = false;
            }
            default -> {}
        }
    }

    private void reply(Node n, OwnOp op) {
        byte[] @Nullable [] values = new byte[op.keys.size()][];
        for (int i = 0; i < values.length; i++) {
            values[i] = Objects.requireNonNull(op.tx.writes.get(op.keys.get(i))).value();
        }
        trace(() -> n + " own write " + op.tx + " is answered");
        op.write.wrote(Objects.requireNonNull(op.server), op.tx.xid);
        op.write.committed(op.lsn, values, random.nextInt(5) != 0);
    }

    // ---- auditor

    private static void later(Map<Key, Version> map, Key key, Version v) {
        Version old = map.get(key);
        if (old == null || key.chain.indexOf(old) < key.chain.indexOf(v)) {
            map.put(key, v);
        }
    }

    private static void see(Session s, Key key, Version v) {
        later(s.seen, key, v);
    }

    private void auditHit(Op op, byte @Nullable [] value) {
        Version seen = audit(op, value);
        Node n = op.session.node;
        if (seen == null || !pg.identity.equals(n.streamed) || n.conn != Conn.STREAMING) {
            return;
        }
        long applied = n.coherence.appliedLsn();
        int index = op.key.chain.size() - 1;
        while (!same(op.key.chain.get(index), value) || !shown(op.key.chain.get(index))) {
            index--; // an absent row may be any absent version: the newest one does it no wrong
        }
        for (int i = index + 1; i < op.key.chain.size(); i++) {
            Tx t = op.key.chain.get(i).tx;
            if (t != null && t.lsn > 0 && t.lsn <= applied) {
                fail(Kind.PERMANENT, n + " hit of " + op.key + " shows " + seen + ", " + t + " was applied");
            }
        }
    }

    /** Checks an answer against all floors; the version that it must be at least, or null if it was lost in a crash. */
    private @Nullable Version audit(Op op, byte @Nullable [] value) {
        Key key = op.key;
        Floor highest = null;
        for (Floor f : op.floors) {
            boolean higher = highest == null || key.chain.indexOf(f.version) > key.chain.indexOf(highest.version);
            highest = higher ? f : highest;
        }
        int least = highest == null ? 0 : Math.max(0, key.chain.indexOf(highest.version));
        Version found = null;
        for (int i = key.chain.size() - 1; i >= least; i--) {
            Version v = key.chain.get(i);
            found = same(v, value) && shown(v) ? v : found;
        }
        if (found != null) {
            see(op.session, key, found);
            return found;
        }
        boolean lostLately = key.lost.stream().anyMatch(v -> same(v, value) && v.lostAt > op.begun - MAX_STALENESS);
        if (!lostLately) {
            boolean older = key.chain.stream().anyMatch(v -> same(v, value) && shown(v));
            Kind kind = older && highest != null ? highest.kind : Kind.UNCOMMITTED;
            fail(kind, op.session.node + " answers " + key + " with " + text(value) + ", floors " + op.floors);
        }
        return null;
    }

    private static boolean same(Version v, byte @Nullable [] value) {
        return value == null
                ? v.absent
                : !v.absent && v.id == ByteBuffer.wrap(value).getInt();
    }

    private static boolean shown(Version v) {
        return v.tx == null || v.tx.finished();
    }

    private void auditTogether(List<Op> ops) {
        for (Version[] state : pg.history) {
            if (ops.stream().allMatch(o -> same(state[pg.keys.indexOf(o.key)], o.several))) {
                return;
            }
        }
        String answer =
                ops.stream().map(o -> o.key + "=" + text(o.several)).toList().toString();
        fail(Kind.SEVERAL, ops.getFirst().session.node + " answers " + answer + " together");
    }

    private void fail(Kind kind, String message) {
        trace(() -> "VIOLATION " + kind + " " + message);
        throw new Violation(kind, message);
    }

    // ---- the end

    private void quieten() {
        quiet = true;
        nodes.forEach(n -> n.cut = false);
        for (int i = 0; i < 40 && !still(); i++) {
            settle();
        }
        boolean pageEnd = random.nextBoolean();
        pg.grow(pageEnd);
        pg.flush(Integer.MAX_VALUE);
        for (Node n : nodes) {
            nodeSettles(n);
            settled(n);
        }
    }

    private boolean still() {
        return pg.txs.stream().noneMatch(t -> t.running() || t.state == TxState.VISIBLE)
                && nodes.stream().allMatch(n -> n.fills.isEmpty() && n.owns.isEmpty() && n.conn == Conn.STREAMING)
                && sessions.stream().noneMatch(s -> s.retry != null)
                && nodes.stream().allMatch(n -> n.coherence.appliedLsn() >= pg.walEnd);
    }

    private void settle() {
        pg.flush(Integer.MAX_VALUE);
        for (Tx t : List.copyOf(pg.txs)) {
            switch (t.state) {
                case RUNNING -> abort(t);
                case RECORD -> {
                    if (mayBecomeVisible(t)) {
                        pg.makeVisible(t, now);
                    }
                }
                case VISIBLE -> giveBack(t);
                default -> {}
            }
        }
        sessions.forEach(this::retry);
        for (Node n : nodes) {
            for (OwnOp op : n.owns) {
                if (op.tx.xid == 0) {
                    op.tx.state = TxState.ABORTED;
                }
            }
            for (int i = n.owns.size() * 2; i > 0; i--) {
                ownStep(n);
            }
            nodeSettles(n);
        }
    }

    private void nodeSettles(Node n) {
        notice(n);
        for (int i = 0; i < 4 && n.conn != Conn.STREAMING; i++) {
            reconnect(n);
        }
        for (int i = 0; i < 12; i++) {
            apply(n);
        }
        attachAtEnd(n);
        for (int i = n.fills.size(); i > 0; i--) {
            sendFill(n);
            snapFill(n);
            arriveFill(n);
        }
        for (SimSample s : n.samples) {
            s.answer = null;
        }
        n.samples.clear();
        freshSample(n);
    }

    private void attachAtEnd(Node n) {
        attach();
        attach();
        resume(n);
    }

    private void freshSample(Node n) {
        SimSample s = new SimSample();
        s.sentAt = now;
        serve(n, s);
        n.coherence.sample(Objects.requireNonNull(s.answer));
    }

    private void settled(Node n) {
        freshSample(n);
        now += GRACE;
        lateClock = now;
        freshSample(n);
        CoherenceStatus status = n.coherence.status();
        if (!status.hitsAllowed()
                || fenced && n.named && !n.announced && status.mode() != CoherenceStatus.Mode.FENCED) {
            fail(Kind.NO_SERVICE, n + " " + status);
        }
        Session s = new Session(n);
        for (Key key : pg.keys) {
            settled(n, s, key);
        }
        freshSample(n);
        freshSample(n);
        if (n.coherence.remembers() || n.coherence.status().fillsInFlight() != 0) {
            fail(Kind.NOT_FORGOTTEN, n + " " + n.coherence.status());
        }
    }

    /** The entry, if there is one, equals the database; and if there is none, a fill is stored. */
    private void settled(Node n, Session s, Key key) {
        read(new Op(s, key));
        SimFill f = n.fills.isEmpty() ? null : n.fills.removeLast();
        if (f != null) {
            n.coherence.sent(f.fill);
            f.from = pg.identity;
            f.snapshot = pg.snapshot();
            f.version = pg.current(key);
            f.lsn = pg.insertLsn();
            arrive(n, f);
        }
        int length = n.coherence.read(n.relations[key.relation], n.hash(key), key.bytes, 0, key.bytes.length, sink);
        if (length == Cache.MISS) {
            fail(
                    Kind.NO_SERVICE,
                    n + " did not store " + key + " when all was quiet: caching " + n.relations[key.relation].caching()
                            + ", " + n.coherence.status() + " " + pg.snapshot());
        }
        if (!same(pg.current(key), length == Cache.ABSENT ? null : sink.value())) {
            fail(Kind.PERMANENT, n + " still has another row than the database for " + key);
        }
    }
}
