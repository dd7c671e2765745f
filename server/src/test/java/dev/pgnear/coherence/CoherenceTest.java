package dev.pgnear.coherence;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgnear.base.KeyHash;
import dev.pgnear.cache.Cache;
import dev.pgnear.coherence.CoherenceStatus.Mode;
import dev.pgnear.coherence.CoherenceStatus.State;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each rule by itself, with one thread. */
class CoherenceTest {
    private static final long MAX_STALENESS = 1000;
    private static final long GRACE = 100;
    private static final ServerIdentity SERVER = new ServerIdentity(7, 1, 1000);
    private static final ServerIdentity PROMOTED = new ServerIdentity(7, 2, 2000);

    private final MapCache cache = new MapCache();
    private long now = 5_000;
    private Coherence node = new Coherence(cache, () -> now, true, MAX_STALENESS, GRACE);
    private Relation items = node.newRelation("items");
    private final byte[] key = "a".getBytes(UTF_8);
    private final byte[] other = "b".getBytes(UTF_8);

    /** Remembers its answer. */
    private static final class Reader implements FillWaiter {
        final List<String> answers = new ArrayList<>();

        @Override
        public void row(byte @Nullable [] value) {
            answers.add(value == null ? "absent" : new String(value, UTF_8));
        }

        @Override
        public void again() {
            answers.add("again");
        }

        @Override
        public void failed(Throwable cause) {
            answers.add("failed " + cause.getMessage());
        }

        String answer() {
            assertThat(answers).as("exactly one answer").hasSize(1);
            return answers.getFirst();
        }
    }

    @BeforeEach
    void ready() {
        start(node, items);
    }

    private void start(Coherence n, Relation... relations) {
        n.down("begin");
        n.slotReady(SERVER, snapshot(10, 10), 1000);
        n.catchUpTo(1000);
        for (Relation r : relations) {
            assertThat(n.resume(r, n.suspensions(r))).isTrue();
        }
        n.sample(new Sample(now, SERVER, snapshot(10, 10), 1000, true, ""));
    }

    private static Snapshot snapshot(long xmin, long xmax, long... running) {
        return new Snapshot(xmin, xmax, running);
    }

    private long hash(byte[] k) {
        return KeyHash.of(items.id(), k, 0, k.length);
    }

    private String read(byte[] k) {
        TestSink sink = new TestSink();
        int n = node.read(items, hash(k), k, 0, k.length, sink);
        return n == Cache.MISS ? "miss" : n == Cache.ABSENT ? "absent" : new String(sink.value(), UTF_8);
    }

    private @Nullable Fill join(Reader reader) {
        return node.join(items, hash(key), key, reader);
    }

    private Fill begin(Reader reader) {
        return begin(reader, key);
    }

    private Fill begin(Reader reader, byte[] k) {
        Fill fill = Objects.requireNonNull(node.join(items, hash(k), k, reader), "a fill of its own");
        node.sent(fill);
        return fill;
    }

    private void arrived(Fill fill, Snapshot snapshot, String value) {
        node.arrived(fill, SERVER, snapshot, 1000, value.getBytes(UTF_8));
    }

    private void fill(byte[] k, Snapshot snapshot, String value) {
        arrived(begin(new Reader(), k), snapshot, value);
    }

    private CommittedTransaction event(long xid, byte[]... keys) {
        CommittedTransaction t = new CommittedTransaction(xid, 4096);
        for (byte[] k : keys) {
            t.key(items, k);
        }
        return t;
    }

    private void sample(Snapshot snapshot) {
        node.sample(new Sample(now, SERVER, snapshot, node.appliedLsn(), true, ""));
    }

    // ---- hits

    @Test
    void aFilledKeyIsAHitUntilTheLeaseEnds() {
        fill(key, snapshot(10, 10), "v1");
        assertThat(read(key)).isEqualTo("v1");
        now += MAX_STALENESS - 1;
        assertThat(read(key)).isEqualTo("v1");
        now += 1;
        assertThat(read(key)).isEqualTo("miss");
        assertThat(node.status().reason()).contains("max-staleness");
        sample(snapshot(10, 10));
        assertThat(read(key)).isEqualTo("v1");
    }

