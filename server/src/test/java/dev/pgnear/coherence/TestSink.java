package dev.pgnear.coherence;

import dev.pgnear.base.ValueSink;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Collects one value. */
final class TestSink implements ValueSink {
    private byte[] bytes = new byte[64];
    private int length;

    @Override
    public void begin(int newLength) {
        length = 0;
        bytes = bytes.length < newLength ? new byte[newLength] : bytes;
    }

    @Override
    public void chunk(MemorySegment source, long offset, int n) {
        MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, bytes, length, n);
        length += n;
    }

    @Override
    public void rollback() {
        length = 0;
    }

    byte[] value() {
        return Arrays.copyOf(bytes, length);
    }
}
