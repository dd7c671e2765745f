package dev.pgnear.pg.catalog;

import java.util.Arrays;

/** A reusable, growing buffer for one canonical key. Not thread-safe. */
public final class KeyBuffer {
    private byte[] bytes = new byte[64];
    private int length;

    /** Forget the contents. */
    public void clear() {
        length = 0;
    }

    /** The backing array; valid until the next append. */
    public byte[] bytes() {
        return bytes;
    }

    /** Bytes in use. */
    public int length() {
        return length;
    }

    /** Forgets everything beyond the first {@code newLength} bytes, which must be there. */
    void truncate(int newLength) {
        length = newLength;
    }

    /** Appends one byte. */
    public void append(int b) {
        room(1);
        bytes[length++] = (byte) b;
    }

    /** Appends a range. */
    public void append(byte[] source, int offset, int count) {
        room(count);
        System.arraycopy(source, offset, bytes, length, count);
        length += count;
    }

    /** Appends the {@code width} low bytes of a number, most significant first. */
    void appendNumber(long value, int width) {
        room(width);
        for (int shift = (width - 1) * 8; shift >= 0; shift -= 8) {
            bytes[length++] = (byte) (value >>> shift);
        }
    }

    /** Appends a length of a variable value: seven bits a byte, low ones first, the top bit means that more follow. */
    void appendLength(int value) {
        int rest = value;
        while (rest >= 0x80) {
            append(rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        append(rest);
    }

    /** A copy of the contents. */
    public byte[] toArray() {
        return Arrays.copyOf(bytes, length);
    }

    private void room(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
        }
    }
}