    @Test
    void anAbsentRowIsRemembered() {
        node.arrived(begin(new Reader()), SERVER, snapshot(10, 10), 1000, null);
        assertThat(read(key)).isEqualTo("absent");
    }

    @Test
    void noHitsBeforeTheStreamHasCaughtUp() {
        node.down("lost");
        assertThat(node.status().state()).isEqualTo(State.DOWN);
        assertThat(node.status().reason()).isEqualTo("lost");
        node.slotReady(SERVER, snapshot(10, 10), 1000);
        sample(snapshot(10, 10));
        fill(key, snapshot(10, 10), "v1");
        assertThat(node.status().state()).isEqualTo(State.CATCHING_UP);
        node.catchUpTo(2000);
        assertThat(read(key)).isEqualTo("miss");
        node.applied(1999);
        assertThat(read(key)).isEqualTo("miss");
        node.applied(2000);
        assertThat(read(key)).isEqualTo("v1");
    }

    // ---- fences

    @Test
    void anEventDropsTheEntryAndFencesTheKey() {
        fill(key, snapshot(10, 10), "v1");
        node.apply(event(12, key), 1100);
        assertThat(read(key)).isEqualTo("miss");
        fill(key, snapshot(10, 20, 12), "v1");
        assertThat(read(key)).as("12 is running in this snapshot").isEqualTo("miss");
        fill(key, snapshot(10, 12), "v1");
        assertThat(read(key)).as("12 is at xmax").isEqualTo("miss");
        fill(key, snapshot(10, 20, 11), "v2");
        assertThat(read(key)).isEqualTo("v2");
        assertThat(node.counters().get(Counter.FILLS_REFUSED)).isEqualTo(2);
        assertThat(node.counters().get(Counter.INVALIDATIONS)).isEqualTo(1);
    }

    @Test
    void aFillThatWasSentBeforeTheEventIsChecked() {
        Fill fill = begin(new Reader());
        node.apply(event(12, key), 1100);
        arrived(fill, snapshot(10, 12), "v1");
        assertThat(read(key)).isEqualTo("miss");
    }

    @Test
    void theReaderOfARefusedFillGetsItsRow() {
        node.apply(event(12, key), 1100);
        Reader reader = new Reader();
        arrived(begin(reader), snapshot(10, 12), "v1");
        assertThat(reader.answer()).isEqualTo("v1");
    }

    @Test
    void onlyTheLastAppliedXidOfAKeyCounts() {
        node.apply(event(30, key), 1100);
        node.apply(event(20, key), 1200);
        fill(key, snapshot(20, 40, 20), "v30");
        assertThat(read(key)).isEqualTo("miss");
        fill(key, snapshot(40, 40), "v20");
        assertThat(read(key)).isEqualTo("v20");
    }

    @Test
    void anEntryThatAlreadyShowsTheTransactionStaysButItsKeyIsFenced() {
        Fill slow = begin(new Reader());
        now += MAX_STALENESS;
        sample(snapshot(10, 10));
        Fill quick = begin(new Reader());
        arrived(quick, snapshot(13, 13), "v2");
        node.apply(event(12, key), 1100);
        assertThat(read(key)).isEqualTo("v2");
        arrived(slow, snapshot(10, 12), "v1");
        assertThat(read(key)).isEqualTo("v2");
        assertThat(node.status().fences()).isEqualTo(1);
    }

    @Test
    void aWholeRelationIsDroppedAndFenced() {
        fill(key, snapshot(10, 10), "v1");
        Fill before = begin(new Reader(), other);
        CommittedTransaction t = new CommittedTransaction(12, 4096);
        t.relation(items);
        node.apply(t, 1100);
        assertThat(read(key)).isEqualTo("miss");
        arrived(before, snapshot(20, 20), "v1");
        assertThat(read(other)).as("begun in the old space").isEqualTo("miss");
        fill(key, snapshot(10, 12), "v1");
        assertThat(read(key)).as("12 is running").isEqualTo("miss");
        fill(key, snapshot(20, 20), "v2");
        assertThat(read(key)).isEqualTo("v2");
    }

