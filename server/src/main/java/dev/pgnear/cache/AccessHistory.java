package dev.pgnear.cache;

import dev.pgnear.memory.Memory;
import dev.pgnear.memory.SizeClasses;

/**
 * What eviction knows about use, in two side tables of fixed place.
 *
 * <p><b>Visited bits</b>, one per 64 bytes of slabs; an entry's bit is that of its head's first byte. Readers set it after they validated their
 * read, without a lock. By then the entry may be gone and the memory may hold another's; as the bits lie apart from what they describe, the worst outcome
 * is one undeserved second chance.
 *
 * <p><b>Ghosts</b>, one 16-bit fingerprint per 256 bytes of slabs, direct mapped: the entries that probation let go lately. One that comes back
 * goes to the main generation at once. Written and read without a lock; a lost or mistaken fingerprint costs a bad guess, nothing else.
 */
final class AccessHistory {
    /** Bytes of both tables per slab. */
    static final int BYTES_PER_SLAB = SizeClasses.SLAB_BYTES / 64 / 8 + SizeClasses.SLAB_BYTES / 256 * 2;

    private static final int VISITED_BYTES_PER_SLAB = SizeClasses.SLAB_BYTES / 64 / 8;

    private final Memory memory;
    private final long slabsBase;
    private final long ghostsBase;
    private final long ghosts;

    /** Uses the first {@code slabs * BYTES_PER_SLAB} bytes of the memory. */
    AccessHistory(Memory memory, long slabsBase, int slabs) {
        this.memory = memory;
        this.slabsBase = slabsBase;
        ghostsBase = (long) slabs * VISITED_BYTES_PER_SLAB;
        ghosts = (long) slabs * (SizeClasses.SLAB_BYTES / 256);
    }

    /** Marks an entry as used. */
    void visit(long entry) {
        long granule = entry - slabsBase >>> 6;
        memory.setBits(granule >>> 6 << 3, 1L << granule);
    }

    /** Whether an entry was used since the last call, which is forgotten now. */
    boolean takeVisit(long entry) {
        long granule = entry - slabsBase >>> 6;
        return memory.clearBits(granule >>> 6 << 3, 1L << granule);
    }

    /** Starts an entry's history anew. */
    void forget(long entry) {
        boolean visited = takeVisit(entry);
    }

    /** Whether an entry was used. */
    boolean isVisited(long entry) {
        long granule = entry - slabsBase >>> 6;
        return (memory.getLongOpaque(granule >>> 6 << 3) & 1L << granule) != 0;
    }

    /** Remembers that probation let an entry go. */
    void addGhost(int partition, int lowHash) {
        long mixed = mix(partition, lowHash);
        memory.putShort(ghostAddress(mixed), fingerprint(mixed));
    }

    /** Whether probation let such an entry go lately. */
    boolean isGhost(int partition, int lowHash) {
        long mixed = mix(partition, lowHash);
        return memory.getShort(ghostAddress(mixed)) == fingerprint(mixed);
    }

    private long ghostAddress(long mixed) {
        return ghostsBase + 2 * ((mixed >>> 32) * ghosts >>> 32);
    }

    private static short fingerprint(long mixed) {
        return (short) (mixed | 1);
    }

    private static long mix(int partition, int lowHash) {
        long z = ((long) partition << 32 | lowHash & 0xFFFFFFFFL) * 0x9E3779B97F4A7C15L;
        return (z ^ z >>> 32) * 0xD6E8FEB86659FD93L;
    }
}
