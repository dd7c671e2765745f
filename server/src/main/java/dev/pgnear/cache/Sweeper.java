package dev.pgnear.cache;

import static dev.pgnear.memory.SlabAllocator.NONE;

import dev.pgnear.memory.Memory;
import dev.pgnear.memory.SlabAllocator;
import dev.pgnear.memory.SlabAllocator.Generation;
import java.util.concurrent.atomic.LongAdder;

/**
 * Eviction: S3-FIFO (Yang et al., SOSP 2023) with slabs as the queues' elements.
 *
 * <p>New entries go to slabs of the probation generation. When free slabs get few, the oldest slab of probation is swept, or the oldest of main once
 * probation has fallen to its tenth: entries of dropped spaces are freed, entries that were read since they were last looked at are moved to the
 * main generation, all others are evicted. At the end the slab is free for any size class. A scan that reads each row once passes through
 * probation and leaves main alone. Compared with queues of single entries, moving costs a copy per survivor and gives compact slabs, no
 * links in entries, and a budget that follows the sizes in demand.
 *
 * <p><b>Work.</b> Sweeping begins before memory is used up and is paced: an insertion looks at a few times the bytes that it takes and at
 * least {@link #MIN_CHUNKS} chunks. Only when there is no room at all it goes on to at most {@link #MAX_CHUNKS} (a few hundred microseconds), then the
 * insertion is refused.
 *
 * <p><b>Locks.</b> A slab's chunks belong to entries of all partitions. Callers hold a partition's lock already, so others' are only tried, never
 * waited for; a chunk whose partition is busy is left, and its slab gets its turn again later. The chunk's first word tells the partition; it is read
 * before the lock is there and again with it. With the lock, a chunk whose head names that partition is linked, or, if it is empty, free or about
 * to be filled by somebody.
 */
final class Sweeper {
    private static final int MIN_CHUNKS = 16;
    private static final int MAX_CHUNKS = 4096;
    private static final int BYTES_FACTOR = 4;

    private final Memory memory;
    private final SlabAllocator allocator;
    private final Entries entries;
    private final AccessHistory history;
    private final Spaces spaces;
    private final Partition[] partitions;
    private final LongAdder evictions = new LongAdder();

    Sweeper(
            Memory memory,
            SlabAllocator allocator,
            Entries entries,
            AccessHistory history,
            Spaces spaces,
            Partition[] partitions) {
        this.memory = memory;
        this.allocator = allocator;
        this.entries = entries;
        this.history = history;
        this.spaces = spaces;
        this.partitions = partitions;
    }

    /** Entries evicted since start. */
    long evictions() {
        return evictions.sum();
    }

    /** Does an insertion's share of sweeping before it takes {@code bytes}. */
    void pace(int bytes) {
        long wanted = (long) bytes * BYTES_FACTOR;
        long seenBytes = 0;
        int seen = 0;
        while (allocator.isLow() && seen < MAX_CHUNKS && (seen < MIN_CHUNKS || seenBytes < wanted)) {
            int slab = allocator.beginSweep();
            if (slab == SlabAllocator.NO_SLAB) {
                return;
            }
            int chunkBytes = allocator.chunkBytes(allocator.chunk(slab, 0));
            int done = sweep(slab, MIN_CHUNKS);
            seen += done;
            seenBytes += (long) done * chunkBytes;
        }
    }

    /**
     * A chunk for new data, if need be after more sweeping.
     *
     * @return its address or {@link SlabAllocator#NONE}
     */
    long allocate(int chunkClass, Generation generation) {
        long chunk = allocator.allocate(chunkClass, generation, false);
        int seen = 0;
        while (chunk == NONE && seen < MAX_CHUNKS) {
            int done = sweepSome(MIN_CHUNKS * 4);
            if (done == 0) {
                return NONE;
            }
            seen += done;
            chunk = allocator.allocate(chunkClass, generation, false);
        }
        return chunk;
    }

    /**
     * Sweeps up to {@code maxChunks} chunks of one slab.
     *
     * @return how many were looked at; 0 if there is nothing to sweep
     */
    int sweepSome(int maxChunks) {
        int slab = allocator.beginSweep();
        return slab == SlabAllocator.NO_SLAB ? 0 : sweep(slab, maxChunks);
    }

    private int sweep(int slab, int maxChunks) {
        int from = allocator.sweepFrom(slab);
        int end = allocator.sweepTo(slab);
        int to = Math.min(end, from + maxChunks);
        for (int i = from; i < to; i++) {
            empty(allocator.chunk(slab, i));
        }
        if (to == end) {
            allocator.endSweep(slab);
        } else {
            allocator.pauseSweep(slab, to);
        }
        return to - from;
    }

    private void empty(long chunk) {
        long word0 = memory.getLongOpaque(chunk);
        if (Entries.kind(word0) == 0) {
            return;
        }
        Partition partition = partitions[Entries.partition(word0)];
        if (partition.lock.tryLock()) {
            try {
                long now = memory.getLong(chunk);
                if (Entries.kind(now) != 0 && Entries.partition(now) == partition.number) {
                    emptyLocked(partition, chunk, Entries.kind(now));
                }
            } finally {
                partition.lock.unlock();
            }
        }
    }

    private void emptyLocked(Partition partition, long chunk, int kind) {
        if (kind == Entries.CONTINUATION) {
            emptyContinuation(partition, chunk);
        } else {
            emptyHead(partition, chunk);
        }
    }

    private void emptyHead(Partition partition, long entry) {
        if (spaces.find(entries.space(entry)) == null) {
            partition.remove(entry);
        } else if (!history.takeVisit(entry) || !moveHead(partition, entry)) {
            evict(partition, entry);
        }
    }

    /** A continuation goes with its head: out, unless the head has stood or is about to stand its test. */
    private void emptyContinuation(Partition partition, long chunk) {
        long entry = entries.headOf(chunk);
        if (spaces.find(entries.space(entry)) == null) {
            partition.remove(entry);
            return;
        }
        boolean stays = history.isVisited(entry) || allocator.generation(entry) == Generation.MAIN;
        if (!stays || !moveContinuation(partition, chunk)) {
            evict(partition, entry);
        }
    }

    private boolean moveHead(Partition partition, long entry) {
        long to = allocator.allocate(allocator.chunkClass(entry), Generation.MAIN, true);
        if (to == NONE) {
            return false;
        }
        history.forget(to);
        partition.moveHead(entry, to);
        allocator.free(entry);
        return true;
    }

    private boolean moveContinuation(Partition partition, long chunk) {
        long to = allocator.allocate(allocator.chunkClass(chunk), Generation.MAIN, true);
        if (to == NONE) {
            return false;
        }
        partition.moveContinuation(chunk, to);
        allocator.free(chunk);
        return true;
    }

    private void evict(Partition partition, long entry) {
        if (allocator.generation(entry) == Generation.PROBATION) {
            history.addGhost(partition.number, Entries.lowHash(entries.word0(entry)));
        }
        partition.remove(entry);
        evictions.increment();
    }
}
