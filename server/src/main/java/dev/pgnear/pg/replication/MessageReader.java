package dev.pgnear.pg.replication;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A cursor over one message inside a larger, reused buffer. Reading past the message's end is a protocol error, never another message's bytes. */
final class MessageReader {
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private byte[] bytes = new byte[0];
    private int at;
    private int end;

    /** Begins at {@code from}; the message ends before {@code to}. */
    MessageReader over(byte[] source, int from, int to) {
        bytes = source;
        at = from;
        end = to;
        return this;
    }

    byte[] bytes() {
        return bytes;
    }

    int at() {
        return at;
    }

    int remaining() {
        return end - at;
    }

    int u8() throws StreamProtocolException {
        return bytes[take(1)] & 0xFF;
    }

    int u16() throws StreamProtocolException {
        return (short) SHORT.get(bytes, take(2)) & 0xFFFF;
    }

    int i32() throws StreamProtocolException {
        return (int) INT.get(bytes, take(4));
    }

    long i64() throws StreamProtocolException {
        return (long) LONG.get(bytes, take(8));
    }

    /** A zero-terminated string. */
    String string() throws StreamProtocolException {
        int zero = at;
        while (zero < end && bytes[zero] != 0) {
            zero++;
        }
        if (zero == end) {
            throw new StreamProtocolException("a text in a replication message has no end");
        }
        String s = new String(bytes, at, zero - at, StandardCharsets.UTF_8);
        at = zero + 1;
        return s;
    }

    /** Skips {@code count} bytes and returns where they began. */
    int take(int count) throws StreamProtocolException {
        if (count < 0 || count > end - at) {
            throw new StreamProtocolException("a replication message ends too early");
        }
        int from = at;
        at += count;
        return from;
    }

    void mustBeAtEnd() throws StreamProtocolException {
        if (at != end) {
            throw new StreamProtocolException("a replication message has " + (end - at) + " bytes too many");
        }
    }
}
