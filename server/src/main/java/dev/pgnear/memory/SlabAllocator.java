package dev.pgnear.memory;

import static dev.pgnear.memory.SizeClasses.SLAB_BYTES;

import dev.pgnear.base.Check;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Hands out chunks of slabs, for all partitions. All state here is on the heap and guarded by one lock; it is held for a few dozen
 * instructions and nothing else is locked inside it.
 *
 * <p><b>Slabs.</b> A slab is free, or belongs to a size class and a {@link Generation} and is cut into equal chunks. Chunks are taken from the
 * slab's list of freed chunks, else from its not yet used tail. Slabs with room form one list per class and generation. A slab whose last
 * chunk is freed is free again and can take any class, so the budget never calcifies.
 *
 * <p><b>Sweeping.</b> The slabs of a generation also form a queue by age. When free slabs get few, eviction takes the oldest slab of one
 * generation, frees or moves away all its chunks, and so gains a whole slab for whatever class needs it. A slab being swept gives out no
 * chunks. A sweep can be paused; another thread may take it up.
 *
 * <p><b>Chunk headers.</b> The first word of a free chunk is 0 and its second word is the list's link. The first word of a chunk in use belongs to
 * the user, who never lets its lowest byte be 0 once the chunk holds something. The allocator writes the 0 before it hands a chunk out, so a sweeper never mistakes
 * older bytes for a header.
 *
 * <p><b>Reserve.</b> The last few slabs are kept for moving survivors and for the index, which are what makes room in the end.
 */
public final class SlabAllocator {
    /** No chunk. */
    public static final long NONE = 0;

    /** No slab. */
    public static final int NO_SLAB = -1;

    /** What a slab's chunks are for. */
    public enum Generation {
        /** New entries, on probation. */
        PROBATION(0),
        /** Entries that were read while on probation. */
        MAIN(1),
        /** Pages and overflow buckets of the index; never swept. */
        INDEX(2);

        private static final Generation[] ALL = values();

        private final int number;

        Generation(int number) {
            this.number = number;
        }
    }

    private static final byte FREE = 0;
    private static final byte IN_USE = 1;
    private static final byte SWEPT = 2;
    private static final byte SWEEP_PAUSED = 3;

    /** One slab in this many is reserve. */
    private static final int RESERVE_SHARE = 128;

    private static final int MIN_RESERVE = 2;
    private static final int MAX_RESERVE = 32;

    /** One slab in this many is the probation generation's share, as in S3-FIFO. */
    private static final int PROBATION_SHARE = 10;

    private final Memory memory;
    private final long base;
    private final int slabs;
    private final int reserve;
    private final ReentrantLock lock = new ReentrantLock();

    private final byte[] state;
    private final byte[] sizeClass;
    private final byte[] generation;
    private final short[] used;
    private final short[] cut;
    private final short[] cursor;
    private final long[] freed;

    private final SlabList free;
    private final SlabList paused;
    private final SlabList[] byAge;
    private final SlabList[] withRoom;
    private int highWater;
    private volatile int freeSlabs;

    /**
     * Manages {@code slabs} slabs that lie in {@code memory} from {@code base}.
     *
     * @param base a multiple of 4096, above 0
     */
    public SlabAllocator(Memory memory, long base, int slabs) {
        Check.that(base > 0 && base % 4096 == 0, "slabs must be aligned to pages");
        Check.that(base + (long) slabs * SLAB_BYTES <= memory.bytes(), "slabs lie outside the memory");
        this.memory = memory;
        this.base = base;
        this.slabs = slabs;
        reserve = Math.clamp(slabs / RESERVE_SHARE, MIN_RESERVE, MAX_RESERVE);
        state = new byte[slabs];
        sizeClass = new byte[slabs];
        generation = new byte[slabs];
        used = new short[slabs];
        cut = new short[slabs];
        cursor = new short[slabs];
        freed = new long[slabs];
        int[][] queueLinks = {links(slabs), links(slabs)};
        int[][] roomLinks = {links(slabs), links(slabs)};
        free = new SlabList(queueLinks);
        paused = new SlabList(queueLinks);
        byAge = new SlabList[Generation.ALL.length];
        Arrays.setAll(byAge, i -> new SlabList(queueLinks));
        withRoom = new SlabList[Generation.ALL.length * SizeClasses.COUNT];
        Arrays.setAll(withRoom, i -> new SlabList(roomLinks));
        freeSlabs = slabs;
    }

