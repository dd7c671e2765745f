package dev.pgnear.resp;

import dev.pgnear.base.Limits;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds requests in the bytes of one connection: arrays of bulk strings and inline commands, as Redis 7.2 frames them (redis.io, "Redis
 * serialization protocol specification"; networking.c, processMultibulkBuffer and processInlineBuffer).
 *
 * <p>Input is appended to one array; a request is decoded where it lies, by index. Decoding resumes where it stopped, so a request that
 * comes one byte at a time costs no more than a whole one. Lengths are compared with the bounds before anything is reserved for them. Each
 * prefix of a valid request is {@link Step#INCOMPLETE}. After {@link Step#ERROR} nothing more is decoded.
 *
 * <pre>
 *   between requests --'*n'--> bulks(n) --'$len'--> body --> bulks(n-1) ... --> REQUEST --consume--> between requests
 *          |  '*0', '*-1', empty line: stay               other first byte: inline line --> REQUEST
 * </pre>
 */
public final class RequestDecoder {
    /** Outcome of {@link #next}. */
    public enum Step {
        /** {@link #request} is complete. */
        REQUEST,
        /** More bytes are needed. */
        INCOMPLETE,
        /** The frame is malformed; {@link #error} says how. */
        ERROR
    }

    private static final int NO_BULK = -1;
    private static final int INITIAL_BYTES = 1024;
    private static final int KEPT_BYTES = 4 << 10;
    private static final byte[] EMPTY = {};

    private final Request request = new Request();
    private byte[] buffer = EMPTY;
    private int start;
    private int position;
    private int end;
    private int scanned;
    private int bulksToCome;
    private int bulkLength = NO_BULK;
    private boolean ready;
    private boolean trusted = true;
    private @Nullable String error;

    /** Whether the peer has authenticated: until then requests must be small, as in Redis. */
    public void trusted(boolean isTrusted) {
        trusted = isTrusted;
    }

    /** The request, after {@link Step#REQUEST} until {@link #consume}. */
    public Request request() {
        return request;
    }

    /** The error line without prefix, after {@link Step#ERROR}. */
    public String error() {
        return error == null ? "" : error;
    }

    /** Bytes received and not consumed. */
    public int buffered() {
        return end - start;
    }

    /** Appends everything readable. */
    public void append(ByteBuf in) {
        int length = in.readableBytes();
        reserve(length);
        in.readBytes(buffer, end, length);
        end += length;
    }

    private void reserve(int length) {
        if (buffer.length - end >= length) {
            return;
        }
        int held = end - start;
        byte[] target = buffer;
        if (buffer.length - held < length) {
            target = new byte[Math.max(INITIAL_BYTES, Integer.highestOneBit(held + length - 1) << 1)];
        }
        System.arraycopy(buffer, start, target, 0, held);
        buffer = target;
        position -= start;
        scanned = Math.max(scanned - start, 0);
        end = held;
        start = 0;
        request.at(buffer, 0);
    }

    /** Decodes until a request is complete; the same one again until it is consumed. */
    public Step next() {
        if (ready) {
            return Step.REQUEST;
        }
        while (error == null && position < end) {
            Step step = bulksToCome > 0 ? bulks() : buffer[position] == '*' ? header() : inline();
            if (step != null) {
                return step;
            }
        }
        return error == null ? Step.INCOMPLETE : Step.ERROR;
    }

    /** Done with the request: its bytes may be overwritten. */
    public void consume() {
        ready = false;
        skip();
        if (start == end) {
            empty();
        }
    }

    private void empty() {
        start = 0;
        position = 0;
        scanned = 0;
        end = 0;
        if (buffer.length > KEPT_BYTES) {
            buffer = EMPTY;
        }
    }

    /** The bytes up to here are over. */
    private void skip() {
        start = position;
        request.clear();
    }

    private @Nullable Step header() {
        int eol = lineEnd();
        if (eol < 0) {
            return tooLong("too big mbulk count string");
        }
        long n = integer(buffer, position + 1, eol - position - 1, Long.MAX_VALUE);
        if (n > Limits.MULTIBULK_COUNT) {
            return fail("invalid multibulk length");
        }
        if (n > Limits.UNAUTHENTICATED_ARGUMENTS && !trusted) {
            return fail("unauthenticated multibulk length");
        }
        position = eol + 2;
        if (n <= 0) {
            skip();
            return null;
        }
        bulksToCome = (int) n;
        return null;
    }

    private @Nullable Step bulks() {
        while (bulksToCome > 0) {
            if (bulkLength == NO_BULK) {
                Step step = bulkHeader();
                if (step != null) {
                    return step;
                }
            }
            if (end - position < bulkLength + 2) {
                return Step.INCOMPLETE;
            }
            request.add(position - start, bulkLength);
            position += bulkLength + 2;
            bulkLength = NO_BULK;
            bulksToCome--;
        }
        return complete();
    }

    private @Nullable Step bulkHeader() {
        if (position >= end) {
            return Step.INCOMPLETE;
        }
        int eol = lineEnd();
        if (eol < 0) {
            return tooLong("too big bulk count string");
        }
        if (buffer[position] != '$') {
            return fail("expected '$', got '" + (char) (buffer[position] & 0xFF) + "'");
        }
        long n = integer(buffer, position + 1, eol - position - 1, -1);
        if (n < 0 || n > Limits.REQUEST_BYTES) {
            return fail("invalid bulk length");
        }
        if (n > Limits.UNAUTHENTICATED_BULK_BYTES && !trusted) {
            return fail("unauthenticated bulk length");
        }
        if (eol + 4 - start + n > Limits.REQUEST_BYTES) {
            return fail("request is longer than " + Limits.REQUEST_BYTES + " bytes");
        }
        position = eol + 2;
        bulkLength = (int) n;
        return null;
    }

    private Step complete() {
        ready = true;
        request.at(buffer, start);
        return Step.REQUEST;
    }

    /** Index of the CR that ends the line at {@link #position}, if the byte after it has come too, else -1. Redis does not look at that byte. */
    private int lineEnd() {
        for (int i = position; i < end - 1; i++) {
            if (buffer[i] == '\r') {
                return i;
            }
        }
        return -1;
    }

    private Step tooLong(String message) {
        return end - position > Limits.INLINE_BYTES ? fail(message) : Step.INCOMPLETE;
    }

    private @Nullable Step inline() {
        int eol = Math.max(position, scanned);
        while (eol < end && buffer[eol] != '\n') {
            eol++;
        }
        scanned = eol;
        if (eol == end) {
            return tooLong("too big inline request");
        }
        int lineEnd = eol > position && buffer[eol - 1] == '\r' ? eol - 1 : eol;
        boolean balanced = InlineArguments.split(buffer, position, lineEnd, start, request);
        if (!balanced) {
            return fail("unbalanced quotes in request");
        }
        position = eol + 1;
        if (request.count() == 0) {
            skip();
            return null;
        }
        return complete();
    }

    private Step fail(String message) {
        error = "Protocol error: " + message;
        return Step.ERROR;
    }

    /** Forgets everything; the connection is over. */
    void release() {
        buffer = EMPTY;
        empty();
    }

    /** See {@link Request#integer}. */
    static long integer(byte[] b, int offset, int length, long otherwise) {
        if (length == 1 && b[offset] == '0') {
            return 0;
        }
        boolean negative = length > 0 && b[offset] == '-';
        int i = negative ? offset + 1 : offset;
        int stop = offset + length;
        if (i >= stop || b[i] < '1' || stop - i > 19) {
            return otherwise;
        }
        long n = 0;
        for (; i < stop; i++) {
            int digit = b[i] - '0';
            if (digit < 0 || digit > 9) {
                return otherwise;
            }
            n = n * 10 - digit;
            if (n > 0) {
                return otherwise;
            }
        }
        return negative ? n : n == Long.MIN_VALUE ? otherwise : -n;
    }

    @Override
    public String toString() {
        return "RequestDecoder" + Arrays.toString(new int[] {start, position, end, bulksToCome, bulkLength});
    }
}
