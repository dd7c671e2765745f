package dev.pgnear.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.base.Limits;
import dev.pgnear.base.ValueSink;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Keeps the last value, without allocating while it receives one. */
final class BytesSink implements ValueSink {
    private final byte[] bytes = new byte[Limits.CACHED_ROW_BYTES];
    private int expected = -1;
    private int length;
    private int rollbacks;

    @Override
    public void begin(int valueLength) {
        if (expected != -1) {
            throw new IllegalStateException("begin without rollback or reset");
        }
        expected = valueLength;
        length = 0;
    }

    @Override
    public void chunk(MemorySegment source, long offset, int chunkLength) {
        MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, bytes, length, chunkLength);
        length += chunkLength;
    }

    @Override
    public void rollback() {
        expected = -1;
        rollbacks++;
    }

    void reset() {
        expected = -1;
    }

    int rollbacks() {
        return rollbacks;
    }

    int length() {
        return length;
    }

    byte[] buffer() {
        return bytes;
    }

    /** The value received since the last call. */
    byte[] take() {
        assertThat(length).isEqualTo(expected);
        expected = -1;
        return Arrays.copyOf(bytes, length);
    }

    boolean isUntouched() {
        return expected == -1;
    }
}
