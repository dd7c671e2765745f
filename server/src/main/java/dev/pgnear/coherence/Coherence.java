package dev.pgnear.coherence;

import dev.pgnear.base.Check;
import dev.pgnear.base.Limits;
import dev.pgnear.base.NanoClock;
import dev.pgnear.base.ValueSink;
import dev.pgnear.cache.Cache;
import dev.pgnear.coherence.CoherenceStatus.Mode;
import dev.pgnear.coherence.CoherenceStatus.State;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The rules of docs/COHERENCE.md between readers, fills, own writes, samples and the stream. Thread-safe; no I/O, no threads, no clock of
 * its own.
 *
 * <p><b>Fences.</b> The stream applies a transaction key by key, each under the key's partition lock (which is the cache's): it drops the
 * entry and leaves the xid. A fill's answer is compared with the fences and stored in one step under the same lock, so the event comes either
 * before, and then the answer must show its xid finished, or after, and then it drops what was stored.
 *
 * <p><b>Whole relations</b> are not swept. The event sets the relation's fence and then gives the relation a new space; the old one becomes
 * unreachable at once. A fill remembers its space and stores only there: one that was checked before the fence was set stores into a space
 * that is gone. Losing the stream works in the same way for all relations, with the generation in the fence's place.
 *
 * <p><b>Forgetting fences.</b> Fills draw a begin sequence number. A snapshot that arrived when the counter stood at {@code c} is older than
 * the snapshot of every fill that draws a number above {@code c} afterwards. So a fence whose xids some snapshot has shown finished may go
 * when the fills with smaller numbers are over: those of its key, of its relation, of all.
 *
 * <p><b>Hits</b> take no lock here: stream state, lease and space are volatile, read in this order. Each makes the previous ones unusable
 * before it changes, so a reader who saw a good state and is overtaken by a change reads at worst what was right when it began.
 */
public final class Coherence implements StreamApplier {
    private final Cache cache;
    private final NanoClock clock;
    private final boolean wantFenced;
    private final long maxStalenessNanos;
    private final RuleSet rules;

    private final Counters counters = new Counters();
    private final LongAdder fillsInFlight = new LongAdder();
    private final Map<Integer, Relation> relations = new ConcurrentHashMap<>();
    private final AtomicInteger relationIds = new AtomicInteger();
    private final AtomicLong beginSequence = new AtomicLong();
    private final FenceCell everything = new FenceCell();
    private final AppliedPosition position = new AppliedPosition();
    private final Freshness freshness;

    /** One purge, or one change of generation, at a time; taken before any other lock. */
    private final Object purging = new Object();

    private final KeyTable table;
    private final FencePurge purge;
    private final OwnWrites ownWrites;

    /** The newest server that anybody has spoken to; changes under {@link #freshness}' monitor. */
    private volatile @Nullable ServerIdentity newest;

    private volatile StreamState stream = new StreamState(1, State.DOWN, null, 0, 0, "the stream has not begun");

    /**
     * @param wantFenced whether the node was told to be fenced
     * @param maxStalenessNanos the lease of hits
     * @param graceNanos a configuration reload's grace before the fenced claim begins
     */
    public Coherence(Cache cache, NanoClock clock, boolean wantFenced, long maxStalenessNanos, long graceNanos) {
        this(
                cache,
                clock,
                wantFenced,
                maxStalenessNanos,
                graceNanos,
                EnumSet.noneOf(Rule.class),
                Limits.FENCES_PER_PARTITION);
    }

    /** For tests: with some rules switched off, and another bound of key fences. */
    Coherence(
            Cache cache,
            NanoClock clock,
            boolean wantFenced,
            long maxStalenessNanos,
            long graceNanos,
            EnumSet<Rule> off,
            int fencesPerPartition) {
        this.cache = cache;
        this.clock = clock;
        this.wantFenced = wantFenced;
        this.maxStalenessNanos = maxStalenessNanos;
        this.rules = new RuleSet(off);
        this.freshness = new Freshness(clock, position, maxStalenessNanos, graceNanos, rules);
        this.table = new KeyTable(cache, counters, fencesPerPartition);
        this.purge = new FencePurge(table, relations.values(), everything, rules);
        this.ownWrites = new OwnWrites(this, cache, table, counters, rules);
    }

