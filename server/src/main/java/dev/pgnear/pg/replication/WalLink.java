package dev.pgnear.pg.replication;

import dev.pgnear.base.NanoClock;
import dev.pgnear.pg.wire.PgException;
import dev.pgnear.pg.wire.Protocol;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A connection in CopyBoth mode ("Streaming Replication Protocol"): hands on what comes, and reports the position.
 *
 * <p>Two threads. The reader reads, hands on, and sends one status message whenever it has used up what it had read and something is to be
 * reported: an advance, or a keepalive, which is answered even when it does not ask for it, since a waiting commit may need nothing else (F33).
 * The heartbeat repeats the status at short intervals, because the server overlooks one that comes before it is streaming, and because the
 * reader may be busy with a large transaction; and it measures silence: after {@code askAfter} it asks for a sign of life, after {@code
 * lostAfter} it closes the connection, which wakes the reader. While the reader works on a message silence says nothing about the link.
 *
 * <p>Where no commit waits for this node an advance is reported by the heartbeat alone: each report wakes the walsender, and one for every small
 * transaction costs both sides a third of their work.
 *
 * <p>The position is written by the reader only, after its effect is complete, and never exceeds what the server has sent (F21).
 */
final class WalLink implements AutoCloseable {
    /** What the reader does with the messages; returns only when their effect is complete. */
    interface Messages {
        /**
         * WAL data in {@code [from, to)} of the buffer, which begins at position {@code walStart}.
         *
         * @param cut whether it goes on beyond {@code to}
         */
        void data(byte[] buffer, int from, int to, boolean cut, long walStart) throws IOException;

        /** The server has sent everything up to {@code walEnd}. */
        void keepalive(long walEnd) throws IOException;

        /** Whether the server is in the middle of a transaction, so that more comes at once. */
        boolean unfinished();
    }

    private static final int DATA_HEADER = 25;
    private static final int KEEPALIVE_BODY = 18;
    private static final int STATUS_BODY = 34;
    /** After this many quick reports since the first keepalive the server is surely streaming. */
    private static final int FIRST_REPORTS = 50;

    private static final int YIELDS = 8;
    private static final long GATHER_NANOS = 250_000;

    private final WalConnection connection;
    private final SocketFrames frames;
    private final StreamOptions options;
    private final Duration statusInterval;
    private final NanoClock clock;
    private final StreamCounters counters;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile long position;
    private volatile long received;
    private volatile long reported;
    private volatile long serverTime;
    private volatile boolean keepaliveSeen;
    private volatile @Nullable String lost;
    private boolean answer;
    private boolean worked;

    /**
     * @param start everything up to it is applied already
     * @param statusInterval between status messages once the server is streaming
     */
    WalLink(
            WalConnection connection,
            long start,
            StreamOptions options,
            Duration statusInterval,
            NanoClock clock,
            StreamCounters counters) {
        this.connection = connection;
        this.frames = connection.frames();
        this.options = options;
        this.statusInterval = statusInterval;
        this.clock = clock;
        this.counters = counters;
        this.position = start;
        this.received = start;
        this.reported = start;
    }

    /** Everything up to {@code lsn} is applied. Reader's thread only; smaller positions are ignored. */
    void applied(long lsn) {
        if (Long.compareUnsigned(lsn, position) > 0) {
            position = lsn;
        }
    }

    /** The server has sent everything up to {@code lsn}, and nothing of it needs to be applied. Reader's thread only. */
    void arrived(long lsn) {
        sent(lsn);
        applied(lsn);
    }

    /** The highest position that the server has named. */
    long received() {
        return received;
    }

    /** The highest position that was reported to the server. */
    long reported() {
        return reported;
    }

    /**
     * Reads until the connection ends, on the calling thread.
     *
     * @throws IOException always, in the end; the message is for users
     */
    void run(Messages messages, String threadName) throws IOException {
        Thread heartbeat = Thread.ofPlatform().daemon().name(threadName).start(this::beat);
        try {
            answer = true;
            while (true) {
                if (!frames.buffered()) {
                    report();
                    gather(messages);
                }
                frames.next();
                frame(messages);
            }
        } catch (IOException e) {
            throw lost == null ? e : new IOException(lost, e);
        } finally {
            close();
            joined(heartbeat);
        }
    }

    /**
     * Lets bytes come together before the reader sleeps in the socket. The server writes the three messages of a small transaction one by one, and
     * being woken for each costs both sides more than the work itself. Where nobody waits for us a little time is given to it, else only
     * the rest of the processor's turn.
     */
    private void gather(Messages messages) throws IOException {
        if (options.standIn()) {
            if (messages.unfinished()) {
                frames.yieldUntilBytes(YIELDS);
            }
        } else if (worked) {
            LockSupport.parkNanos(GATHER_NANOS);
        }
        worked = false;
    }