    private static int[] links(int slabs) {
        int[] links = new int[slabs];
        Arrays.fill(links, NO_SLAB);
        return links;
    }

    /**
     * Takes a chunk, its first word 0.
     *
     * @param fromReserve whether the reserve may be used
     * @return the chunk's address or {@link #NONE}
     */
    public long allocate(int chunkClass, Generation kind, boolean fromReserve) {
        lock.lock();
        try {
            int slab = withRoom(chunkClass, kind).first();
            if (slab == NO_SLAB) {
                slab = takeFreeSlab(chunkClass, kind, fromReserve);
            }
            return slab == NO_SLAB ? NONE : takeChunk(slab);
        } finally {
            lock.unlock();
        }
    }

    /** Gives a chunk back. */
    public void free(long address) {
        int slab = slabOf(address);
        lock.lock();
        try {
            Check.that(used[slab] > 0, "chunk freed twice");
            memory.putLong(address, 0);
            memory.putLong(address + Long.BYTES, freed[slab]);
            boolean hadRoom = hasRoom(slab);
            freed[slab] = address;
            used[slab]--;
            afterFree(slab, hadRoom);
        } finally {
            lock.unlock();
        }
    }

    /** Bytes of the chunk at an address that is in use. */
    public int chunkBytes(long address) {
        return SizeClasses.chunkBytes(sizeClass[slabOf(address)]);
    }

    /** Size class of the chunk at an address that is in use. */
    public int chunkClass(long address) {
        return sizeClass[slabOf(address)];
    }

    /** Generation of the chunk at an address that is in use. */
    public Generation generation(long address) {
        return Generation.ALL[generation[slabOf(address)]];
    }

    /** Whether any long, taken as an address, is aligned to words and {@code length} bytes from it, 0 or more, lie within the slabs. */
    public boolean contains(long address, int length) {
        return address >= base && address <= base + (long) slabs * SLAB_BYTES - length && (address & 7) == 0;
    }

    /** First address of the slabs. */
    public long base() {
        return base;
    }

    /** Slabs in all. */
    public int slabs() {
        return slabs;
    }

    /** Slabs that belong to no class now. */
    public int freeSlabs() {
        return freeSlabs;
    }

    /** Whether so few slabs are free that sweeping should go on. */
    public boolean isLow() {
        return freeSlabs < 2 * reserve;
    }

    /**
     * Takes a slab to sweep, for this thread alone: a paused one, or the oldest of the generation that has more than its share.
     *
     * @return the slab or {@link #NO_SLAB}
     */
    public int beginSweep() {
        lock.lock();
        try {
            int slab = paused.first();
            if (slab != NO_SLAB) {
                paused.remove(slab);
            } else {
                slab = oldest();
                if (slab == NO_SLAB) {
                    return NO_SLAB;
                }
                leaveLists(slab);
                cursor[slab] = 0;
            }
            state[slab] = SWEPT;
            return slab;
        } finally {
            lock.unlock();
        }
    }

    /** Index of the next chunk to sweep in a slab that this thread sweeps. */
    public int sweepFrom(int slab) {
        return cursor[slab];
    }

    /** End of the chunks to sweep in a slab that this thread sweeps. */
    public int sweepTo(int slab) {
        return cut[slab];
    }