    // ---- relations (control plane)

    /** A new relation, not caching yet. */
    public Relation newRelation(String name) {
        Relation relation = new Relation(relationIds.incrementAndGet(), name, cache.newSpace());
        relations.put(relation.id(), relation);
        return relation;
    }

    /** Rows may be cached from now on; the caller has seen to rule ATTACH_WAITS. Refused (false) if {@code suspensions} moved since it was read. */
    public boolean resume(Relation relation, long suspensions) {
        synchronized (relation) {
            if (relation.suspensions() != suspensions || !relations.containsKey(relation.id())) {
                return false;
            }
            if (!relation.caching()) {
                newSpace(relation);
                relation.caching(true);
            }
            return true;
        }
    }

    /** How often the relation was suspended; read before verifying the catalog. */
    public long suspensions(Relation relation) {
        return relation.suspensions();
    }

    /** Stop caching at once, drop the entries. */
    public void suspend(Relation relation) {
        synchronized (relation) {
            relation.caching(false);
            relation.suspensions(relation.suspensions() + 1);
            counters.add(Counter.FLUSHES_SUSPEND);
            newSpace(relation);
        }
    }

    /** The relation is gone for good. */
    public void forget(Relation relation) {
        synchronized (relation) {
            relations.remove(relation.id());
            suspend(relation);
        }
    }

    /** Makes every entry unreachable, and every fill begun before unable to store. */
    private long newSpace(Relation relation) {
        synchronized (relation) {
            int old = relation.space();
            relation.space(cache.newSpace());
            return cache.dropSpace(old);
        }
    }

    // ---- reads (loops)

    /** A hit, copied to the sink, or {@link Cache#ABSENT}, or {@link Cache#MISS} also when hits are not allowed now. */
    public int read(Relation relation, long hash, byte[] key, int offset, int length, ValueSink sink) {
        if (!hitsAllowed()) {
            return Cache.MISS;
        }
        return cache.get(relation.space(), hash, key, offset, length, sink);
    }

    /** Whether hits are served now; the clock is read here, after the request was received (rule CLOCK_AFTER_REQUEST). */
    boolean hitsAllowed() {
        return stream.isReady() && freshness.fresh(clock.nanos());
    }

    /** A reader of several entries as of one moment; one per thread. */
    public MultiRead newMultiRead() {
        return new MultiRead(this);
    }

    /** A hit that is not ahead of the stream (rule AHEAD). The LSN is read after the value: a later entry of the key shows no less. */
    int readAt(Relation relation, long hash, byte[] key, int offset, int length, ValueSink sink, long applied) {
        int space = relation.space();
        int n = cache.get(space, hash, key, offset, length, sink);
        if (n == Cache.MISS || !rules.on(Rule.AHEAD)) {
            return n;
        }
        long lsn = cache.lsn(space, hash, key, offset, length);
        if (lsn >= 0 && (lsn <= applied || position.reached(lsn))) {
            return n;
        }
        if (n >= 0) {
            sink.rollback();
        }
        return Cache.MISS;
    }

    /** Rule NO_APPLY_BETWEEN. */
    boolean unmoved(StreamState since, long applied) {
        return !rules.on(Rule.NO_APPLY_BETWEEN)
                || stream.generation() == since.generation() && position.get() == applied;
    }

    /** Everything up to here was applied. */
    public long appliedLsn() {
        return position.get();
    }

    /** Whether everything that ends at or before this insert position was applied: the barrier of own reads. */
    public boolean reached(long insertLsn) {
        return stream.isReady() && position.reached(insertLsn);
    }

    /** Whether a newer server than the stream's was met: there are no hits until the stream is opened anew, to whatever server answers then. */
    public boolean superseded() {
        StreamState now = stream;
        return !now.isDown() && now.server() != null && isOlder(now.server(), newest);
    }

    /** Whether the node may call itself fenced at this moment. */
    public boolean fenced() {
        return wantFenced && stream.isReady() && freshness.claims(clock.nanos());
    }

