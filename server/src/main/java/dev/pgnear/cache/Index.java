package dev.pgnear.cache;

import static dev.pgnear.memory.SlabAllocator.NONE;

import dev.pgnear.base.Check;
import dev.pgnear.memory.Memory;
import dev.pgnear.memory.SizeClasses;
import dev.pgnear.memory.SlabAllocator;
import dev.pgnear.memory.SlabAllocator.Generation;
import java.util.Arrays;
import java.util.function.LongPredicate;

/**
 * One partition's index: linear hashing (Litwin, VLDB 1980) over buckets of one cache line.
 *
 * <p>A bucket has seven slots and the address of an overflow bucket or 0. A slot is 0 or {@code tag (24 bits) | address / 8 (40 bits)}; the tag
 * is hash bits that neither partition nor bucket number use, so a look-up that hits normally touches one bucket and one entry. Slots of a bucket
 * and its overflow buckets are filled from the front: the first 0 ends a search.
 *
 * <p>Buckets come in pages of 64. The table grows by one bucket at a time: with {@code n} buckets, bucket {@code n - highestOneBit(n)} is split into
 * itself and bucket {@code n}; it shrinks by undoing the last split. So no step costs more than the entries of two buckets, and memory follows the number
 * of entries both ways.
 *
 * <p>Changes are made under the partition's lock within a change of its version. {@link #find} is also used without the lock by readers
 * that check the version afterwards; it bounds everything it reads and ends after a given number of buckets.
 */
final class Index {
    /** {@link #find}: no answer; only without the lock. */
    static final long UNSURE = -1;

    static final int BUCKET_BYTES = 64;
    static final int SLOTS = 7;
    static final int OVERFLOW = SLOTS * Long.BYTES;
    static final int PAGE_BUCKETS = 64;

    private static final int REF_BITS = 40;
    private static final long REF_MASK = (1L << REF_BITS) - 1;
    private static final int TAG_SHIFT = 34;
    private static final long TAG_MASK = (1L << 24) - 1;

    /** Entries per 100 slots above which the table grows, and below which it shrinks. */
    private static final int GROW_PERCENT = 65;

    private static final int SHRINK_PERCENT = 30;

    private final Memory memory;
    private final SlabAllocator allocator;
    private final Entries entries;

    private long[] pages = new long[1];
    private int buckets;
    private int size;

    private long[] movedSlots = new long[4 * SLOTS];
    private int movedCount;
    private long[] spareBuckets = new long[4];
    private int spareCount;

    Index(Memory memory, SlabAllocator allocator, Entries entries) {
        this.memory = memory;
        this.allocator = allocator;
        this.entries = entries;
    }

    /** Number of entries, those of dropped spaces included. */
    int size() {
        return size;
    }

    int buckets() {
        return buckets;
    }

    /**
     * Looks a key up.
     *
     * @param maxBuckets buckets to look at before giving up
     * @return the entry's address, {@link SlabAllocator#NONE} or {@link #UNSURE}
     */
    long find(int space, long hash, byte[] key, int offset, int length, int maxBuckets) {
        int count = buckets;
        if (count == 0) {
            return NONE;
        }
        long tag = tag(hash);
        long bucket = bucket((int) hash, count);
        for (int i = 0; i < maxBuckets; i++) {
            if (!allocator.contains(bucket, BUCKET_BYTES)) {
                return UNSURE;
            }
            for (int s = 0; s < OVERFLOW; s += Long.BYTES) {
                long slot = memory.getLong(bucket + s);
                if (slot == 0) {
                    return NONE;
                }
                if (slot >>> REF_BITS == tag
                        && entries.matches(address(slot), space, (int) hash, key, offset, length)) {
                    return address(slot);
                }
            }
            bucket = memory.getLong(bucket + OVERFLOW);
            if (bucket == NONE) {
                return NONE;
            }
        }
        return UNSURE;
    }

    /**
     * Adds an entry whose key is not there.
     *
     * @return false if there is no memory for it
     */
    boolean add(long hash, long entry) {
        if (buckets == 0 && !addPage()) {
            return false;
        }
        if (!append(bucket((int) hash, buckets), tag(hash) << REF_BITS | entry >>> 3)) {
            return false;
        }
        size++;
        return true;
    }

