package dev.pgnear.cache;

import dev.pgnear.base.ValueSink;
import org.jspecify.annotations.Nullable;

/**
 * A bounded store of values and of proven absences, by key. Keys live in <em>spaces</em>: dropping a space makes all its entries unreachable
 * at once, their memory is reclaimed later in bounded steps. A key's partition is decided by its hash; changes are made under that
 * partition's lock, which callers take themselves so that the coherence rules and the change are one step. Reads take no lock of the caller's.
 */
public interface Cache {
    /** {@link #get}: nothing is known about the key. */
    int MISS = -1;

    /** {@link #get}: the row is known to be absent. */
    int ABSENT = -2;

    /** Outcome of {@link #put}. */
    enum Put {
        /** The entry is there. */
        STORED,
        /** The value is above the bound for a single entry. */
        TOO_LARGE,
        /** The budget had no room that bounded work could find. */
        NO_ROOM,
        /** The space was dropped meanwhile. */
        DROPPED_SPACE
    }

    /** A new, empty space; numbers are never used again. */
    int newSpace();

    /**
     * Makes every entry of the space unreachable, in constant time.
     *
     * @return how many entries it held
     */
    long dropSpace(int space);

    /**
     * Copies a value out.
     *
     * @param key canonical key bytes in {@code [offset, offset + length)}
     * @return the value's length, {@link #ABSENT} or {@link #MISS}; only with a length of 0 or more was the sink given a value
     */
    int get(int space, long hash, byte[] key, int offset, int length, ValueSink sink);

    /**
     * The partition of a hash, from 0 to {@link dev.pgnear.base.Limits#PARTITIONS} - 1. Hashes of one partition share one lock, and only
     * they do: the coherence rules keep their fences of a partition under the same lock.
     */
    int partition(long hash);

    /** Takes the lock of the hash's partition; not reentrant use only, short sections. */
    void lock(long hash);

    /** Gives back what {@link #lock} took. */
    void unlock(long hash);

    /**
     * Inserts or replaces in one step for readers, under the partition's lock. May evict any other entry. Whenever the outcome is not
     * {@link Put#STORED} the key has no entry afterwards.
     *
     * @param value the value, or null for a proven absence
     * @param xmin every xid below it was finished for the snapshot that the value came from
     * @param lsn the entry counts as ahead of the stream up to this position
     */
    Put put(int space, long hash, byte[] key, byte @Nullable [] value, long xmin, long lsn);

    /** Removes under the partition's lock; true if an entry was there. */
    boolean remove(int space, long hash, byte[] key);

    /** The entry's {@code xmin}, or -1 if there is no entry; under the partition's lock. */
    long xmin(int space, long hash, byte[] key);

    /** The entry's {@code lsn}, or -1 if there is no entry; takes no lock of the caller's. */
    long lsn(int space, long hash, byte[] key, int offset, int length);

    /**
     * Does a bounded step of the work that nobody waits for: frees entries of dropped spaces and makes room ahead of need. For one background thread;
     * takes partitions' locks for short sections.
     *
     * @param maxSteps about how many entries to look at
     * @return whether there is more to do now
     */
    boolean reclaim(int maxSteps);

    /** A moment's figures. */
    CacheStats stats();
}
