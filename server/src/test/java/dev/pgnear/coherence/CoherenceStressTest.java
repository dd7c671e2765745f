package dev.pgnear.coherence;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.base.KeyHash;
import dev.pgnear.base.Limits;
import dev.pgnear.cache.Cache;
import dev.pgnear.cache.OffHeapCache;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The real locks under real threads: writers, a stream, readers that fill, samples and a control plane, against a small database whose every
 * step is under one monitor. A commit returns, as in fenced mode, after the stream has applied it; from then on no reader may see less.
 */
class CoherenceStressTest {
    private static final int KEYS = 4;
    private static final long RUN_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final ServerIdentity SERVER = new ServerIdentity(1, 1, 1);

    /** Versions are counters; a commit record comes first, visibility later. */
    private static final class Database {
        private final long[] visible = new long[KEYS];
        private final boolean[] locked = new boolean[KEYS];
        private final List<Long> running = new ArrayList<>();
        private long nextXid = 100;
        private long latest = 99;
        private long lsn = 1000;

        synchronized long begin(int key) {
            if (locked[key]) {
                return 0;
            }
            locked[key] = true;
            running.add(nextXid);
            return nextXid++;
        }

        synchronized long record() {
            return ++lsn;
        }

        synchronized void commit(int key, long xid, long version) {
            visible[key] = version;
            running.remove(xid);
            latest = Math.max(latest, xid);
            locked[key] = false;
        }

        synchronized long version(int key) {
            return visible[key];
        }

        synchronized Snapshot snapshot() {
            long xmax = latest + 1;
            long[] list = running.stream()
                    .mapToLong(Long::longValue)
                    .filter(x -> x < xmax)
                    .sorted()
                    .toArray();
            return new Snapshot(list.length == 0 ? xmax : list[0], xmax, list);
        }

        synchronized Answer read(int key) {
            return new Answer(snapshot(), visible[key], lsn);
        }

        synchronized long insertLsn() {
            return lsn;
        }
    }

    private record Answer(Snapshot snapshot, long version, long lsn) {}

    private record Event(int key, long xid, long lsn) {}

    private Coherence node = new Coherence(new MapCache(), System::nanoTime, false, 1, 0);
    private Relation relation = node.newRelation("none");
    private final Database database = new Database();
    /** Commit records in WAL order; the lock makes taking a position and queueing it one step. */
    private final ConcurrentLinkedQueue<Event> wal = new ConcurrentLinkedQueue<>();

    private final Object walLock = new Object();
    private final long[] returned = new long[KEYS];
    private final AtomicReference<@Nullable Throwable> wrong = new AtomicReference<>();
    private volatile boolean stop;

    @Test
    void noReaderSeesLessThanWhatHasReturned() throws Exception {
        run(new MapCache());
    }

    @Test
    void noReaderSeesLessWithTheOffHeapCache() throws Exception {
        run(new OffHeapCache(Limits.MIN_MEMORY_BUDGET_BYTES));
    }