    StreamState stream() {
        return stream;
    }

    /** Joins the fill in flight of this key if the rules let this reader, else begins one: then the returned fill must be sent by the caller. */
    public @Nullable Fill join(Relation relation, long hash, byte[] key, FillWaiter waiter) {
        Partition partition = table.of(hash);
        KeyId id = new KeyId(relation.id(), hash, key);
        cache.lock(hash);
        try {
            KeyState state = partition.state(id);
            Fill open = state.fills.isEmpty() ? null : state.fills.getLast();
            if (open != null && !open.sent) {
                open.leaders.add(waiter);
            } else if (open != null && mayFollow(open)) {
                open.followers.add(waiter);
            } else {
                return begin(relation, id, state, waiter);
            }
        } finally {
            cache.unlock(hash);
        }
        counters.add(Counter.SINGLEFLIGHT_WAITERS);
        return null;
    }

    private Fill begin(Relation relation, KeyId id, KeyState state, FillWaiter waiter) {
        long generation = stream.generation();
        Fill fill = new Fill(
                relation, id.hash(), id.bytes(), generation, relation.space(), beginSequence.incrementAndGet());
        fill.leaders.add(waiter);
        state.fills.add(fill);
        if (!rules.on(Rule.FENCE_AT_STORE)) {
            fill.early = relation.fence.get();
            fill.early = state.fenced() ? fill.early.with(state.highestXid(), Integer.MAX_VALUE) : fill.early;
        }
        fillsInFlight.increment();
        counters.add(Counter.SINGLEFLIGHT_LEADERS);
        return fill;
    }

    /** Whether a reader who comes now may wait for a fill that was sent before (rules FOLLOWERS_PASS, FOLLOWER_AGE): not if it cannot pass any more. */
    private boolean mayFollow(Fill fill) {
        boolean young = clock.nanos() - fill.sentNanos < maxStalenessNanos || !rules.on(Rule.FOLLOWER_AGE);
        boolean mayPass = stream.isReady() && storable(fill, stream) || !rules.on(Rule.FOLLOWERS_PASS);
        return young && mayPass;
    }

    /** Whether the fill belongs to this generation of the stream and to the relation's present space. */
    private boolean storable(Fill fill, StreamState now) {
        boolean sameGeneration = fill.generation == now.generation()
                && fill.space == fill.relation().space();
        return (sameGeneration || !rules.on(Rule.NEW_GENERATION))
                && !now.isDown()
                && fill.relation().caching();
    }

    /** To be called before the fill's query is written; readers that join later are followers. */
    public void sent(Fill fill) {
        cache.lock(fill.hash());
        try {
            fill.sentNanos = clock.nanos();
            fill.sent = true;
        } finally {
            cache.unlock(fill.hash());
        }
    }

    /**
     * The answer of a fill.
     *
     * @param from the server that the connection was opened to
     * @param lsn pg_current_wal_insert_lsn() of the statement, read after its snapshot
     * @param value null if the row is absent
     */
    public void arrived(Fill fill, ServerIdentity from, Snapshot snapshot, long lsn, byte @Nullable [] value) {
        meet(from);
        boolean early = !rules.on(Rule.STORE_ATOMIC) && passesNow(fill, from, snapshot);
        boolean deliver;
        boolean share;
        cache.lock(fill.hash());
        try {
            Partition partition = table.of(fill.hash());
            KeyId id = id(fill);
            KeyState state = remove(partition, id, fill);
            StreamState now = stream;
            boolean inOrder = !rules.on(Rule.OVERLAP_ORDER) || fill.inOrder(from, snapshot);
            boolean pass = early || passes(fill, partition, state, now, from, snapshot);
            counters.add(Counter.FILLS_REFUSED, pass && inOrder ? 0 : 1);
            boolean stored = pass && inOrder && store(fill, state, snapshot, lsn, value);
            deliver = inOrder && !isOlder(from, newest);
            share = deliver && (pass && now.isReady() || !rules.on(Rule.FOLLOWERS_PASS));
            if (deliver && !stored && state.passes(snapshot)) {
                // who gets this answer must not find an older entry afterwards; one that fails the key's fence is
                // itself the older one
                table.drop(fill.relation().space(), id);
                state.installedXid = 0;
            }
            if (deliver) {
                state.answered(from, snapshot);
            }
            if (isCurrent(from, now) && fill.generation == now.generation()) {
                forgetFence(partition, state, snapshot, now.generation());
            }
            partition.tidy(id, state);
        } finally {
            cache.unlock(fill.hash());
        }
        answer(fill.leaders, deliver, value);
        answer(fill.followers, share, value);
    }

