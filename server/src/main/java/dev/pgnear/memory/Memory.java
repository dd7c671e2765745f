package dev.pgnear.memory;

import dev.pgnear.base.Check;
import dev.pgnear.base.ValueSink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The cache's one range of off-heap memory, addressed by byte offsets ("addresses") from its start. The whole range is reserved at once but
 * takes no physical memory before it is first written. It is unmapped only when nothing refers to it any more, so that reading any address of
 * the range is always defined, whatever lies there by now; that is what optimistic readers build on.
 *
 * <p>Accesses are plain unless the name says otherwise; callers order them by locks, fences and version checks. Longs must be aligned to
 * 8 bytes. An address outside the range is a programmer's error and throws {@link IndexOutOfBoundsException}; optimistic readers bound what
 * they read before they use it as an address.
 */
public final class Memory {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle ARRAY_LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final MemorySegment segment;

    /**
     * Reserves a range.
     *
     * @param bytes size, above 0
     * @throws IllegalStateException if the operating system refuses
     */
    public Memory(long bytes) {
        Check.that(bytes > 0, "empty memory");
        segment = Reservation.reserve(bytes, Arena.ofAuto());
    }

    /** Size of the range in bytes. */
    public long bytes() {
        return segment.byteSize();
    }

    /** The aligned long at an address. */
    public long getLong(long address) {
        return segment.get(ValueLayout.JAVA_LONG, address);
    }

    /** The aligned long at an address, never torn nor kept from an earlier look; orders nothing else. */
    public long getLongOpaque(long address) {
        return (long) LONG.getOpaque(segment, address);
    }

    /** Writes an aligned long. */
    public void putLong(long address, long value) {
        segment.set(ValueLayout.JAVA_LONG, address, value);
    }

    /** The aligned two bytes at an address. */
    public short getShort(long address) {
        return segment.get(ValueLayout.JAVA_SHORT, address);
    }

    /** Writes two aligned bytes. */
    public void putShort(long address, short value) {
        segment.set(ValueLayout.JAVA_SHORT, address, value);
    }

    /** Sets bits of an aligned long atomically; only writes if one of them is clear. */
    public void setBits(long address, long bits) {
        if (((long) LONG.getOpaque(segment, address) & bits) != bits) {
            long before = (long) LONG.getAndBitwiseOr(segment, address, bits);
        }
    }

    /**
     * Clears bits of an aligned long atomically.
     *
     * @return whether one of them was set
     */
    public boolean clearBits(long address, long bits) {
        if (((long) LONG.getOpaque(segment, address) & bits) == 0) {
            return false;
        }
        return ((long) LONG.getAndBitwiseAnd(segment, address, ~bits) & bits) != 0;
    }

    /** Fills {@code length} bytes with zero. */
    public void zero(long address, int length) {
        for (int i = 0; i < length; i += Long.BYTES) {
            putLong(address + i, 0);
        }
    }

    /** Copies {@code length} bytes of an array to an address. */
    public void write(long address, byte[] source, int offset, int length) {
        MemorySegment.copy(source, offset, segment, ValueLayout.JAVA_BYTE, address, length);
    }

    /** Copies {@code length} bytes to another, not overlapping address. */
    public void copy(long from, long to, int length) {
        MemorySegment.copy(segment, from, segment, to, length);
    }

    /** Hands {@code length} bytes at an address to a sink. */
    public void writeTo(ValueSink sink, long address, int length) {
        sink.chunk(segment, address, length);
    }

    /** Whether the bytes at an address equal those of an array. */
    public boolean matches(long address, byte[] bytes, int offset, int length) {
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            long there = segment.get(ValueLayout.JAVA_LONG_UNALIGNED, address + i);
            if (there != (long) ARRAY_LONG.get(bytes, offset + i)) {
                return false;
            }
        }
        for (; i < length; i++) {
            if (segment.get(ValueLayout.JAVA_BYTE, address + i) != bytes[offset + i]) {
                return false;
            }
        }
        return true;
    }
}