    @Test
    void everythingIsEveryRelation() {
        Relation second = node.newRelation("second");
        node.resume(second, 0);
        fill(key, snapshot(10, 10), "v1");
        CommittedTransaction t = new CommittedTransaction(12, 4096);
        t.everything();
        node.apply(t, 1100);
        assertThat(read(key)).isEqualTo("miss");
        Fill f = Objects.requireNonNull(node.join(second, 1, other, new Reader()));
        arrived(f, snapshot(10, 12), "v1");
        assertThat(node.read(second, 1, other, 0, 1, new TestSink())).isEqualTo(Cache.MISS);
    }

    @Test
    void tooManyKeysBecomeTheirRelation() {
        fill(other, snapshot(10, 10), "v1");
        CommittedTransaction t = new CommittedTransaction(12, 2);
        for (String k : List.of("x", "y", "z")) {
            t.key(items, k.getBytes(UTF_8));
        }
        node.apply(t, 1100);
        assertThat(read(other)).isEqualTo("miss");
        assertThat(node.counters().get(Counter.DIRTY_KEY_LIMIT_FALLBACKS)).isEqualTo(1);
    }

    @Test
    void tooManyFencesBecomeAFloor() {
        node = new Coherence(cache, () -> now, true, MAX_STALENESS, GRACE, EnumSet.noneOf(Rule.class), 1);
        items = node.newRelation("items");
        start(node, items);
        byte[] same = collidingWith(key);
        node.apply(event(12, key), 1100);
        node.apply(event(15, same), 1200);
        assertThat(node.counters().get(Counter.FENCE_LIMIT_FALLBACKS)).isEqualTo(1);
        assertThat(node.status().fences()).isZero();
        fill(key, snapshot(14, 20, 14), "v2");
        assertThat(read(key)).as("xmin is not above the floor").isEqualTo("miss");
        fill(key, snapshot(16, 20), "v2");
        assertThat(read(key)).isEqualTo("v2");
        sample(snapshot(16, 20));
        fill(other, snapshot(11, 16, 11), "v1");
        assertThat(read(other)).as("the floor is gone").isEqualTo("v1");
    }

    private byte[] collidingWith(byte[] k) {
        for (int i = 0; ; i++) {
            byte[] candidate = ("c" + i).getBytes(UTF_8);
            if (cache.partition(hash(candidate)) == cache.partition(hash(k))) {
                return candidate;
            }
        }
    }

    // ---- purging

    @Test
    void aFenceGoesWhenASampleShowsItsXidFinished() {
        node.apply(event(12, key), 1100);
        sample(snapshot(10, 20, 12));
        assertThat(node.status().fences()).isEqualTo(1);
        sample(snapshot(20, 20));
        assertThat(node.status().fences()).isZero();
    }

    @Test
    void aFenceOutlivesTheFillsOfItsKeyThatAreOlderThanTheSample() {
        Fill older = begin(new Reader());
        Fill elsewhere = begin(new Reader(), other);
        node.apply(event(12, key), 1100);
        sample(snapshot(20, 20));
        assertThat(node.status().fences()).isEqualTo(1);
        arrived(older, snapshot(10, 12), "v1");
        assertThat(read(key)).isEqualTo("miss");
        sample(snapshot(20, 20));
        assertThat(node.status().fences()).isZero();
        node.failed(elsewhere, new IllegalStateException("closed"));
    }

    @Test
    void aFillThatBeganAfterTheSampleDoesNotKeepTheFence() {
        node.apply(event(12, key), 1100);
        Fill first = begin(new Reader());
        now += MAX_STALENESS;
        sample(snapshot(20, 20));
        Fill second = begin(new Reader());
        arrived(first, snapshot(10, 20, 12), "v1");
        sample(snapshot(10, 20, 12));
        assertThat(node.status().fences()).isZero();
        arrived(second, snapshot(20, 20), "v2");
        assertThat(read(key)).isEqualTo("v2");
    }

