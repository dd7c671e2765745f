package dev.pgnear.resp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One decoded request: positions of its arguments in the connection's input buffer. Valid until the request is consumed; nothing is copied.
 */
public final class Request {
    private static final int INITIAL_ARGUMENTS = 16;
    private static final int KEPT_ARGUMENTS = 4096;

    private byte[] bytes = new byte[0];
    private int base;
    private int count;
    private int[] offsets = new int[INITIAL_ARGUMENTS];
    private int[] lengths = new int[INITIAL_ARGUMENTS];

    void clear() {
        count = 0;
        if (offsets.length > KEPT_ARGUMENTS) {
            offsets = new int[INITIAL_ARGUMENTS];
            lengths = new int[INITIAL_ARGUMENTS];
        }
    }

    /** Adds an argument whose offset counts from the request's first byte, which may still move within the buffer. */
    void add(int offset, int length) {
        if (count == offsets.length) {
            offsets = Arrays.copyOf(offsets, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
        }
        offsets[count] = offset;
        lengths[count++] = length;
    }

    void at(byte[] buffer, int start) {
        bytes = buffer;
        base = start;
    }

    /** Arguments, the command's name included; at least 1. */
    public int count() {
        return count;
    }

    /** The array that the offsets point into; not to be changed. */
    public byte[] bytes() {
        return bytes;
    }

    /** Where argument {@code i} begins in {@link #bytes}. */
    public int offset(int i) {
        return base + offsets[i];
    }

    /** Bytes of argument {@code i}. */
    public int length(int i) {
        return lengths[i];
    }

    /** Argument {@code i} as text, byte by byte for bytes that are not UTF-8's. */
    public String string(int i) {
        return new String(bytes, offset(i), lengths[i], StandardCharsets.UTF_8);
    }

    /** A copy of argument {@code i}. */
    public byte[] copy(int i) {
        return Arrays.copyOfRange(bytes, offset(i), offset(i) + lengths[i]);
    }

    /** Whether argument {@code i} is this word of ASCII letters and hyphens, in any case. */
    public boolean is(int i, String word) {
        if (lengths[i] != word.length()) {
            return false;
        }
        for (int k = 0, at = offset(i); k < word.length(); k++) {
            if (Character.toLowerCase((char) (bytes[at + k] & 0xFF)) != Character.toLowerCase(word.charAt(k))) {
                return false;
            }
        }
        return true;
    }

    /** Argument {@code i} as Redis reads integers (util.c, string2ll): no sign +, no leading zeros, no spaces; else {@code otherwise}. */
    public long integer(int i, long otherwise) {
        return RequestDecoder.integer(bytes, offset(i), lengths[i], otherwise);
    }
}