    private void answer(List<FillWaiter> waiters, boolean row, byte @Nullable [] value) {
        for (FillWaiter waiter : waiters) {
            if (row) {
                waiter.row(value);
            } else {
                counters.add(Counter.SINGLEFLIGHT_AGAIN);
                waiter.again();
            }
        }
    }

    /** Only with rule STORE_ATOMIC switched off. */
    private boolean passesNow(Fill fill, ServerIdentity from, Snapshot snapshot) {
        cache.lock(fill.hash());
        try {
            Partition partition = table.of(fill.hash());
            KeyState state = partition.state(id(fill));
            return passes(fill, partition, state, stream, from, snapshot);
        } finally {
            cache.unlock(fill.hash());
        }
    }

    /** Whether the answer may be stored: rule 3, and everything that must be the same as when the fill was begun. */
    private boolean passes(
            Fill fill, Partition partition, KeyState state, StreamState now, ServerIdentity from, Snapshot snapshot) {
        return storable(fill, now)
                && isCurrent(from, now)
                && !isOlder(from, newest)
                && covers(snapshot)
                && (passesFences(fill, partition, state, snapshot) || !rules.on(Rule.FENCE));
    }

    private boolean passesFences(Fill fill, Partition partition, KeyState state, Snapshot snapshot) {
        XidFence early = fill.early;
        if (early != null) {
            return early.passes(snapshot);
        }
        return state.passes(snapshot)
                && partition.floor().passes(snapshot)
                && (fill.relation().fence.get().passes(snapshot) || !rules.on(Rule.RELATION_FENCE))
                && everything.get().passes(snapshot);
    }

    /** Rule IDENTITY. */
    private boolean isCurrent(ServerIdentity from, StreamState now) {
        return from.equals(now.server()) || !rules.on(Rule.IDENTITY);
    }

    /** Whether a server was there before another one that we know: what it says may be lost or long replaced. */
    private boolean isOlder(ServerIdentity from, @Nullable ServerIdentity known) {
        return known != null && rules.on(Rule.IDENTITY) && from.isBefore(known);
    }

    /**
     * Learns of a newer server than the stream's before any of its rows is given out. From then on there are no hits until the stream comes
     * from it: they could be older than such a row.
     */
    void meet(ServerIdentity from) {
        if (from.equals(newest)) {
            return;
        }
        synchronized (freshness) {
            if (newest == null || newest.isBefore(from)) {
                newest = from;
                freshness.server(stream.server(), from);
            }
        }
    }

    private boolean covers(Snapshot snapshot) {
        Cover needed = purge.cover();
        if (needed == null || !rules.on(Rule.SLOT_COVER)) {
            return true;
        }
        if (!rules.on(Rule.SLOT_COVER_EXACT)) {
            return Arrays.stream(snapshot.running()).noneMatch(needed.snapshot()::sees);
        }
        return snapshot.covers(needed.snapshot());
    }

    private boolean store(Fill fill, KeyState state, Snapshot snapshot, long lsn, byte @Nullable [] value) {
        long xmin = rules.on(Rule.SKIP_BELOW_XMIN) ? snapshot.xmin() : snapshot.xmax();
        int space = rules.on(Rule.NEW_GENERATION) ? fill.space : fill.relation().space();
        state.installedXid = 0;
        return cache.put(space, fill.hash(), fill.key(), value, xmin, lsn) == Cache.Put.STORED;
    }

    /** Rule 4 for the key of a fill that just arrived. */
    private void forgetFence(Partition partition, KeyState state, Snapshot snapshot, long generation) {
        state.shown(snapshot, beginSequence.get());
        if (state.drained(generation)) {
            partition.unfence(state);
        }
    }