    private void run(Cache cache) throws Exception {
        node = new Coherence(cache, System::nanoTime, false, TimeUnit.SECONDS.toNanos(30), 0);
        relation = node.newRelation("r");
        node.down("begin");
        node.slotReady(SERVER, database.snapshot(), 1000);
        node.catchUpTo(1000);
        node.resume(relation, node.suspensions(relation));
        sample();
        long end = System.nanoTime() + RUN_NANOS;
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<?> stream = threads.submit(() -> guarded(this::stream));
            List<Future<?>> others = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                int seed = i;
                others.add(threads.submit(() -> guarded(() -> write(seed))));
                others.add(threads.submit(() -> guarded(() -> read(seed))));
            }
            others.add(threads.submit(() -> guarded(this::control)));
            while (System.nanoTime() < end && wrong.get() == null) {
                Thread.onSpinWait();
            }
            stop = true;
            for (Future<?> f : others) {
                f.get();
            }
            stream.get();
        }
        assertThat(wrong.get()).isNull();
        quiet();
    }

    private void guarded(Runnable work) {
        try {
            work.run();
        } catch (Throwable t) {
            wrong.compareAndSet(null, t);
            stop = true;
        }
    }

    private static byte[] key(int k) {
        return new byte[] {(byte) k};
    }

    private long hash(int k) {
        return KeyHash.of(relation.id(), key(k), 0, 1);
    }

    private void write(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        while (!stop) {
            int key = random.nextInt(KEYS);
            long xid = database.begin(key);
            if (xid == 0) {
                continue;
            }
            long version = database.version(key) + 1;
            long lsn;
            synchronized (walLock) {
                lsn = database.record();
                wal.add(new Event(key, xid, lsn));
            }
            while (node.appliedLsn() < lsn && !stop) {
                Thread.onSpinWait(); // the wait for the standby
            }
            boolean waited = node.appliedLsn() >= lsn;
            database.commit(key, xid, version);
            if (waited) {
                synchronized (returned) {
                    returned[key] = Math.max(returned[key], version);
                }
            }
        }
    }

    private void stream() {
        while (!stop || !wal.isEmpty()) {
            Event e = wal.poll();
            if (e == null) {
                Thread.onSpinWait();
                continue;
            }
            CommittedTransaction t = new CommittedTransaction(e.xid, 100);
            if (e.xid % 50 == 0) {
                t.relation(relation);
            } else {
                t.key(relation, key(e.key));
            }
            node.apply(t, e.lsn);
        }
    }

    private void read(int seed) {
        SplittableRandom random = new SplittableRandom(seed + 100);
        TestSink sink = new TestSink();
        while (!stop) {
            int k = random.nextInt(KEYS);
            long floor;
            synchronized (returned) {
                floor = returned[k];
            }
            if (node.read(relation, hash(k), key(k), 0, 1, sink) != Cache.MISS) {
                check(k, floor, sink.value());
            } else {
                fill(k, floor);
            }
        }
    }

    private void fill(int k, long floor) {
        Fill fill = node.join(relation, hash(k), key(k), new FillWaiter() {
            @Override
            public void row(byte @Nullable [] value) {
                guarded(() -> check(k, floor, value));
            }

            @Override
            public void again() {}

            @Override
            public void failed(Throwable cause) {
                wrong.compareAndSet(null, cause);
            }
        });
        if (fill != null) {
            node.sent(fill);
            Answer a = database.read(k);
            byte[] value = ByteBuffer.allocate(8).putLong(a.version).array();
            node.arrived(fill, SERVER, a.snapshot, a.lsn, value);
        }
    }

    private static void check(int key, long floor, byte @Nullable [] value) {
        long version = value == null ? -1 : ByteBuffer.wrap(value).getLong();
        if (version < floor) {
            throw new AssertionError("key " + key + ": " + version + " after " + floor + " had returned");
        }
    }

    private void sample() {
        long sent = System.nanoTime();
        Snapshot snapshot = database.snapshot();
        node.sample(new Sample(sent, SERVER, snapshot, database.insertLsn(), false, "tracked"));
    }

    private void control() {
        for (int i = 0; !stop; i++) {
            sample();
            if (i % 100 == 99) {
                node.suspend(relation);
                node.resume(relation, node.suspensions(relation));
            }
        }
    }

    private void quiet() {
        node.applied(database.insertLsn());
        sample();
        sample();
        for (int k = 0; k < KEYS; k++) {
            fill(k, database.version(k));
            TestSink sink = new TestSink();
            node.read(relation, hash(k), key(k), 0, 1, sink);
            assertThat(ByteBuffer.wrap(sink.value()).getLong()).isEqualTo(database.version(k));
        }
        sample();
        sample();
        assertThat(node.remembers()).isFalse();
        assertThat(node.status().fillsInFlight()).isZero();
        assertThat(node.counters().get(Counter.FILLS_REFUSED))
                .as("the fences were needed")
                .isPositive();
    }
}
