package dev.pgnear.memory;

import java.util.Arrays;

/**
 * Chunk sizes. Each class cuts a slab into {@code n} equal chunks without a remainder worth naming, and neighbours differ by so little that a
 * chunk wastes at most an eighth of itself: from {@link #MAX_CHUNK_BYTES} downwards, the next class is the smallest size of at least 7/8
 * of the one before, rounded up to 8 bytes and then enlarged to the largest size with the same number of chunks per slab.
 *
 * <p>Two more classes serve the index only: pages and overflow buckets, both multiples of the cache line.
 */
public final class SizeClasses {
    /** Bytes of a slab. */
    public static final int SLAB_BYTES = 1 << 16;

    /** Bytes of the largest chunk for data; larger values take several. */
    public static final int MAX_CHUNK_BYTES = SLAB_BYTES / 8;

    /** Bytes of the smallest chunk for data. */
    public static final int MIN_CHUNK_BYTES = 40;

    private static final int[] DATA = dataSizes();

    /** Class of index pages of 4 KiB. */
    public static final int INDEX_PAGE = DATA.length;

    /** Class of overflow buckets of 64 bytes. */
    public static final int OVERFLOW_BUCKET = DATA.length + 1;

    /** Number of classes. */
    public static final int COUNT = DATA.length + 2;

    private static final byte[] CLASS_BY_WORDS = classByWords();

    private SizeClasses() {}

    /** Bytes of a chunk of the class. */
    public static int chunkBytes(int sizeClass) {
        if (sizeClass < DATA.length) {
            return DATA[sizeClass];
        }
        return sizeClass == INDEX_PAGE ? 4096 : 64;
    }

    /** Chunks of the class in one slab. */
    public static int chunksPerSlab(int sizeClass) {
        return SLAB_BYTES / chunkBytes(sizeClass);
    }

    /** The class with the least waste for {@code bytes}, from 1 to {@link #MAX_CHUNK_BYTES}. */
    public static int of(int bytes) {
        return CLASS_BY_WORDS[(bytes + 7) >>> 3];
    }

    private static int[] dataSizes() {
        int[] sizes = new int[100];
        int count = 0;
        int size = MAX_CHUNK_BYTES;
        while (size > MIN_CHUNK_BYTES) {
            sizes[count++] = size;
            int next = Math.min(size - 8, (size * 7 / 8 + 7) & ~7);
            int chunks = SLAB_BYTES / next;
            size = Math.min(size - 8, (SLAB_BYTES / chunks) & ~7);
        }
        sizes[count++] = MIN_CHUNK_BYTES;
        int[] ascending = new int[count];
        for (int i = 0; i < count; i++) {
            ascending[i] = sizes[count - 1 - i];
        }
        return ascending;
    }

    private static byte[] classByWords() {
        byte[] table = new byte[MAX_CHUNK_BYTES / 8 + 1];
        for (int words = 0; words < table.length; words++) {
            int at = Arrays.binarySearch(DATA, words * 8);
            table[words] = (byte) (at >= 0 ? at : -at - 1);
        }
        return table;
    }
}
