package dev.pgnear.cache;

import static dev.pgnear.memory.SlabAllocator.NONE;

import dev.pgnear.base.Check;
import dev.pgnear.base.Limits;
import dev.pgnear.base.ValueSink;
import dev.pgnear.memory.Memory;
import dev.pgnear.memory.SizeClasses;
import dev.pgnear.memory.SlabAllocator;
import dev.pgnear.memory.SlabAllocator.Generation;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The cache in off-heap memory. This class joins the parts, each of which explains itself:
 *
 * <ul>
 *   <li>{@link Memory}, {@link SlabAllocator}: one reserved range, cut into slabs and chunks;
 *   <li>{@link Entries}: how an entry lies in chunks;
 *   <li>{@link Index}: one per partition, linear hashing;
 *   <li>{@link Partition}: lock, version, reads without the lock;
 *   <li>{@link Spaces}: which spaces live, and entry counts;
 *   <li>{@link Sweeper}, {@link AccessHistory}: eviction.
 * </ul>
 *
 * <p>The budget covers slabs (entries and index) and the two side tables of {@link AccessHistory}; beyond it there are about 45 bytes of heap per slab.
 *
 * <p><b>Hash bits.</b> The top 6 choose the partition, the low 32 the bucket, 24 between them are the slot's tag.
 *
 * <p><b>Drop.</b> Entries carry their space's number, and look-ups compare it; so without its number in {@link Spaces} no entry of it can be asked for.
 * Their memory comes back when the sweeper meets them and by {@link #reclaim}.
 */
public final class OffHeapCache implements Cache {
    private static final int PARTITION_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(Limits.PARTITIONS);
    private static final int SLAB_BYTES_IN_ALL = SizeClasses.SLAB_BYTES + AccessHistory.BYTES_PER_SLAB;
    private static final int PAGE_BYTES = 4096;
    private static final int BUCKETS_PER_LOCK = 16;

    final Partition[] partitions = new Partition[Limits.PARTITIONS];
    final Memory memory;
    final SlabAllocator allocator;
    final Entries entries;
    final Spaces spaces = new Spaces();
    private final AccessHistory history;
    private final Sweeper sweeper;
    private final long budgetBytes;
    private final LongAdder rejections = new LongAdder();

    private final ReentrantLock reclaimLock = new ReentrantLock();
    private int reclaimPartition;
    private int reclaimBucket;

    /**
     * An empty cache.
     *
     * @param budgetBytes bound of its memory, at least {@link Limits#MIN_MEMORY_BUDGET_BYTES}
     * @throws IllegalStateException if the operating system refuses to reserve as much address space
     */
    public OffHeapCache(long budgetBytes) {
        Check.that(
                budgetBytes >= Limits.MIN_MEMORY_BUDGET_BYTES,
                "the memory budget must be at least " + Limits.MIN_MEMORY_BUDGET_BYTES + " bytes");
        this.budgetBytes = budgetBytes;
        int slabs = Math.toIntExact((budgetBytes - PAGE_BYTES) / SLAB_BYTES_IN_ALL);
        long tables = (long) slabs * AccessHistory.BYTES_PER_SLAB;
        long base = (tables + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        memory = new Memory(base + (long) slabs * SizeClasses.SLAB_BYTES);
        allocator = new SlabAllocator(memory, base, slabs);
        entries = new Entries(memory, allocator);
        history = new AccessHistory(memory, base, slabs);
        Arrays.setAll(
                partitions, i -> new Partition(i, new Index(memory, allocator, entries), entries, history, spaces));
        sweeper = new Sweeper(memory, allocator, entries, history, spaces, partitions);
    }

    @Override
    public int newSpace() {
        return spaces.create();
    }

    @Override
    public long dropSpace(int space) {
        return spaces.drop(space);
    }

    @Override
    public int get(int space, long hash, byte[] key, int offset, int length, ValueSink sink) {
        return spaces.find(space) == null ? MISS : of(hash).get(space, hash, key, offset, length, sink);
    }

    @Override
    public int partition(long hash) {
        return (int) (hash >>> PARTITION_SHIFT);
    }

    @Override
    public void lock(long hash) {
        of(hash).lock.lock();
    }

    @Override
    public void unlock(long hash) {
        of(hash).lock.unlock();
    }

    @Override
    public Put put(int space, long hash, byte[] key, byte @Nullable [] value, long xmin, long lsn) {
        Partition partition = locked(hash);
        Put outcome = tryPut(partition, space, hash, key, value, xmin, lsn);
        if (outcome != Put.STORED) {
            boolean hadOlder = remove(space, hash, key);
            if (outcome != Put.DROPPED_SPACE) {
                rejections.increment();
            }
        }
        return outcome;
    }

    @Override
    public boolean remove(int space, long hash, byte[] key) {
        Partition partition = locked(hash);
        long entry = partition.find(space, hash, key);
        if (entry == NONE) {
            return false;
        }
        partition.remove(entry);
        return true;
    }

    @Override
    public long xmin(int space, long hash, byte[] key) {
        Partition partition = locked(hash);
        long entry = spaces.find(space) == null ? NONE : partition.find(space, hash, key);
        return entry == NONE ? -1 : entries.xmin(entry);
    }

    @Override
    public long lsn(int space, long hash, byte[] key, int offset, int length) {
        return spaces.find(space) == null ? -1 : of(hash).lsn(space, hash, key, offset, length);
    }

    @Override
    public boolean reclaim(int maxSteps) {
        reclaimLock.lock();
        try {
            int left = maxSteps;
            while (left > 0 && spaces.dead() > 0) {
                reclaimSome();
                left -= BUCKETS_PER_LOCK;
            }
            int swept = 1;
            while (left > 0 && swept > 0 && allocator.isLow()) {
                swept = sweeper.sweepSome(BUCKETS_PER_LOCK);
                left -= swept;
            }
            return spaces.dead() > 0 || (allocator.isLow() && swept > 0);
        } finally {
            reclaimLock.unlock();
        }
    }

    @Override
    public CacheStats stats() {
        long used = (long) (allocator.slabs() - allocator.freeSlabs()) * SLAB_BYTES_IN_ALL;
        return new CacheStats(
                spaces.positive(), spaces.negative(), used, budgetBytes, sweeper.evictions(), rejections.sum());
    }

    private void reclaimSome() {
        Partition partition = partitions[reclaimPartition];
        partition.lock.lock();
        try {
            reclaimBucket = partition.removeDead(reclaimBucket, BUCKETS_PER_LOCK);
        } finally {
            partition.lock.unlock();
        }
        if (reclaimBucket < 0) {
            reclaimBucket = 0;
            reclaimPartition = (reclaimPartition + 1) % partitions.length;
        }
    }

    private Put tryPut(
            Partition partition, int space, long hash, byte[] key, byte @Nullable [] value, long xmin, long lsn) {
        int length = value == null ? 0 : value.length;
        if (key.length > Limits.CACHED_KEY_BYTES || length > Limits.CACHED_ROW_BYTES) {
            return Put.TOO_LARGE;
        }
        Space counts = spaces.find(space);
        if (counts == null) {
            return Put.DROPPED_SPACE;
        }
        if (!takeChunks(partition, hash, key.length, length)) {
            return Put.NO_ROOM;
        }
        if (!counts.add(value != null)) {
            freeChunks(partition);
            return Put.DROPPED_SPACE;
        }
        entries.write(partition.chunks, space, partition.number, (int) hash, key, value, xmin, lsn);
        return link(partition, space, hash, key, value != null);
    }

    private Put link(Partition partition, int space, long hash, byte[] key, boolean positive) {
        long entry = partition.chunks[0];
        history.forget(entry);
        long old = partition.find(space, hash, key);
        if (old != NONE) {
            partition.replace((int) hash, old, entry);
        } else if (!partition.add(hash, entry)) {
            spaces.forget(space, positive);
            entries.free(entry);
            return Put.NO_ROOM;
        }
        return Put.STORED;
    }

    /** Takes the chunks for an entry into {@code partition.chunks}, a 0 after the last; false with none taken if there is no room. */
    private boolean takeChunks(Partition partition, long hash, int keyBytes, int valueBytes) {
        boolean known = history.isGhost(partition.number, (int) hash);
        Generation generation = known ? Generation.MAIN : Generation.PROBATION;
        sweeper.pace(Entries.HEAD_BYTES + keyBytes + valueBytes);
        int i = 0;
        for (int bytes; (bytes = Entries.bytesOfChunk(i, keyBytes, valueBytes)) > 0; i++) {
            partition.chunks[i] = sweeper.allocate(SizeClasses.of(bytes), generation);
            if (partition.chunks[i] == NONE) {
                freeChunks(partition);
                return false;
            }
        }
        partition.chunks[i] = NONE;
        return true;
    }

    private void freeChunks(Partition partition) {
        for (int i = 0; partition.chunks[i] != NONE; i++) {
            allocator.free(partition.chunks[i]);
        }
    }

    private Partition locked(long hash) {
        Partition partition = of(hash);
        Check.that(partition.lock.isHeldByCurrentThread(), "the partition's lock is not held");
        return partition;
    }

    private Partition of(long hash) {
        return partitions[(int) (hash >>> PARTITION_SHIFT)];
    }
}
