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