    @Test
    void aRelationFenceOutlivesEveryOlderFillOfTheRelation() {
        CommittedTransaction t = new CommittedTransaction(12, 4096);
        t.relation(items);
        node.apply(t, 1100);
        Fill older = begin(new Reader(), other);
        sample(snapshot(20, 20));
        arrived(older, snapshot(10, 12), "v1");
        assertThat(read(other)).isEqualTo("miss");
        assertThat(items.fence.get().isNone()).isFalse();
        sample(snapshot(20, 20));
        assertThat(items.fence.get().isNone()).isTrue();
    }

    // ---- single flight

    @Test
    void readersBeforeTheQueryIsSentAreLeaders() {
        Reader first = new Reader();
        Reader second = new Reader();
        Fill fill = Objects.requireNonNull(join(first));
        assertThat(join(second)).isNull();
        node.sent(fill);
        node.apply(event(12, key), 1100);
        arrived(fill, snapshot(10, 12), "v1");
        assertThat(first.answer()).isEqualTo("v1");
        assertThat(second.answer()).isEqualTo("v1");
        assertThat(node.counters().get(Counter.SINGLEFLIGHT_LEADERS)).isEqualTo(1);
        assertThat(node.counters().get(Counter.SINGLEFLIGHT_WAITERS)).isEqualTo(1);
    }

    @Test
    void aFollowerGetsTheRowOnlyIfTheFillPasses() {
        Reader passes = new Reader();
        Fill fill = begin(new Reader());
        assertThat(join(passes)).isNull();
        arrived(fill, snapshot(10, 12), "v1");
        assertThat(passes.answer()).isEqualTo("v1");

        Reader refused = new Reader();
        Fill second = begin(new Reader());
        assertThat(join(refused)).isNull();
        node.apply(event(12, key), 1100);
        arrived(second, snapshot(10, 12), "v1");
        assertThat(refused.answer()).isEqualTo("again");
    }

    @Test
    void aFollowerIsSentBackWhenTheStreamIsLost() {
        Reader follower = new Reader();
        Fill fill = begin(new Reader());
        assertThat(join(follower)).isNull();
        node.down("lost");
        arrived(fill, snapshot(20, 20), "v1");
        assertThat(follower.answer()).isEqualTo("again");
    }

    @Test
    void nobodyFollowsAFillThatCannotPassAnyMore() {
        Fill fill = begin(new Reader());
        now += MAX_STALENESS;
        node.sent(Objects.requireNonNull(join(new Reader()), "too old"));
        assertThat(join(new Reader())).isNull();
        node.suspend(items);
        assertThat(join(new Reader())).as("suspended").isNotNull();
        node.down("lost");
        arrived(fill, snapshot(10, 10), "v1");
    }

    @Test
    void ofOverlappingFillsTheOlderSnapshotIsGivenToNobody() {
        Reader older = new Reader();
        Fill slow = begin(older);
        now += MAX_STALENESS;
        Reader newer = new Reader();
        Fill quick = begin(newer);
        arrived(quick, snapshot(20, 20), "v2");
        assertThat(newer.answer()).isEqualTo("v2");
        arrived(slow, snapshot(10, 20, 12), "v1");
        assertThat(older.answer()).isEqualTo("again");
        sample(snapshot(20, 20));
        assertThat(read(key)).isEqualTo("v2");
    }