    private static void joined(Thread heartbeat) {
        try {
            heartbeat.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void frame(Messages messages) throws IOException {
        switch (frames.type()) {
            case Protocol.Backend.COPY_DATA -> copyData(messages);
            case Protocol.Backend.ERROR_RESPONSE -> throw connection.error();
            case Protocol.Backend.NOTICE_RESPONSE -> notice(connection.error());
            case Protocol.Backend.PARAMETER_STATUS -> {}
            case Protocol.Backend.COPY_DONE, Protocol.Backend.COMMAND_COMPLETE, Protocol.Backend.READY_FOR_QUERY ->
                throw new EOFException("PostgreSQL ended the stream, it is shutting down");
            default -> throw new StreamProtocolException("a frame of unknown type " + (char) frames.type());
        }
    }

    /** Version 18 goes on without the publication, with a warning: changes would be missed. */
    private static void notice(PgException notice) {
        if (notice.sqlState().equals("55000")) {
            throw notice;
        }
    }

    private void copyData(Messages messages) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(frames.bytes(), frames.bodyAt(), frames.bodyLength());
        counters.message(frames.bodyLength());
        byte kind = in.hasRemaining() ? in.get() : 0;
        if (kind == 'w' && in.remaining() >= DATA_HEADER - 1) {
            data(messages, in);
        } else if (kind == 'k' && in.remaining() == KEEPALIVE_BODY - 1) {
            keepalive(messages, in);
        } else {
            throw new StreamProtocolException(
                    "a replication message of kind " + kind + " and " + frames.bodyLength() + " bytes");
        }
    }

    private void data(Messages messages, ByteBuffer in) throws IOException {
        long walStart = in.getLong();
        sent(walStart);
        in.getLong(); // end of the server's WAL; not the end of this message
        serverTime = in.getLong();
        worked = true;
        messages.data(frames.bytes(), in.position(), in.limit(), frames.cut(), walStart);
    }

    private void keepalive(Messages messages, ByteBuffer in) throws IOException {
        long walEnd = in.getLong();
        sent(walEnd);
        serverTime = in.getLong();
        counters.keepalive();
        messages.keepalive(walEnd);
        keepaliveSeen = true;
        answer = true;
    }

    private void sent(long lsn) {
        if (Long.compareUnsigned(lsn, received) > 0) {
            received = lsn;
        }
    }

    private void report() throws IOException {
        if (answer || position != reported && options.standIn()) {
            answer = false;
            long p = position;
            connection.write(status(p, false), STATUS_BODY + 5);
            reported = p;
        }
    }

    /** Standby status update; the time is the server's own as it last told it. */
    private byte[] status(long lsn, boolean ask) {
        ByteBuffer b = ByteBuffer.allocate(STATUS_BODY + 5);
        b.put(Protocol.Frontend.COPY_DATA).putInt(STATUS_BODY + 4).put((byte) 'r');
        b.putLong(lsn).putLong(lsn).putLong(lsn).putLong(serverTime).put((byte) (ask ? 1 : 0));
        return b.array();
    }

    // ---- heartbeat

    private void beat() {
        long tick = options.firstStatusInterval().toNanos();
        long lastStatus = clock.nanos();
        long lastAsked = lastStatus;
        int quick = 0;
        while (!pause(tick)) {
            long now = clock.nanos();
            long silent = frames.waiting() ? now - frames.heardNanos() : 0;
            if (silent >= options.lostAfter().toNanos()) {
                lose("nothing came from PostgreSQL for " + options.lostAfter().toMillis() + " ms");
                return;
            }
            boolean ask = silent >= options.askAfter().toNanos()
                    && now - lastAsked >= options.askAfter().toNanos();
            boolean early = quick < FIRST_REPORTS;
            quick += keepaliveSeen ? 1 : 0;
            boolean lazy = !options.standIn() && position != reported;
            if (ask || early || lazy || now - lastStatus >= statusInterval.toNanos()) {
                lastAsked = ask ? now : lastAsked;
                if (repeat(ask)) {
                    lastStatus = now;
                } else if (now - lastStatus >= options.lostAfter().toNanos()) {
                    lose("PostgreSQL took no bytes for " + options.lostAfter().toMillis() + " ms");
                    return;
                }
            }
        }
    }

    /** False if the reader has been writing meanwhile. */
    private boolean repeat(boolean ask) {
        try {
            long p = position;
            boolean written = connection.tryWrite(status(p, ask), STATUS_BODY + 5);
            reported = written ? p : reported;
            return written;
        } catch (IOException e) {
            lose("the connection to PostgreSQL broke: " + e.getMessage());
            return true;
        }
    }

    private void lose(String why) {
        lost = why;
        connection.abort();
    }

    private boolean pause(long nanos) {
        try {
            return closed.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return true;
        }
    }

    @Override
    public void close() {
        closed.countDown();
        connection.close();
    }
}
