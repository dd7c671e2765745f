package dev.pgnear.pg.replication;

import dev.pgnear.base.NanoClock;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Protocol 3 frames from a blocking stream, in one reused buffer that grows up to a bound. Of a longer frame only the beginning is kept
 * ({@link #cut}); the rest is skipped with the next frame. Read by one thread; {@link #heardNanos} by any.
 */
final class SocketFrames {
    private static final int HEADER = 5;
    private static final int USUAL = 1 << 16;

    private final InputStream in;
    private final NanoClock clock;
    private final int maxBytes;
    private byte[] buffer = new byte[USUAL];
    private int at;
    private int end;
    private long skip;
    private byte type;
    private int bodyAt;
    private int bodyLength;
    private boolean cut;
    private volatile boolean waiting;
    private volatile long heardNanos;

    /**
     * @param maxBytes of one frame that are kept, at least 64 KiB
     */
    SocketFrames(InputStream in, NanoClock clock, int maxBytes) {
        this.in = in;
        this.clock = clock;
        this.maxBytes = maxBytes;
        this.heardNanos = clock.nanos();
    }

    /** Whether a whole frame has been read already, so that {@link #next} will not wait. */
    boolean buffered() {
        return skip == 0 && end - at >= HEADER && end - at >= frameLength();
    }

    /**
     * Waits for the next frame and makes it the current one; the one before is gone.
     *
     * @throws EOFException if the other side closed
     * @throws StreamProtocolException if the length is impossible
     */
    void next() throws IOException {
        shrink();
        skipRest();
        need(HEADER);
        long length = frameLength();
        if (length < HEADER) {
            throw new StreamProtocolException("a frame of " + length + " bytes");
        }
        int kept = (int) Math.min(length, maxBytes);
        need(kept);
        type = buffer[at];
        bodyAt = at + HEADER;
        bodyLength = kept - HEADER;
        cut = kept < length;
        skip = length - kept;
        at += kept;
    }

    /** Type and length together, as announced. */
    private long frameLength() {
        return 1L + ByteBuffer.wrap(buffer, at + 1, 4).getInt();
    }

    private void shrink() {
        if (buffer.length > USUAL * 16 && end - at <= USUAL) {
            buffer = Arrays.copyOf(Arrays.copyOfRange(buffer, at, end), USUAL);
            end -= at;
            at = 0;
        }
    }

    private void skipRest() throws IOException {
        while (skip > 0) {
            need(1);
            int n = (int) Math.min(skip, end - at);
            at += n;
            skip -= n;
        }
    }

    private void need(int bytes) throws IOException {
        if (at == end) {
            at = 0;
            end = 0;
        }
        if (bytes > buffer.length - at) {
            room(bytes);
        }
        while (end - at < bytes) {
            fill();
        }
    }

    private void room(int bytes) {
        byte[] target =
                bytes > buffer.length ? new byte[Math.min(maxBytes, Math.max(bytes, buffer.length * 2))] : buffer;
        System.arraycopy(buffer, at, target, 0, end - at);
        end -= at;
        at = 0;
        buffer = target;
    }

    private void fill() throws IOException {
        heardNanos = clock.nanos();
        waiting = true;
        int n = in.read(buffer, end, buffer.length - end);
        waiting = false;
        if (n < 0) {
            throw new EOFException("PostgreSQL closed the connection");
        }
        heardNanos = clock.nanos();
        end += n;
    }

    /** Gives the processor away some times, as long as no byte has come. */
    void yieldUntilBytes(int times) throws IOException {
        for (int i = 0; i < times && in.available() == 0; i++) {
            Thread.yield();
        }
    }

    byte type() {
        return type;
    }

    byte[] bytes() {
        return buffer;
    }

    int bodyAt() {
        return bodyAt;
    }

    /** Bytes of the body that are kept. */
    int bodyLength() {
        return bodyLength;
    }

    /** Whether the body is longer than {@link #bodyLength}. */
    boolean cut() {
        return cut;
    }

    byte[] body() {
        return Arrays.copyOfRange(buffer, bodyAt, bodyAt + bodyLength);
    }

    /** Whether the reader waits for bytes now; while it works on a message silence means nothing. */
    boolean waiting() {
        return waiting;
    }

    /** When bytes last came, or the waiting for them began. */
    long heardNanos() {
        return heardNanos;
    }
}
