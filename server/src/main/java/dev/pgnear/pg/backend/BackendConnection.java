package dev.pgnear.pg.backend;

import dev.pgnear.base.Limits;
import dev.pgnear.base.NanoClock;
import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.pg.wire.Fields;
import dev.pgnear.pg.wire.FrameReader;
import dev.pgnear.pg.wire.FrontendMessages;
import dev.pgnear.pg.wire.PgException;
import dev.pgnear.pg.wire.PgProtocolException;
import dev.pgnear.pg.wire.Protocol;
import dev.pgnear.pg.wire.Protocol.Backend;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.DecoderException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One logged-in connection, used on its event loop only. Each execution is {@code [Parse] Bind Execute Sync}: its own implicit transaction,
 * whose error is over at its own ReadyForQuery. Executions are written behind each other without waiting (a pipeline); the server answers
 * in the same order, so the head of {@link #inFlight} owns every message that arrives. All that one loop tick sends is one buffer and one
 * flush.
 *
 * <p>Nobody has to wait for an exchange: its query may have timed out or moved to another connection; then the answer is read and dropped.
 */
final class BackendConnection extends ByteToMessageDecoder {
    /** What happens to a connection, told to its pool. */
    interface Owner {
        /** An execution is over; its query, if there was one, has been answered, or may have to be sent again. */
        void answered(BackendConnection connection, Exchange exchange, @Nullable Query again);

        /** The connection is gone; {@code left} was in flight. */
        void lost(BackendConnection connection, ArrayDeque<Exchange> left, String why, @Nullable Throwable cause);
    }

    private static final String UNDEFINED_STATEMENT = "26000";
    private static final String FEATURE_NOT_SUPPORTED = "0A000";
    private static final String PROGRAM_LIMIT_EXCEEDED = "54000";

    private final Owner owner;
    private final NanoClock clock;
    private final ChannelHandlerContext login;
    private final FrameReader frames = new FrameReader(Limits.BACKEND_MESSAGE_BYTES);
    private final DataRow row = new DataRow();
    private final ArrayDeque<Exchange> inFlight = new ArrayDeque<>();
    private final PreparedStatements statements = new PreparedStatements(Limits.BACKEND_STATEMENTS);
    private final long openedNanos;

    private @Nullable ServerIdentity identity;
    private @Nullable ByteBuf out;
    private @Nullable Throwable closeCause;
    private String closeReason = "the other side closed it";
    private long skipBytes;
    private long progressNanos;
    private long earliestDeadlineNanos;
    private boolean stuck;
    private boolean closed;

    BackendConnection(Owner owner, NanoClock clock, ChannelHandlerContext login) {
        this.owner = owner;
        this.clock = clock;
        this.login = login;
        this.openedNanos = clock.nanos();
        this.progressNanos = openedNanos;
    }

    /** Takes the place of the login in the pipeline. */
    void install() {
        login.pipeline().replace(login.handler(), "backend", this);
    }

    void identify(ServerIdentity server) {
        identity = server;
    }

    // ---- sending

    /** Writes the execution behind the others; it is on its way at the end of this loop tick. */
    void send(Query q) {
        ByteBuf buffer = buffer();
        Prepared prepared = statements.get(q.statement);
        boolean parses = prepared == null;
        if (prepared == null) {
            prepared = statements.prepare(q.statement, buffer);
        }
        FrontendMessages.bind(buffer, "", prepared.name, Protocol.BINARY, q.parameters, Protocol.BINARY);
        FrontendMessages.execute(buffer, "", 0);
        FrontendMessages.sync(buffer);
        q.sent = true;
        noteDeadline(q.deadlineNanos);
        inFlight.add(new Exchange(q, prepared, parses, clock.nanos()));
    }

    private void noteDeadline(long deadlineNanos) {
        if (inFlight.isEmpty() || deadlineNanos - earliestDeadlineNanos < 0) {
            earliestDeadlineNanos = deadlineNanos;
        }
    }

    private ByteBuf buffer() {
        ByteBuf buffer = out;
        if (buffer == null) {
            buffer = login.alloc().ioBuffer(4096);
            out = buffer;
            login.executor().execute(this::flushBuffer);
        }
        return buffer;
    }

    private void flushBuffer() {
        ByteBuf buffer = out;
        out = null;
        if (buffer != null) {
            login.channel().writeAndFlush(buffer, login.channel().voidPromise());
        }
    }

    // ---- receiving

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> none) {
        progressNanos = clock.nanos();
        while (!skipping(in) && !closed) {
            if (oversizedRow(in)) {
                continue;
            }
            if (!frames.read(in)) {
                return;
            }
            message(in);
        }
        if (closed) {
            in.skipBytes(in.readableBytes());
        }
    }

    /** Whether more bytes of an oversized row have to arrive before the next message begins. */
    private boolean skipping(ByteBuf in) {
        int now = (int) Math.min(skipBytes, in.readableBytes());
        in.skipBytes(now);
        skipBytes -= now;
        return skipBytes > 0;
    }

    /** A row above the limit fails its own execution only: its bytes are dropped as they come. */
    private boolean oversizedRow(ByteBuf in) {
        if (in.readableBytes() < 5 || in.getByte(in.readerIndex()) != Backend.DATA_ROW) {
            return false;
        }
        int length = in.getInt(in.readerIndex() + 1);
        if (length <= Limits.BACKEND_MESSAGE_BYTES + 4) {
            return false;
        }
        fail(
                head(),
                new PgException(
                        "ERROR",
                        PROGRAM_LIMIT_EXCEEDED,
                        "a row of " + length + " bytes is longer than pgnear reads",
                        null,
                        null));
        skipBytes = 1L + length;
        return true;
    }

    private void message(ByteBuf in) {
        switch (frames.type()) {
            case Backend.DATA_ROW -> dataRow(in);
            case Backend.READY_FOR_QUERY -> readyForQuery();
            case Backend.PARSE_COMPLETE -> head().prepared.parsed = true;
            case Backend.ERROR_RESPONSE -> error(Fields.error(in, frames.bodyIndex(), frames.bodyLength()));
            case Backend.BIND_COMPLETE,
                    Backend.COMMAND_COMPLETE,
                    Backend.CLOSE_COMPLETE,
                    Backend.EMPTY_QUERY_RESPONSE,
                    Backend.NOTICE_RESPONSE,
                    Backend.NOTIFICATION_RESPONSE,
                    Backend.PARAMETER_STATUS -> {} // ReadyForQuery says all that is needed
            default -> throw new PgProtocolException("unexpected message '" + (char) frames.type() + "'");
        }
    }

    private Exchange head() {
        Exchange head = inFlight.peek();
        if (head == null) {
            throw new PgProtocolException("an answer came although nothing was asked");
        }
        return head;
    }

    private void dataRow(ByteBuf in) {
        Exchange head = head();
        Query q = head.query;
        if (q == null || head.failure != null) {
            return;
        }
        head.rows = true;
        row.point(in, frames.bodyIndex(), frames.bodyLength());
        try {
            q.row(row);
        } catch (RuntimeException | AssertionError e) {
            head.failure = e;
        } finally {
            row.release();
        }
    }

    private void error(PgException e) {
        if (e.fatal()) {
            closeCause = e;
            closeReason = e.summary();
        } else {
            fail(head(), e);
        }
    }

    private void fail(Exchange exchange, PgException e) {
        exchange.failure = e;
        if (exchange.parses && !exchange.prepared.parsed) {
            exchange.prepared.failure = e;
            statements.failed(exchange.statement, exchange.prepared);
        }
    }

    private void readyForQuery() {
        Exchange done = head();
        inFlight.remove();
        stuck = false;
        owner.answered(this, done, settle(done));
    }

    /** Answers the query of an exchange, or gives it back if it has to be sent again. */
    private @Nullable Query settle(Exchange done) {
        Query q = done.query;
        Throwable failure = done.failure;
        if (q == null) {
            return null;
        }
        if (failure == null) {
            complete(q);
        } else if (stale(done, failure)) {
            return prepareAgain(done, q, failure);
        } else {
            q.fail(failure);
        }
        return null;
    }

    // The identity query is answered before there is an identity, and its handler does not look at it.
    @SuppressWarnings("NullAway")
    private void complete(Query q) {
        q.complete(identity);
    }

    /** Whether the prepared statement was not usable: a changed table, or DISCARD. Nothing was executed then. */
    private static boolean stale(Exchange done, Throwable failure) {
        return !done.rows
                && failure instanceof PgException e
                && (e.sqlState().equals(UNDEFINED_STATEMENT)
                        || e.sqlState().equals(FEATURE_NOT_SUPPORTED) && !done.parses);
    }

    private @Nullable Query prepareAgain(Exchange done, Query q, Throwable failure) {
        Throwable parseFailure = done.prepared.failure;
        if (parseFailure != null || q.prepared) {
            q.fail(parseFailure != null ? parseFailure : failure);
            return null;
        }
        q.prepared = true;
        statements.discard(done.statement, done.prepared, buffer());
        return q;
    }

    // ---- the watch of the pool

    int depth() {
        return inFlight.size();
    }

    @Nullable
    Exchange oldest() {
        return inFlight.peek();
    }

    Iterable<Exchange> exchanges() {
        return inFlight;
    }

    /** Nanoseconds without an answer while one is due; 0 if none is due. */
    long stalledNanos(long now) {
        Exchange head = inFlight.peek();
        if (head == null) {
            return 0;
        }
        return now - (head.sentNanos - progressNanos > 0 ? head.sentNanos : progressNanos);
    }

    /** Whether it made no progress for too long when the pool last looked, and none since. */
    boolean stuck() {
        return stuck;
    }

    /**
     * Finds out whether it is stuck. Only the watch does that: it runs behind the reading of a loop tick, so that after a pause of our own
     * process the answers that have piled up count first.
     */
    boolean lookWhetherStuck(long now) {
        stuck = stalledNanos(now) > TimeUnit.MILLISECONDS.toNanos(Limits.BACKEND_STUCK_MILLIS);
        return stuck;
    }

    long idleNanos(long now) {
        return inFlight.isEmpty() ? now - progressNanos : 0;
    }

    long ageNanos(long now) {
        return now - openedNanos;
    }

    /** Fails the queries whose deadline has passed; their exchanges go on without them. */
    void expire(long now) {
        if (inFlight.isEmpty() || now - earliestDeadlineNanos < 0) {
            return;
        }
        long earliest = Long.MAX_VALUE;
        ArrayDeque<Query> expired = new ArrayDeque<>();
        for (Exchange e : inFlight) {
            Query q = e.query;
            if (q != null && q.expired(now)) {
                e.query = null;
                expired.add(q);
            } else if (q != null) {
                earliest = Math.min(earliest, q.deadlineNanos - now);
            }
        }
        earliestDeadlineNanos = earliest == Long.MAX_VALUE ? now + TimeUnit.HOURS.toNanos(1) : now + earliest;
        expired.forEach(Query::timeOut);
    }

    // ---- the end

    /** Ends the session in an orderly way; complete when the channel is closed. */
    ChannelFuture terminate(String why) {
        if (!closed) {
            FrontendMessages.terminate(buffer());
            flushBuffer();
            close(why, null);
        }
        return login.channel().closeFuture();
    }

    void close(String why, @Nullable Throwable cause) {
        if (!closed) {
            closed = true;
            ByteBuf unsent = out;
            out = null;
            if (unsent != null) {
                unsent.release();
            }
            login.channel().close();
            ArrayDeque<Exchange> left = new ArrayDeque<>(inFlight);
            inFlight.clear();
            owner.lost(this, left, why, cause);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        close(closeReason, closeCause);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        Throwable e = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
        close(String.valueOf(e.getMessage()), e);
    }
}