    /** Lets the slot of one entry refer to another entry of the same hash. */
    void replace(int lowHash, long entry, long by) {
        long at = slotOf(lowHash, entry);
        memory.putLong(at, memory.getLong(at) & ~REF_MASK | by >>> 3);
    }

    /** Removes an entry. */
    void remove(int lowHash, long entry) {
        removeSlot(bucket(lowHash, buckets), slotOf(lowHash, entry));
        size--;
    }

    /** Whether the table should grow. */
    boolean isCrowded() {
        return size * 100L > (long) buckets * SLOTS * GROW_PERCENT;
    }

    /** Whether the table should shrink. */
    boolean isSparse() {
        return buckets > PAGE_BUCKETS && size * 100L < (long) buckets * SLOTS * SHRINK_PERCENT;
    }

    /** Adds one bucket, if there is memory. */
    void grow() {
        if (buckets % PAGE_BUCKETS == 0 && !preparePage(buckets / PAGE_BUCKETS)) {
            return;
        }
        int source = buckets - Integer.highestOneBit(buckets);
        movedCount = 0;
        takeAll(bucketAt(source));
        memory.zero(bucketAt(buckets), BUCKET_BYTES);
        buckets++;
        putBack();
        freeSpareBuckets();
    }

    /** Removes the last bucket, if there is memory for the move. */
    void shrink() {
        int last = buckets - 1;
        int target = last - Integer.highestOneBit(last);
        int count = count(bucketAt(last)) + count(bucketAt(target));
        int missing = overflowBuckets(count) - overflowChain(bucketAt(last)) - overflowChain(bucketAt(target));
        if (missing > 0 && !addSpareBucket()) {
            return;
        }
        movedCount = 0;
        takeAll(bucketAt(last));
        takeAll(bucketAt(target));
        buckets = last;
        putBack();
        freeSpareBuckets();
        if (last % PAGE_BUCKETS == 0) {
            allocator.free(pages[last / PAGE_BUCKETS]);
            pages[last / PAGE_BUCKETS] = NONE;
        }
    }

    /** The first entry in a bucket that fits, or {@link SlabAllocator#NONE}. */
    long firstIn(int number, LongPredicate fits) {
        for (long bucket = bucketAt(number); bucket != NONE; bucket = memory.getLong(bucket + OVERFLOW)) {
            for (int s = 0; s < OVERFLOW && memory.getLong(bucket + s) != 0; s += Long.BYTES) {
                long entry = address(memory.getLong(bucket + s));
                if (fits.test(entry)) {
                    return entry;
                }
            }
        }
        return NONE;
    }

    /** Address of a bucket by its number. */
    long bucketAt(int number) {
        return pages[number / PAGE_BUCKETS] + (long) (number % PAGE_BUCKETS) * BUCKET_BYTES;
    }

    /** Address that a slot refers to. */
    static long address(long slot) {
        return (slot & REF_MASK) << 3;
    }

    private static long tag(long hash) {
        return hash >>> TAG_SHIFT & TAG_MASK;
    }

    private static int overflowBuckets(int slots) {
        return slots <= SLOTS ? 0 : (slots - 1) / SLOTS;
    }

    /** The hash's bucket among {@code count}; without the lock possibly no address at all. */
    private long bucket(int lowHash, int count) {
        int mask = (Integer.highestOneBit(count) << 1) - 1;
        int number = lowHash & mask;
        if (number >= count) {
            number &= mask >>> 1;
        }
        long[] table = pages;
        int page = number / PAGE_BUCKETS;
        return page < table.length ? table[page] + (long) (number % PAGE_BUCKETS) * BUCKET_BYTES : NONE;
    }

    private boolean addPage() {
        if (!preparePage(0)) {
            return false;
        }
        memory.zero(pages[0], PAGE_BUCKETS * BUCKET_BYTES);
        buckets = PAGE_BUCKETS;
        return true;
    }

    private boolean preparePage(int number) {
        if (number == pages.length) {
            pages = Arrays.copyOf(pages, 2 * pages.length);
        }
        pages[number] = allocator.allocate(SizeClasses.INDEX_PAGE, Generation.INDEX, true);
        return pages[number] != NONE;
    }

