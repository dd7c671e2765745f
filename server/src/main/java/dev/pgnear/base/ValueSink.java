package dev.pgnear.base;

import java.lang.foreign.MemorySegment;

/**
 * Receives the bytes of one cached value, copied once from the slab into the caller's own buffer. The cache may find after the copy that
 * the bytes were being replaced meanwhile; then it calls {@link #rollback} and starts again, so an implementation must be able to forget.
 */
public interface ValueSink {
    /** A value of {@code length} bytes begins; the chunks that follow add up to it. */
    void begin(int length);

    /** Copy {@code length} bytes from {@code source} at {@code offset} now; the segment may change after the call. */
    void chunk(MemorySegment source, long offset, int length);

    /** Forget everything since {@link #begin}. */
    void rollback();
}
