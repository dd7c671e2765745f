package dev.pgnear.cache;

import static dev.pgnear.memory.SlabAllocator.NONE;

import dev.pgnear.base.ValueSink;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The entries of one partition: their index, the lock for changes and the version for reads without it.
 *
 * <p><b>Version.</b> Every change of the index or of linked chunks happens under the lock between {@link #beginChange} and {@link #endChange}, which make the
 * version odd and even again. A reader takes the version (even), reads, and checks that it is still the same. If so, no change overlapped: it
 * saw the index as of that version, and every chunk it reached stayed linked all the time, so nobody wrote there. If not, it forgets what it read and tries
 * again; after {@link #TRIES} it takes the lock.
 *
 * <p><b>Why stale reads are harmless.</b> A chunk is given back only after the change that unlinked it, so a reader that could see its next
 * content fails the check: the version was changed before the chunk was given back, and the allocator's lock orders that before the next owner's
 * writes. Until the check fails the reader may have read anything; it uses no address, length or number of steps that it has not bounded, and the
 * memory itself is never unmapped. The order is made by an acquire read of the version, then plain reads, then an acquire fence and the second read
 * (reader), and by a store-store fence after the odd, a release write of the even version (writer).
 */
final class Partition {
    private static final VarHandle VERSION;

    static {
        try {
            VERSION = MethodHandles.lookup().findVarHandle(Partition.class, "version", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Reads without the lock before a reader takes it. */
    private static final int TRIES = 4;

    /** Looks at an odd version before the try counts as failed; a change seldom takes longer. */
    private static final int SPINS = 64;

    /** Buckets that a reader without the lock looks at; more only occur if many hashes collide. */
    private static final int OPTIMISTIC_BUCKETS = 16;

    private static final int ALL_BUCKETS = Integer.MAX_VALUE;

    private static final int RETRY = Integer.MIN_VALUE;
    private static final long RETRY_LSN = Long.MIN_VALUE;

    final int number;
    final ReentrantLock lock = new ReentrantLock();
    final Index index;

    /** Chunks of the entry that is being written, and a 0 after them; the lock's holder. */
    final long[] chunks = new long[Entries.MAX_CHUNKS + 1];

    private final Entries entries;
    private final AccessHistory history;
    private final Spaces spaces;

    @SuppressWarnings("UnusedVariable") // by VERSION
    private long version;

    Partition(int number, Index index, Entries entries, AccessHistory history, Spaces spaces) {
        this.number = number;
        this.index = index;
        this.entries = entries;
        this.history = history;
        this.spaces = spaces;
    }

    int get(int space, long hash, byte[] key, int offset, int length, ValueSink sink) {
        for (int i = 0; i < TRIES; i++) {
            long seen = evenVersion();
            int result =
                    (seen & 1) != 0 ? RETRY : tryGet(seen, OPTIMISTIC_BUCKETS, space, hash, key, offset, length, sink);
            if (result != RETRY) {
                return result;
            }
        }
        lock.lock();
        try {
            return tryGet((long) VERSION.getAcquire(this), ALL_BUCKETS, space, hash, key, offset, length, sink);
        } finally {
            lock.unlock();
        }
    }

    private int tryGet(
            long seen, int maxBuckets, int space, long hash, byte[] key, int offset, int length, ValueSink sink) {
        long entry = index.find(space, hash, key, offset, length, maxBuckets);
        if (entry == Index.UNSURE) {
            return RETRY;
        }
        if (entry == NONE) {
            return isStill(seen) ? Cache.MISS : RETRY;
        }
        long word0 = entries.word0(entry);
        int valueLength = entries.valueLength(entry);
        if (!isStill(seen)) {
            return RETRY;
        }
        if (valueLength >= 0 && !copy(seen, entry, word0, valueLength, sink)) {
            return RETRY;
        }
        history.visit(entry);
        return valueLength >= 0 ? valueLength : Cache.ABSENT;
    }

    private boolean copy(long seen, long entry, long word0, int valueLength, ValueSink sink) {
        sink.begin(valueLength);
        if (entries.writeTo(sink, entry, word0, valueLength) && isStill(seen)) {
            return true;
        }
        sink.rollback();
        return false;
    }

    long lsn(int space, long hash, byte[] key, int offset, int length) {
        for (int i = 0; i < TRIES; i++) {
            long seen = evenVersion();
            long result =
                    (seen & 1) != 0 ? RETRY_LSN : tryLsn(seen, OPTIMISTIC_BUCKETS, space, hash, key, offset, length);
            if (result != RETRY_LSN) {
                return result;
            }
        }
        lock.lock();
        try {
            return tryLsn((long) VERSION.getAcquire(this), ALL_BUCKETS, space, hash, key, offset, length);
        } finally {
            lock.unlock();
        }
    }

    private long tryLsn(long seen, int maxBuckets, int space, long hash, byte[] key, int offset, int length) {
        long entry = index.find(space, hash, key, offset, length, maxBuckets);
        if (entry == Index.UNSURE) {
            return RETRY_LSN;
        }
        long lsn = entry == NONE ? -1 : entries.lsn(entry);
        return isStill(seen) ? lsn : RETRY_LSN;
    }

    /** The key's entry or {@link dev.pgnear.memory.SlabAllocator#NONE}; the lock's holder. */
    long find(int space, long hash, byte[] key) {
        return index.find(space, hash, key, 0, key.length, ALL_BUCKETS);
    }

    /** The version, odd only if it stayed so for a while. */
    private long evenVersion() {
        long seen = (long) VERSION.getAcquire(this);
        for (int i = 0; (seen & 1) != 0 && i < SPINS; i++) {
            Thread.onSpinWait();
            seen = (long) VERSION.getAcquire(this);
        }
        return seen;
    }

    private boolean isStill(long seen) {
        VarHandle.acquireFence();
        return (long) VERSION.getOpaque(this) == seen;
    }

    private void beginChange() {
        VERSION.setOpaque(this, (long) VERSION.getOpaque(this) + 1);
        VarHandle.storeStoreFence();
    }

    private void endChange() {
        VERSION.setRelease(this, (long) VERSION.getOpaque(this) + 1);
    }

    /** Puts a written entry in place of another of the same key; the lock's holder. */
    void replace(int lowHash, long old, long entry) {
        beginChange();
        index.replace(lowHash, old, entry);
        endChange();
        discard(old);
    }

    /** Adds a written entry of a key that is not there; the lock's holder. False if the index has no memory. */
    boolean add(long hash, long entry) {
        beginChange();
        boolean added = index.add(hash, entry);
        for (int i = 0; i < 2 && added && index.isCrowded(); i++) {
            index.grow();
        }
        endChange();
        return added;
    }

    /** Removes an entry; the lock's holder. */
    void remove(long entry) {
        int lowHash = Entries.lowHash(entries.word0(entry));
        beginChange();
        index.remove(lowHash, entry);
        if (index.isSparse()) {
            index.shrink();
        }
        endChange();
        discard(entry);
    }

    /** Moves an entry's head to another chunk of the same class; the lock's holder. */
    void moveHead(long entry, long to) {
        beginChange();
        entries.copyChunk(entry, to);
        entries.adopt(to);
        index.replace(Entries.lowHash(entries.word0(to)), entry, to);
        endChange();
    }

    /** Moves a continuation to another chunk of the same class; the lock's holder. */
    void moveContinuation(long continuation, long to) {
        long before = entries.headOf(continuation);
        while (entries.next(before) != continuation) {
            before = entries.next(before);
        }
        beginChange();
        entries.copyChunk(continuation, to);
        entries.setNext(before, to);
        endChange();
    }

    /**
     * Frees entries of dropped spaces in some buckets; the lock's holder.
     *
     * @return the first bucket not looked at, or -1 after the last
     */
    int removeDead(int from, int count) {
        int bucket = from;
        for (int i = 0; i < count && bucket < index.buckets(); i++) {
            long entry = index.firstIn(bucket, e -> spaces.find(entries.space(e)) == null);
            if (entry == NONE) {
                bucket++;
            } else {
                remove(entry);
            }
        }
        return bucket < index.buckets() ? bucket : -1;
    }

    private void discard(long entry) {
        spaces.forget(entries.space(entry), entries.isPositive(entry));
        entries.free(entry);
    }
}
