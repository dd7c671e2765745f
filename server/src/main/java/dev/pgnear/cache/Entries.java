package dev.pgnear.cache;

import dev.pgnear.base.Limits;
import dev.pgnear.base.ValueSink;
import dev.pgnear.memory.Memory;
import dev.pgnear.memory.SizeClasses;
import dev.pgnear.memory.SlabAllocator;
import org.jspecify.annotations.Nullable;

/**
 * How an entry lies in its chunks.
 *
 * <pre>
 * head           word 0   kind (8 bits) | partition (8) | key length (16) | low half of the hash (32)
 *                word 1   value length, -1 for a proven absence (32) | space (32)
 *                word 2   xmin
 *                word 3   lsn
 *                word 4   address of the next chunk, only if the kind is CHAINED
 *                         key, value or the value's first part
 * continuation   word 0   kind (8) | partition (8)
 *                word 1   address of the next chunk, 0 in the last
 *                word 2   address of the head
 *                         the value's next part
 * </pre>
 *
 * <p>An entry that fits has one chunk. Of a larger one all chunks but the last have {@link SizeClasses#MAX_CHUNK_BYTES}, so lengths of parts follow
 * from the entry's. Chunks are written before the index refers to them and not changed afterwards, save for addresses when a chunk is moved, which is
 * a change under the partition's lock and version like any other.
 */
final class Entries {
    static final int SINGLE = 1;
    static final int CHAINED = 2;
    static final int CONTINUATION = 3;

    static final int HEAD_BYTES = 32;
    static final int CHAINED_HEAD_BYTES = 40;
    static final int CONTINUATION_BYTES = 24;
    static final int PART_BYTES = SizeClasses.MAX_CHUNK_BYTES - CONTINUATION_BYTES;

    /** Most chunks of one entry. */
    static final int MAX_CHUNKS = 1 + (Limits.CACHED_ROW_BYTES + PART_BYTES - 1) / PART_BYTES;

    static final long NO_NEXT = 0;

    private static final int ABSENT = -1;
    private static final int NEXT = 32;

    private final Memory memory;
    private final SlabAllocator allocator;

    Entries(Memory memory, SlabAllocator allocator) {
        this.memory = memory;
        this.allocator = allocator;
    }

    static int kind(long word0) {
        return (int) word0 & 0xFF;
    }

    static int partition(long word0) {
        return (int) (word0 >>> 8) & 0xFF;
    }

    static int keyLength(long word0) {
        return (int) (word0 >>> 16) & 0xFFFF;
    }

    static int lowHash(long word0) {
        return (int) (word0 >>> 32);
    }

    static int headBytes(long word0) {
        return kind(word0) == CHAINED ? CHAINED_HEAD_BYTES : HEAD_BYTES;
    }

    /** Bytes of the {@code i}-th chunk of an entry with so many bytes of key and value, or 0 if it has fewer chunks. */
    static int bytesOfChunk(int i, int keyBytes, int valueBytes) {
        if (HEAD_BYTES + keyBytes + valueBytes <= SizeClasses.MAX_CHUNK_BYTES) {
            return i == 0 ? HEAD_BYTES + keyBytes + valueBytes : 0;
        }
        if (i == 0) {
            return SizeClasses.MAX_CHUNK_BYTES;
        }
        int first = SizeClasses.MAX_CHUNK_BYTES - CHAINED_HEAD_BYTES - keyBytes;
        int rest = valueBytes - first - (i - 1) * PART_BYTES;
        return rest <= 0 ? 0 : CONTINUATION_BYTES + Math.min(rest, PART_BYTES);
    }

    /** The entry's first word. */
    long word0(long entry) {
        return memory.getLong(entry);
    }

    int space(long entry) {
        return (int) (memory.getLong(entry + 8) >>> 32);
    }

    /** Length of the value; below 0 for a proven absence. */
    int valueLength(long entry) {
        return (int) memory.getLong(entry + 8);
    }

    boolean isPositive(long entry) {
        return valueLength(entry) >= 0;
    }

    long xmin(long entry) {
        return memory.getLong(entry + 16);
    }

    long lsn(long entry) {
        return memory.getLong(entry + 24);
    }

    long headOf(long continuation) {
        return memory.getLong(continuation + 16);
    }

    /** The chunk after any chunk of an entry, or {@link #NO_NEXT}. */
    long next(long chunk) {
        return switch (kind(memory.getLong(chunk))) {
            case CHAINED -> memory.getLong(chunk + NEXT);
            case CONTINUATION -> memory.getLong(chunk + 8);
            default -> NO_NEXT;
        };
    }