    /** The fill failed; its waiters get the cause. */
    public void failed(Fill fill, Throwable cause) {
        cache.lock(fill.hash());
        try {
            Partition partition = table.of(fill.hash());
            KeyId id = id(fill);
            partition.tidy(id, remove(partition, id, fill));
        } finally {
            cache.unlock(fill.hash());
        }
        fill.leaders.forEach(w -> w.failed(cause));
        fill.followers.forEach(w -> w.failed(cause));
    }

    /** Takes the fill out of the table: nobody joins it any more, and its waiters belong to the caller. */
    private KeyState remove(Partition partition, KeyId id, Fill fill) {
        Check.that(!fill.over, "a fill ends once");
        fill.over = true;
        KeyState state = partition.state(id);
        state.fills.remove(fill);
        fillsInFlight.decrement();
        return state;
    }

    private static KeyId id(Fill fill) {
        return new KeyId(fill.relation().id(), fill.hash(), fill.key());
    }

    // ---- own writes

    /** A write of this node begins. */
    public OwnWrite beginOwnWrite() {
        return ownWrites.begin();
    }

    /** The newest server that anybody has spoken to. */
    @Nullable
    ServerIdentity newest() {
        return newest;
    }

    // ---- administration

    /** Drops one key's entry; true if there was one. */
    public boolean invalidate(Relation relation, long hash, byte[] key) {
        cache.lock(hash);
        try {
            return table.drop(relation.space(), new KeyId(relation.id(), hash, key));
        } finally {
            cache.unlock(hash);
        }
    }

    /** Drops all entries of the relation; how many there were. */
    public long invalidate(Relation relation) {
        counters.add(Counter.FLUSHES_ADMIN);
        return newSpace(relation);
    }

    /** Bytes of the server's WAL segments (setting wal_segment_size), if known: a position just behind a segment's header is then understood (F24). */
    public void walSegmentBytes(long bytes) {
        position.segmentBytes(bytes);
    }

    /** An answered sample. */
    public void sample(Sample sample) {
        long sequence = beginSequence.get();
        meet(sample.server());
        StreamState now = stream;
        boolean known = sample.server().equals(now.server()) || !rules.on(Rule.SAMPLE_IDENTITY);
        boolean counts = !now.isDown() && known && sample.sentNanos() - now.sinceNanos() >= 0;
        if (!counts) {
            counters.add(Counter.SAMPLES_REFUSED);
            return;
        }
        synchronized (purging) {
            if (stream.generation() != now.generation()) {
                return;
            }
            if (!freshness.add(sample)) {
                counters.add(Counter.SAMPLES_REFUSED);
            }
            if (sample.server().equals(now.server())) {
                purge.purge(sample.snapshot(), sequence, now.generation());
            }
        }
    }

    /** For tests. */
    boolean remembers() {
        return purge.remembers();
    }

    /** State for users. */
    public CoherenceStatus status() {
        StreamState now = stream;
        long nanos = clock.nanos();
        boolean hits = now.isReady() && freshness.fresh(nanos);
        boolean claims = now.isReady() && freshness.claims(nanos);
        Mode mode = !wantFenced ? Mode.TRACKED : claims ? Mode.FENCED : Mode.DEGRADED;
        return new CoherenceStatus(
                mode,
                reason(now, hits, mode),
                now.state(),
                position.get(),
                freshness.ageNanos(nanos),
                hits,
                table.fencesHeld(),
                fillsInFlight.sum());
    }

    private String reason(StreamState now, boolean hits, Mode mode) {
        return switch (now.state()) {
            case DOWN -> now.reason();
            case CATCHING_UP -> "the stream is catching up";
            case READY ->
                !hits
                        ? "the stream is not proven to be fresher than max-staleness"
                        : mode == Mode.DEGRADED ? freshness.reason() : "";
        };
    }

    /** What was counted since start. */
    public Counters counters() {
        return counters;
    }

    // ---- stream

    @Override
    public void down(String reason) {
        synchronized (purging) {
            StreamState old = stream;
            if (!rules.on(Rule.FLUSH_BEFORE_STAND_IN) && old.isReady()) {
                return;
            }
            flush(reason);
        }
    }