    private long slotOf(int lowHash, long entry) {
        long ref = entry >>> 3;
        long bucket = bucket(lowHash, buckets);
        while (bucket != NONE) {
            for (int s = 0; s < OVERFLOW; s += Long.BYTES) {
                if ((memory.getLong(bucket + s) & REF_MASK) == ref) {
                    return bucket + s;
                }
            }
            bucket = memory.getLong(bucket + OVERFLOW);
        }
        throw new IllegalStateException("entry is not in the index");
    }

    private boolean append(long first, long slot) {
        long bucket = first;
        while (true) {
            for (int s = 0; s < OVERFLOW; s += Long.BYTES) {
                if (memory.getLong(bucket + s) == 0) {
                    memory.putLong(bucket + s, slot);
                    return true;
                }
            }
            long next = memory.getLong(bucket + OVERFLOW);
            if (next == NONE) {
                next = overflowBucket();
                if (next == NONE) {
                    return false;
                }
                memory.putLong(bucket + OVERFLOW, next);
            }
            bucket = next;
        }
    }

    /** Fills the hole with the chain's last slot and frees the last overflow bucket if that empties it. */
    private void removeSlot(long first, long hole) {
        long before = NONE;
        long bucket = first;
        for (long next = memory.getLong(bucket + OVERFLOW); next != NONE; next = memory.getLong(bucket + OVERFLOW)) {
            before = bucket;
            bucket = next;
        }
        int last = count(bucket) - 1;
        long lastSlot = bucket + (long) last * Long.BYTES;
        memory.putLong(hole, memory.getLong(lastSlot));
        memory.putLong(lastSlot, 0);
        if (last == 0 && before != NONE) {
            memory.putLong(before + OVERFLOW, NONE);
            allocator.free(bucket);
        }
    }

    /** Used slots of a bucket and its overflow buckets. */
    private int count(long first) {
        int count = 0;
        for (long bucket = first; bucket != NONE; bucket = memory.getLong(bucket + OVERFLOW)) {
            for (int s = 0; s < OVERFLOW && memory.getLong(bucket + s) != 0; s += Long.BYTES) {
                count++;
            }
        }
        return count;
    }

    private int overflowChain(long first) {
        int count = 0;
        for (long b = memory.getLong(first + OVERFLOW); b != NONE; b = memory.getLong(b + OVERFLOW)) {
            count++;
        }
        return count;
    }

    /** Empties a bucket; its slots and overflow buckets are kept aside. */
    private void takeAll(long first) {
        long bucket = first;
        while (bucket != NONE) {
            for (int s = 0; s < OVERFLOW && memory.getLong(bucket + s) != 0; s += Long.BYTES) {
                keepSlot(memory.getLong(bucket + s));
            }
            long next = memory.getLong(bucket + OVERFLOW);
            if (next != NONE) {
                keepBucket(next);
            }
            bucket = next;
        }
        memory.zero(first, BUCKET_BYTES);
    }

    private void putBack() {
        for (int i = 0; i < movedCount; i++) {
            long slot = movedSlots[i];
            int lowHash = Entries.lowHash(entries.word0(address(slot)));
            Check.that(append(bucket(lowHash, buckets), slot), "no overflow bucket for a moved slot");
        }
    }

    private void keepSlot(long slot) {
        if (movedCount == movedSlots.length) {
            movedSlots = Arrays.copyOf(movedSlots, 2 * movedCount);
        }
        movedSlots[movedCount++] = slot;
    }

    private void keepBucket(long bucket) {
        if (spareCount == spareBuckets.length) {
            spareBuckets = Arrays.copyOf(spareBuckets, 2 * spareCount);
        }
        spareBuckets[spareCount++] = bucket;
    }

    private boolean addSpareBucket() {
        long bucket = allocator.allocate(SizeClasses.OVERFLOW_BUCKET, Generation.INDEX, true);
        if (bucket == NONE) {
            return false;
        }
        keepBucket(bucket);
        return true;
    }

    private long overflowBucket() {
        if (spareCount == 0 && !addSpareBucket()) {
            return NONE;
        }
        long bucket = spareBuckets[--spareCount];
        memory.zero(bucket, BUCKET_BYTES);
        return bucket;
    }

    private void freeSpareBuckets() {
        while (spareCount > 0) {
            allocator.free(spareBuckets[--spareCount]);
        }
    }
}