    void setNext(long chunk, long next) {
        memory.putLong(chunk + (kind(memory.getLong(chunk)) == CHAINED ? NEXT : 8), next);
    }

    /** Tells all continuations of an entry that was moved where its head is now. */
    void adopt(long entry) {
        for (long chunk = next(entry); chunk != NO_NEXT; chunk = next(chunk)) {
            memory.putLong(chunk + 16, entry);
        }
    }

    /** Copies a chunk to another one of the same class. */
    void copyChunk(long from, long to) {
        memory.copy(from, to, allocator.chunkBytes(from));
    }

    /** Whether the entry at any aligned address has that key in that space; false if what lies there leads outside the slabs. */
    boolean matches(long entry, int space, int lowHash, byte[] key, int offset, int length) {
        if (!allocator.contains(entry, HEAD_BYTES)) {
            return false;
        }
        long word0 = memory.getLong(entry);
        return lowHash(word0) == lowHash
                && keyLength(word0) == length
                && space(entry) == space
                && allocator.contains(entry, CHAINED_HEAD_BYTES + length)
                && memory.matches(entry + headBytes(word0), key, offset, length);
    }

    /** Fills an entry's chunks and links them to each other. */
    void write(
            long[] chunks,
            int space,
            int partition,
            int lowHash,
            byte[] key,
            byte @Nullable [] value,
            long xmin,
            long lsn) {
        int length = value == null ? ABSENT : value.length;
        boolean chained = HEAD_BYTES + key.length + length > SizeClasses.MAX_CHUNK_BYTES;
        long entry = chunks[0];
        memory.putLong(
                entry, (long) lowHash << 32 | (long) key.length << 16 | partition << 8 | (chained ? CHAINED : SINGLE));
        memory.putLong(entry + 8, (long) space << 32 | length & 0xFFFFFFFFL);
        memory.putLong(entry + 16, xmin);
        memory.putLong(entry + 24, lsn);
        memory.write(entry + (chained ? CHAINED_HEAD_BYTES : HEAD_BYTES), key, 0, key.length);
        if (value != null) {
            int head = (chained ? CHAINED_HEAD_BYTES : HEAD_BYTES) + key.length;
            int first = Math.min(length, SizeClasses.MAX_CHUNK_BYTES - head);
            memory.write(entry + head, value, 0, first);
            if (chained) {
                writeContinuations(chunks, partition, value, first);
            }
        }
    }

    private void writeContinuations(long[] chunks, int partition, byte[] value, int from) {
        memory.putLong(chunks[0] + NEXT, chunks[1]);
        int i = 1;
        for (int at = from; at < value.length; at += PART_BYTES) {
            long chunk = chunks[i++];
            int part = Math.min(value.length - at, PART_BYTES);
            memory.putLong(chunk, partition << 8 | CONTINUATION);
            memory.putLong(chunk + 8, at + part < value.length ? chunks[i] : NO_NEXT);
            memory.putLong(chunk + 16, chunks[0]);
            memory.write(chunk + CONTINUATION_BYTES, value, at, part);
        }
    }

    /**
     * Hands a value to a sink.
     *
     * @param entry address of an entry whose head was valid a moment ago
     * @param word0 its first word, valid
     * @param length its value's length, valid, 0 or more
     * @return false if what lies in the chunks leads outside the slabs, so that the entry has gone meanwhile
     */
    boolean writeTo(ValueSink sink, long entry, long word0, int length) {
        int head = headBytes(word0) + keyLength(word0);
        if (kind(word0) == SINGLE) {
            memory.writeTo(sink, entry + head, length);
            return true;
        }
        int part = SizeClasses.MAX_CHUNK_BYTES - head;
        memory.writeTo(sink, entry + head, part);
        long chunk = memory.getLong(entry + NEXT);
        for (int left = length - part; left > 0; left -= part) {
            part = Math.min(left, PART_BYTES);
            if (!allocator.contains(chunk, CONTINUATION_BYTES + part)) {
                return false;
            }
            memory.writeTo(sink, chunk + CONTINUATION_BYTES, part);
            chunk = memory.getLong(chunk + 8);
        }
        return true;
    }

    /** Gives all chunks of an entry back that nothing refers to any more. */
    void free(long entry) {
        long chunk = entry;
        while (chunk != NO_NEXT) {
            long next = next(chunk);
            allocator.free(chunk);
            chunk = next;
        }
    }
}