    private void flush(String reason) {
        stream = new StreamState(stream.generation() + 1, State.DOWN, stream.server(), 0, 0, reason);
        freshness.reset(reason);
        purge.cover(null);
        everything.clear();
        table.onEach(Partition::clearFences);
        for (Relation relation : relations.values()) {
            relation.fence.clear();
            newSpace(relation);
        }
        counters.add(Counter.FLUSHES_STREAM);
    }

    @Override
    public void slotReady(ServerIdentity server, Snapshot slotSnapshot, long startLsn) {
        synchronized (purging) {
            if (!stream.isDown() && !rules.on(Rule.FLUSH_BEFORE_STAND_IN)) {
                flush("");
            }
            Check.that(stream.isDown(), "a slot is made only while the stream is down");
            synchronized (freshness) {
                newest = server; // whoever is streamed now counts, even if it was replaced once
                freshness.server(server, server);
            }
            table.onEach(partition -> partition.belongTo(server));
            purge.cover(new Cover(slotSnapshot, -1));
            position.set(startLsn);
            stream = new StreamState(stream.generation(), State.CATCHING_UP, server, clock.nanos(), Long.MAX_VALUE, "");
        }
    }

    @Override
    public void catchUpTo(long lsn) {
        Check.that(stream.state() == State.CATCHING_UP, "catching up comes after the slot");
        stream = stream.withTarget(rules.on(Rule.CATCH_UP) ? lsn : 0);
        moved();
    }

    @Override
    public void apply(CommittedTransaction transaction, long endLsn) {
        Check.that(!stream.isDown(), "events come from a stream");
        long xid = transaction.xid();
        if (transaction.isCollapsed()) {
            counters.add(Counter.DIRTY_KEY_LIMIT_FALLBACKS);
        }
        if (transaction.isEverything()) {
            counters.add(Counter.FLUSHES_EVERYTHING);
            everything.add(xid);
            relations.values().forEach(this::newSpace);
        }
        transaction.relations().forEach(r -> wholeRelation(r, xid));
        transaction.keys().forEach((relation, keys) -> keys.forEach(k -> key(relation, k, xid)));
        applied(endLsn);
    }

    private void wholeRelation(Relation relation, long xid) {
        counters.add(Counter.FLUSHES_RELATION);
        counters.add(Counter.RELATION_FENCES);
        if (rules.on(Rule.FENCE_BEFORE_SWEEP)) {
            relation.fence.add(xid);
            newSpace(relation);
        } else {
            newSpace(relation);
            relation.fence.add(xid);
        }
    }

    private void key(Relation relation, CommittedTransaction.Key key, long xid) {
        KeyId id = new KeyId(relation.id(), key.hash(), key.bytes());
        table.onKey(id, (partition, state) -> {
            state.foreign(xid);
            long xmin = cache.xmin(relation.space(), id.hash(), id.bytes());
            boolean spared = xmin >= 0 && isSpared(state, xmin, xid);
            if (rules.on(Rule.OWN_SKIP_EXACT)) {
                state.installedXid = 0;
            }
            if (!spared) {
                table.drop(relation.space(), id);
            }
            boolean lay =
                    (!spared || rules.on(Rule.SKIP_STILL_FENCES)) && (xmin >= 0 || rules.on(Rule.ABSENT_KEYS_FENCED));
            if (lay) {
                table.lay(partition, state, xid, false);
            }
        });
    }

    /** Rule 5: whether the entry already shows this transaction, or is what it wrote. */
    private boolean isSpared(KeyState state, long xmin, long xid) {
        if (state.installedXid == 0) {
            return xid < xmin;
        }
        return rules.on(Rule.OWN_SKIP_EXACT) ? xid == state.installedXid : xid <= state.installedXid;
    }

    @Override
    public void applied(long lsn) {
        if (lsn > position.get()) {
            position.set(lsn);
            moved();
        }
    }

    private void moved() {
        StreamState now = stream;
        if (now.state() == State.CATCHING_UP && position.reached(now.target())) {
            stream = now.ready();
        }
        freshness.moved();
    }
}
