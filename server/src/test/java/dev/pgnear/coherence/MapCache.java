package dev.pgnear.coherence;

import dev.pgnear.base.Check;
import dev.pgnear.base.KeyHash;
import dev.pgnear.base.Limits;
import dev.pgnear.base.ValueSink;
import dev.pgnear.cache.Cache;
import dev.pgnear.cache.CacheStats;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** An unbounded cache on the heap, with real partition locks; says when a lock
 * is about to be taken or a space has changed, so that a simulator can step in. */
class MapCache implements Cache {
    private record Key(long hash, byte[] bytes) {
        @Override
        public boolean equals(Object o) {
            return o instanceof Key k && hash == k.hash && Arrays.equals(bytes, k.bytes);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(hash);
        }
    }

    private record Entry(byte @Nullable [] value, long xmin, long lsn) {}

    private final Map<Integer, Map<Key, Entry>> spaces = new ConcurrentHashMap<>();
    private final AtomicInteger lastSpace = new AtomicInteger();
    private final ReentrantLock[] locks = new ReentrantLock[Limits.PARTITIONS];
    Runnable beforeLock = () -> {};
    Runnable afterSpace = () -> {};

    MapCache() {
        Arrays.setAll(locks, i -> new ReentrantLock());
    }

    @Override
    public int newSpace() {
        int space = lastSpace.incrementAndGet();
        spaces.put(space, new ConcurrentHashMap<>());
        afterSpace.run();
        return space;
    }

    @Override
    public long dropSpace(int space) {
        Map<Key, Entry> gone = spaces.remove(space);
        afterSpace.run();
        return gone == null ? 0 : gone.size();
    }

    @Override
    public int get(int space, long hash, byte[] key, int offset, int length, ValueSink sink) {
        Entry e = find(space, hash, key, offset, length);
        if (e == null) {
            return MISS;
        }
        byte[] value = e.value;
        if (value == null) {
            return ABSENT;
        }
        sink.begin(value.length);
        sink.chunk(MemorySegment.ofArray(value), 0, value.length);
        return value.length;
    }

    private @Nullable Entry find(int space, long hash, byte[] key, int offset, int length) {
        Map<Key, Entry> entries = spaces.get(space);
        return entries == null ? null : entries.get(new Key(hash, Arrays.copyOfRange(key, offset, offset + length)));
    }

    @Override
    public int partition(long hash) {
        return KeyHash.partition(hash);
    }

    @Override
    public void lock(long hash) {
        beforeLock.run();
        ReentrantLock lock = locks[partition(hash)];
        Check.that(!lock.isHeldByCurrentThread(), "locks are not taken twice");
        lock.lock();
    }

    @Override
    public void unlock(long hash) {
        locks[partition(hash)].unlock();
    }

    @Override
    public Put put(int space, long hash, byte[] key, byte @Nullable [] value, long xmin, long lsn) {
        locked(hash);
        Map<Key, Entry> entries = spaces.get(space);
        if (entries == null) {
            return Put.DROPPED_SPACE;
        }
        entries.put(new Key(hash, key), new Entry(value, xmin, lsn));
        return Put.STORED;
    }

    @Override
    public boolean remove(int space, long hash, byte[] key) {
        locked(hash);
        Map<Key, Entry> entries = spaces.get(space);
        return entries != null && entries.remove(new Key(hash, key)) != null;
    }

    @Override
    public long xmin(int space, long hash, byte[] key) {
        locked(hash);
        Entry e = find(space, hash, key, 0, key.length);
        return e == null ? -1 : e.xmin;
    }

    @Override
    public long lsn(int space, long hash, byte[] key, int offset, int length) {
        Entry e = find(space, hash, key, offset, length);
        return e == null ? -1 : e.lsn;
    }

    @Override
    public CacheStats stats() {
        long n = spaces.values().stream().mapToLong(Map::size).sum();
        return new CacheStats(n, 0, 0, 0, 0, 0);
    }

    private void locked(long hash) {
        Check.that(locks[partition(hash)].isHeldByCurrentThread(), "changes are made under the partition's lock");
    }

    @Override
    public boolean reclaim(int maxSteps) {
        return false;
    }
}
