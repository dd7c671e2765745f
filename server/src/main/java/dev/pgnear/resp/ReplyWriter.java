package dev.pgnear.resp;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Writes replies in RESP2 or RESP3 (github.com/redis/redis-specifications, protocol/RESP3.md); only this class knows which. A type that
 * RESP2 lacks is written as Redis writes it there: maps and sets as arrays, doubles as bulk strings, booleans as integers, verbatim text
 * as a bulk string. Aimed at one buffer at a time; not thread-safe.
 */
public final class ReplyWriter {
    private static final int MAX_DIGITS = 20;
    private static final short CRLF = 0x0D0A;

    private final byte[] digits = new byte[MAX_DIGITS];
    private @Nullable ByteBuf out;
    private boolean resp3;

    /** Aims at a buffer. */
    public ReplyWriter to(ByteBuf buffer) {
        out = buffer;
        return this;
    }

    /** The buffer that it is aimed at. */
    public ByteBuf buffer() {
        ByteBuf buffer = out;
        if (buffer == null) {
            throw new IllegalStateException("the writer has no buffer");
        }
        return buffer;
    }

    /** 2 or 3. */
    public int protocol() {
        return resp3 ? 3 : 2;
    }

    /** 2 or 3, from the next reply on. */
    public void protocol(int version) {
        resp3 = version == 3;
    }

    /** A status; no CR or LF in it. */
    public void simple(String status) {
        line('+', status);
    }

    /** {@code +OK}. */
    public void ok() {
        simple("OK");
    }

    /** An error line, its prefix word included; CR and LF become blanks. */
    public void error(String message) {
        line('-', message.replace('\r', ' ').replace('\n', ' '));
    }

    /** Something other than the usual bytes of ASCII text is written as UTF-8. */
    private void line(char type, String text) {
        buffer().writeByte(type).writeCharSequence(text, StandardCharsets.UTF_8);
        crlf();
    }

    /** An integer. */
    public void integer(long n) {
        header(':', n);
    }

    /** A bulk string of text. */
    public void bulk(String text) {
        bulk(text.getBytes(StandardCharsets.UTF_8));
    }

    /** A bulk string. */
    public void bulk(byte[] bytes) {
        bulk(bytes, 0, bytes.length);
    }

    /** A bulk string. */
    public void bulk(byte[] bytes, int offset, int length) {
        header('$', length);
        buffer().writeBytes(bytes, offset, length);
        crlf();
    }

    /** A text for people: verbatim in RESP3. */
    public void verbatim(String text) {
        if (!resp3) {
            bulk(text);
            return;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        header('=', bytes.length + 4L);
        buffer().writeBytes(new byte[] {'t', 'x', 't', ':'}).writeBytes(bytes);
        crlf();
    }

    /** A missing value. */
    public void nullBulk() {
        if (resp3) {
            nothing();
        } else {
            header('$', -1);
        }
    }

    /** A missing array. */
    public void nullArray() {
        if (resp3) {
            nothing();
        } else {
            header('*', -1);
        }
    }

    private void nothing() {
        buffer().writeByte('_');
        crlf();
    }

    /** An array of {@code n} replies that follow. */
    public void array(int n) {
        header('*', n);
    }

    /** A map of {@code n} pairs that follow. */
    public void map(int n) {
        if (resp3) {
            header('%', n);
        } else {
            header('*', 2L * n);
        }
    }

    /** A set of {@code n} replies that follow. */
    public void set(int n) {
        header(resp3 ? '~' : '*', n);
    }

    /** An out-of-band message of {@code n} replies that follow. */
    public void push(int n) {
        header(resp3 ? '>' : '*', n);
    }

    /** A truth value. */
    public void bool(boolean b) {
        if (resp3) {
            line('#', b ? "t" : "f");
        } else {
            integer(b ? 1 : 0);
        }
    }

    /** A double, in the shortest form that reads back as the same number. */
    public void real(double d) {
        String text = Double.isInfinite(d) ? d > 0 ? "inf" : "-inf" : Double.isNaN(d) ? "nan" : shortest(d);
        if (resp3) {
            line(',', text);
        } else {
            bulk(text);
        }
    }

    private static String shortest(double d) {
        return d == Math.rint(d) && Math.abs(d) < 1e15 ? Long.toString((long) d) : Double.toString(d);
    }

    /** Type, number, CR, LF. */
    void header(char type, long n) {
        int length = digits(n);
        ByteBuf buffer = buffer();
        buffer.ensureWritable(length + 3);
        buffer.writeByte(type);
        buffer.writeBytes(digits, MAX_DIGITS - length, length);
        buffer.writeShort(CRLF);
    }

    /** Digits of a number from the scratch's end; how many. */
    private int digits(long n) {
        if (n == Long.MIN_VALUE) {
            byte[] text = Long.toString(n).getBytes(StandardCharsets.US_ASCII);
            System.arraycopy(text, 0, digits, 0, text.length);
            return text.length;
        }
        int at = MAX_DIGITS;
        long rest = Math.abs(n);
        do {
            digits[--at] = (byte) ('0' + rest % 10);
            rest /= 10;
        } while (rest > 0);
        if (n < 0) {
            digits[--at] = '-';
        }
        return MAX_DIGITS - at;
    }

    /** CR, LF. */
    void crlf() {
        buffer().writeShort(CRLF);
    }
}