    @Test
    void aFailedFillTellsAllItsReaders() {
        Reader leader = new Reader();
        Reader follower = new Reader();
        Fill fill = begin(leader);
        join(follower);
        node.failed(fill, new IllegalStateException("closed"));
        assertThat(leader.answer()).isEqualTo("failed closed");
        assertThat(follower.answer()).isEqualTo("failed closed");
        assertThat(node.status().fillsInFlight()).isZero();
        assertThatThrownBy(() -> node.failed(fill, new IllegalStateException("again")))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aReaderMayJoinAgainFromItsCallback() {
        Fill fill = begin(new Reader());
        List<Fill> begun = new ArrayList<>();
        Consumer<String> again = w -> begun.add(Objects.requireNonNull(join(new Reader())));
        node.join(items, hash(key), key, new FillWaiter() {
            @Override
            public void row(byte @Nullable [] value) {}

            @Override
            public void again() {
                again.accept("");
            }

            @Override
            public void failed(Throwable cause) {}
        });
        node.apply(event(12, key), 1100);
        arrived(fill, snapshot(10, 12), "v1");
        assertThat(begun).hasSize(1);
    }

    // ---- cold start, reconnect, identity

    @Test
    void aFillMustCoverTheSlotsOwnSnapshot() {
        node.down("lost");
        node.slotReady(SERVER, snapshot(20, 20), 2000);
        node.catchUpTo(2000);
        sample(snapshot(10, 20, 12));
        fill(key, snapshot(10, 20, 12), "v1");
        assertThat(read(key)).as("12 is running").isEqualTo("miss");
        fill(key, snapshot(10, 19), "v1");
        assertThat(read(key)).as("19 counts as running").isEqualTo("miss");
        fill(key, snapshot(20, 20), "v2");
        assertThat(read(key)).isEqualTo("v2");
    }

    @Test
    void losingTheStreamDropsEverythingAndRefusesOldFills() {
        fill(key, snapshot(10, 10), "v1");
        Fill old = begin(new Reader(), other);
        node.apply(event(12, key), 1100);
        node.down("lost");
        assertThat(read(key)).isEqualTo("miss");
        assertThat(node.status().fences()).isZero();
        node.slotReady(SERVER, snapshot(10, 10), 1000);
        node.catchUpTo(1000);
        sample(snapshot(10, 10));
        arrived(old, snapshot(20, 20), "v1");
        assertThat(read(key)).isEqualTo("miss");
        assertThat(read(other)).isEqualTo("miss");
        fill(key, snapshot(20, 20), "v2");
        assertThat(read(key)).isEqualTo("v2");
    }

    @Test
    void anotherServersAnswersAreNotStored() {
        Reader leader = new Reader();
        Reader follower = new Reader();
        Fill fill = begin(leader);
        join(follower);
        node.arrived(fill, PROMOTED, snapshot(20, 20), 1000, "v2".getBytes(UTF_8));
        assertThat(read(key)).isEqualTo("miss");
        assertThat(leader.answer()).as("a newer server's row is right").isEqualTo("v2");
        assertThat(follower.answer()).isEqualTo("again");
    }

    @Test
    void anEarlierServersAnswersAreGivenToNobody() {
        node.down("lost");
        node.slotReady(PROMOTED, snapshot(10, 10), 1000);
        node.catchUpTo(1000);
        Reader leader = new Reader();
        arrived(begin(leader), snapshot(20, 20), "v1");
        assertThat(leader.answer()).isEqualTo("again");
    }

    @Test
    void aRowOfANewerServerEndsTheHits() {
        fill(key, snapshot(10, 10), "v1");
        node.arrived(begin(new Reader(), other), PROMOTED, snapshot(20, 20), 1000, "v2".getBytes(UTF_8));
        assertThat(read(key)).as("may be older than the row just given out").isEqualTo("miss");
        assertThat(node.superseded()).isTrue();
        sample(snapshot(20, 20));
        assertThat(read(key)).isEqualTo("miss");
        Reader reader = new Reader();
        arrived(begin(reader), snapshot(20, 20), "v1");
        assertThat(reader.answer()).isEqualTo("again");
        node.down("lost");
        node.slotReady(PROMOTED, snapshot(20, 20), 1000);
        node.catchUpTo(1000);
        node.sample(new Sample(now, PROMOTED, snapshot(20, 20), 1000, true, ""));
        node.arrived(begin(new Reader()), PROMOTED, snapshot(20, 20), 1000, "v2".getBytes(UTF_8));
        assertThat(read(key)).isEqualTo("v2");
    }

    @Test
    void aStreamOpenedAnewCountsEvenIfItsServerWasReplacedOnce() {
        node.arrived(begin(new Reader(), other), PROMOTED, snapshot(20, 20), 1000, "v2".getBytes(UTF_8));
        start(node);
        assertThat(node.superseded()).isFalse();
        fill(key, snapshot(20, 20), "v1");
        assertThat(read(key)).isEqualTo("v1");
    }

    @Test
    void anotherServersSamplesDoNotCount() {
        now += MAX_STALENESS;
        node.sample(new Sample(now, PROMOTED, snapshot(20, 20), 0, true, ""));
        assertThat(node.status().hitsAllowed()).isFalse();
        assertThat(node.counters().get(Counter.SAMPLES_REFUSED)).isEqualTo(1);
    }

    // ---- freshness, lease, claim

    @Test
    void aSampleCountsWhenItsPositionIsAppliedAsOfItsSending() {
        long sent = now + 500;
        now = sent + 200;
        node.sample(new Sample(sent, SERVER, snapshot(10, 10), 1500, true, ""));
        now = sent + MAX_STALENESS - 1;
        assertThat(node.status().hitsAllowed()).isFalse();
        node.applied(1500);
        assertThat(node.status().hitsAllowed()).isTrue();
        assertThat(node.status().freshnessNanos()).isEqualTo(MAX_STALENESS - 1);
        now++;
        assertThat(node.status().hitsAllowed()).isFalse();
    }

    @Test
    void aPositionJustBehindAPageHeaderCountsAtThePagesBeginning() {
        AppliedPosition position = new AppliedPosition();
        position.set(8192 * 5);
        assertThat(position.reached(8192 * 5 + 24)).isTrue();
        assertThat(position.reached(8192 * 5 + 32)).isFalse();
        assertThat(position.reached(8192 * 5 + 40))
                .as("may be the end of a record")
                .isFalse();
        assertThat(position.reached(8192 * 6 + 24)).isFalse();
        position.set(16 << 20);
        assertThat(position.reached((16 << 20) + 40)).isFalse();
        position.segmentBytes(16 << 20);
        assertThat(position.reached((16 << 20) + 40)).isTrue();
    }

    @Test
    void theFencedClaimBeginsAGraceAfterAPassedSampleThatSawTheNodeRequired() {
        assertThat(node.status().mode()).isEqualTo(Mode.DEGRADED);
        assertThat(node.status().reason()).contains("in force");
        now += GRACE - 1;
        sample(snapshot(10, 10));
        assertThat(node.fenced()).isFalse();
        now += 1;
        sample(snapshot(10, 10));
        assertThat(node.fenced()).isTrue();
        assertThat(node.status().mode()).isEqualTo(Mode.FENCED);
        assertThat(node.status().reason()).isEmpty();
        now += MAX_STALENESS;
        assertThat(node.fenced()).as("leased").isFalse();
    }

    @Test
    void theFencedClaimEndsAtOnceWhenASampleFindsTheNodeNotRequired() {
        now += GRACE;
        sample(snapshot(10, 10));
        assertThat(node.fenced()).isTrue();
        node.sample(new Sample(now, SERVER, snapshot(10, 10), 9999, false, "not in synchronous_standby_names"));
        assertThat(node.status().mode()).isEqualTo(Mode.DEGRADED);
        assertThat(node.status().reason()).isEqualTo("not in synchronous_standby_names");
        assertThat(node.status().hitsAllowed())
                .as("hits follow the tracked rules")
                .isTrue();
        sample(snapshot(10, 10));
        assertThat(node.fenced()).as("the grace begins again").isFalse();
    }

    @Test
    void aTrackedNodeNeverClaims() {
        Coherence tracked = new Coherence(cache, () -> now, false, MAX_STALENESS, 0);
        start(tracked);
        now++;
        tracked.sample(new Sample(now, SERVER, snapshot(10, 10), 1000, true, ""));
        assertThat(tracked.fenced()).isFalse();
        assertThat(tracked.status().mode()).isEqualTo(Mode.TRACKED);
        assertThat(tracked.status().reason()).isEmpty();
    }

    // ---- attach, suspend

    @Test
    void aSuspendedRelationStoresNothing() {
        fill(key, snapshot(10, 10), "v1");
        long seen = node.suspensions(items);
        Fill before = begin(new Reader(), other);
        node.suspend(items);
        assertThat(read(key)).isEqualTo("miss");
        fill(key, snapshot(10, 10), "v1");
        assertThat(read(key)).isEqualTo("miss");
        assertThat(node.resume(items, seen))
                .as("verified before the suspension")
                .isFalse();
        assertThat(node.resume(items, node.suspensions(items))).isTrue();
        arrived(before, snapshot(10, 10), "v1");
        assertThat(read(other)).isEqualTo("miss");
        fill(key, snapshot(10, 10), "v1");
        assertThat(read(key)).isEqualTo("v1");
        node.forget(items);
        assertThat(read(key)).isEqualTo("miss");
        assertThat(node.resume(items, node.suspensions(items))).isFalse();
    }

    @Test
    void keyFencesOutliveASuspension() {
        node.apply(event(12, key), 1100);
        node.suspend(items);
        node.resume(items, node.suspensions(items));
        fill(key, snapshot(10, 12), "v1");
        assertThat(read(key)).isEqualTo("miss");
    }

    @Test
    void invalidateDropsOneOrAll() {
        fill(key, snapshot(10, 10), "v1");
        fill(other, snapshot(10, 10), "v1");
        assertThat(node.invalidate(items, hash(key), key)).isTrue();
        assertThat(node.invalidate(items, hash(key), key)).isFalse();
        fill(key, snapshot(10, 10), "v1");
        assertThat(node.invalidate(items)).isEqualTo(2);
        assertThat(read(key)).isEqualTo("miss");
    }

    // ---- own writes

    private OwnWrite write(byte[] k) {
        OwnWrite write = node.beginOwnWrite();
        write.key(items, hash(k), k);
        write.sent();
        return write;
    }

    private static void commit(OwnWrite write, long xid, String value) {
        write.wrote(SERVER, xid);
        write.committed(1100, new byte[][] {value.getBytes(UTF_8)}, true);
    }

    @Test
    void anOwnWriteIsInstalledAndSurvivesItsOwnEvent() {
        OwnWrite write = write(key);
        commit(write, 12, "own");
        assertThat(read(key)).isEqualTo("own");
        node.apply(event(12, key), 1100);
        assertThat(read(key)).isEqualTo("own");
        node.apply(event(11, key), 1200);
        assertThat(read(key)).as("only its own xid is skipped").isEqualTo("miss");
    }

    @Test
    void anOwnWriteIsInstalledWhenItsEventCameFirst() {
        OwnWrite write = write(key);
        node.apply(event(12, key), 1100);
        commit(write, 12, "own");
        assertThat(read(key)).isEqualTo("own");
        node.apply(event(13, key), 1200);
        assertThat(read(key)).isEqualTo("miss");
    }

    @Test
    void anOwnWriteFencesFillsThatDoNotSeeIt() {
        Fill before = begin(new Reader());
        Reader follower = new Reader();
        commit(write(key), 12, "own");
        assertThat(join(follower)).isNull();
        arrived(before, snapshot(10, 12), "v1");
        assertThat(read(key)).isEqualTo("own");
        assertThat(follower.answer()).isEqualTo("again");
    }

    @Test
    void anOwnFenceOutlivesTheEventOfAnEarlierWriter() {
        OwnWrite write = write(key);
        write.wrote(SERVER, 12);
        write.committed(1100, new byte[0][], false);
        node.apply(event(11, key), 1050);
        fill(key, snapshot(12, 12), "v11");
        assertThat(read(key)).isEqualTo("miss");
    }

    @Test
    void aForeignEventDuringTheWriteForbidsTheInstall() {
        OwnWrite write = write(key);
        node.apply(event(11, key), 1050);
        commit(write, 12, "own");
        assertThat(read(key)).isEqualTo("miss");
        assertThat(node.counters().get(Counter.OWN_INVALIDATIONS)).isEqualTo(1);
    }

    @Test
    void anotherOwnWritesReplyForbidsTheInstall() {
        OwnWrite first = write(key);
        OwnWrite second = write(key);
        commit(second, 13, "second");
        commit(first, 12, "first");
        assertThat(read(key)).isEqualTo("miss");
    }

    @Test
    void anAnswerDuringTheWriteForbidsTheInstall() {
        OwnWrite write = write(key);
        fill(key, snapshot(20, 20), "of a later writer whose event is still to come");
        commit(write, 12, "own");
        assertThat(read(key)).isEqualTo("miss");
    }

    @Test
    void aRestartedStreamForbidsTheInstall() {
        OwnWrite write = write(key);
        start(node);
        commit(write, 12, "own");
        assertThat(read(key)).isEqualTo("miss");
    }

    @Test
    void aStreamThatBeganDuringTheWriteForbidsTheInstall() {
        node.down("lost");
        OwnWrite write = write(key);
        node.slotReady(SERVER, snapshot(20, 20), 2000);
        node.catchUpTo(2000);
        sample(snapshot(20, 20));
        commit(write, 12, "own");
        assertThat(read(key)).as("a later writer may lie before the slot").isEqualTo("miss");
    }

    @Test
    void aRelationEventDuringTheWriteForbidsTheInstall() {
        OwnWrite write = write(key);
        CommittedTransaction t = new CommittedTransaction(11, 4096);
        t.relation(items);
        node.apply(t, 1050);
        commit(write, 12, "own");
        assertThat(read(key)).isEqualTo("miss");
    }

    @Test
    void anUnknownOutcomeInvalidatesAndFences() {
        fill(key, snapshot(10, 10), "v1");
        OwnWrite write = write(key);
        write.wrote(SERVER, 12);
        write.unknown();
        assertThat(read(key)).isEqualTo("miss");
        fill(key, snapshot(10, 12), "v1");
        assertThat(read(key)).isEqualTo("miss");
        OwnWrite rolledBack = write(other);
        fill(other, snapshot(10, 10), "v1");
        rolledBack.rolledBack();
        assertThat(read(other)).isEqualTo("v1");
        assertThatThrownBy(rolledBack::rolledBack).isInstanceOf(IllegalStateException.class);
    }

    // ---- several entries

    private boolean multi(Runnable between) {
        MultiRead multi = node.newMultiRead();
        multi.begin();
        multi.read(items, hash(key), key, 0, key.length, new TestSink());
        between.run();
        multi.read(items, hash(other), other, 0, other.length, new TestSink());
        return multi.valid();
    }

    @Test
    void severalEntriesAreOneSnapshotUnlessOneIsAheadOrAnApplyCame() {
        fill(key, snapshot(10, 10), "v1");
        assertThat(multi(() -> {})).as("a miss").isFalse();
        fill(other, snapshot(10, 10), "v1");
        assertThat(multi(() -> {})).isTrue();
        assertThat(multi(() -> node.apply(event(12), 1100))).isFalse();
        assertThat(multi(() -> start(node))).isFalse();
        fill(key, snapshot(10, 10), "v1");
        node.arrived(begin(new Reader(), other), SERVER, snapshot(20, 20), 1200, null);
        assertThat(multi(() -> {})).as("ahead").isFalse();
        node.applied(1200);
        assertThat(multi(() -> {})).isTrue();
    }

    @Test
    void theBarrierOfOwnReadsIsTheAppliedPosition() {
        assertThat(node.reached(1000)).isTrue();
        assertThat(node.reached(1001)).isFalse();
        node.applied(1001);
        assertThat(node.reached(1001)).isTrue();
        node.down("lost");
        assertThat(node.reached(1)).isFalse();
    }
}