    /** Address of a chunk of a slab that this thread sweeps. */
    public long chunk(int slab, int index) {
        return address(slab) + (long) index * SizeClasses.chunkBytes(sizeClass[slab]);
    }

    /** Ends this thread's sweep of a slab before chunk {@code next}; anyone may go on there. */
    public void pauseSweep(int slab, int next) {
        lock.lock();
        try {
            if (used[slab] == 0) {
                release(slab);
            } else {
                cursor[slab] = (short) next;
                state[slab] = SWEEP_PAUSED;
                paused.addLast(slab);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the sweep of a slab: it is free, or in use again as its generation's youngest if some chunk could not be freed. */
    public void endSweep(int slab) {
        lock.lock();
        try {
            if (used[slab] == 0) {
                release(slab);
            } else {
                enterLists(slab);
            }
        } finally {
            lock.unlock();
        }
    }

    private SlabList withRoom(int chunkClass, Generation kind) {
        return withRoom[kind.number * SizeClasses.COUNT + chunkClass];
    }

    private SlabList roomListOf(int slab) {
        return withRoom[generation[slab] * SizeClasses.COUNT + sizeClass[slab]];
    }

    private int takeFreeSlab(int chunkClass, Generation kind, boolean fromReserve) {
        if (freeSlabs <= (fromReserve ? 0 : reserve)) {
            return NO_SLAB;
        }
        int slab = free.first();
        if (slab == NO_SLAB) {
            slab = highWater++;
        } else {
            free.remove(slab);
        }
        setFreeSlabs(freeSlabs - 1);
        sizeClass[slab] = (byte) chunkClass;
        generation[slab] = (byte) kind.number;
        used[slab] = 0;
        cut[slab] = 0;
        freed[slab] = NONE;
        enterLists(slab);
        return slab;
    }

    private long takeChunk(int slab) {
        long address = freed[slab];
        if (address != NONE) {
            freed[slab] = memory.getLong(address + Long.BYTES);
        } else {
            address = chunk(slab, cut[slab]++);
            memory.putLong(address, 0);
        }
        used[slab]++;
        if (!hasRoom(slab)) {
            roomListOf(slab).remove(slab);
        }
        return address;
    }

    private void afterFree(int slab, boolean hadRoom) {
        if (state[slab] == IN_USE) {
            if (used[slab] == 0) {
                leaveLists(slab);
                release(slab);
            } else if (!hadRoom) {
                roomListOf(slab).addLast(slab);
            }
        } else if (state[slab] == SWEEP_PAUSED && used[slab] == 0) {
            paused.remove(slab);
            release(slab);
        }
    }

    private boolean hasRoom(int slab) {
        return freed[slab] != NONE || cut[slab] < SizeClasses.chunksPerSlab(sizeClass[slab]);
    }

    private int oldest() {
        SlabList probation = byAge[Generation.PROBATION.number];
        SlabList main = byAge[Generation.MAIN.number];
        boolean probationHasShare = probation.size() * PROBATION_SHARE >= probation.size() + main.size();
        int slab = (probationHasShare ? probation : main).first();
        return slab != NO_SLAB ? slab : (probationHasShare ? main : probation).first();
    }

    private void enterLists(int slab) {
        state[slab] = IN_USE;
        byAge[generation[slab]].addLast(slab);
        if (hasRoom(slab)) {
            roomListOf(slab).addLast(slab);
        }
    }

    private void leaveLists(int slab) {
        byAge[generation[slab]].remove(slab);
        if (hasRoom(slab)) {
            roomListOf(slab).remove(slab);
        }
    }

    private void release(int slab) {
        state[slab] = FREE;
        free.addFirst(slab);
        setFreeSlabs(freeSlabs + 1);
    }

    private void setFreeSlabs(int count) {
        freeSlabs = count;
    }

    private int slabOf(long address) {
        return (int) ((address - base) >>> 16);
    }

    private long address(int slab) {
        return base + (long) slab * SLAB_BYTES;
    }
}
