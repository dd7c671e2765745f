package dev.pgnear.resp;

import dev.pgnear.base.Limits;
import dev.pgnear.cache.Cache;
import dev.pgnear.metrics.LoopCounters;
import dev.pgnear.metrics.Stat;
import dev.pgnear.net.Listener;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of the RESP door. Belongs to its event loop; nothing in it is shared.
 *
 * <p>A read burst is appended to the decoder's buffer, its commands run one after the other, replies go to one outbound buffer, and when
 * the burst ends misses are sent to PostgreSQL together and replies are flushed once.
 *
 * <pre>
 *              budget of a turn used / next turn
 *          OPEN &lt;--------------------------------&gt; YIELDED
 *          | ^
 *          | +--- a reply has come ---------- WAITING_FOR_REPLY   (a row is read that an earlier command still waits for, or too many wait)
 *          | +--- the client has read ------- WAITING_FOR_READER  (its output is full; its socket is not read)
 *          |
 *          +-- QUIT, framing error, fifth wrong password, end of input --&gt; CLOSING --&gt; LINGERING --&gt; CLOSED
 * </pre>
 *
 * CLOSING runs no more commands and lets the waiting replies come; LINGERING sends the last bytes and throws input away (see {@link Linger}). Reads of one row on one connection never
 * overlap: otherwise a later command could be answered from an entry that is older than what an earlier one gets from PostgreSQL.
 */
public final class Session extends ChannelInboundHandlerAdapter implements Runnable {
    private enum State {
        OPEN,
        YIELDED,
        WAITING_FOR_REPLY,
        WAITING_FOR_READER,
        CLOSING,
        LINGERING,
        CLOSED
    }

    /** For the budget of a turn, so many keys are as much work as a command. */
    private static final int ARGUMENTS_OF_A_COMMAND = 8;

    private static final Logger LOG = LoggerFactory.getLogger(Session.class);

    private final RespDoor door;
    private final LoopContext loop;
    private final Client client;
    private final LoopCounters counters;
    private final RequestDecoder decoder = new RequestDecoder();
    private final ReplyWriter writer = new ReplyWriter();
    private final RowSink sink = new RowSink(writer);
    private final Replies replies;
    private final RowsBeingRead reading = new RowsBeingRead();
    private final ReplyMode mode = new ReplyMode();
    private final Deadlines deadlines;
    private final ReaderWatch watch;
    private final Login login;
    private State state = State.OPEN;
    private boolean inputEnded;
    private boolean retry;
    private boolean resuming;
    private long arrivedNanos;
    private int burstReplies;
    private @Nullable ChannelHandlerContext ctx;

    Session(RespDoor door, LoopContext loop, Client client) {
        this.door = door;
        this.loop = loop;
        this.client = client;
        this.counters = loop.counters();
        this.replies = new Replies(loop, writer);
        this.login = new Login(door.settings().tokens());
        this.watch = new ReaderWatch(this);
        this.deadlines = new Deadlines(this, replies);
        decoder.trusted(login.passed());
    }

    // ---- for commands

    /** The door. */
    public RespDoor door() {
        return door;
    }

    /** What its loop shares. */
    public LoopContext loop() {
        return loop;
    }

    /** What others see of it. */
    public Client client() {
        return client;
    }

    /** Who it is. */
    public Login login() {
        return login;
    }

    /** Rows. */
    public RowSource rows() {
        return loop.rows();
    }

    /** Copies a hit into the reply. */
    public RowSink sink() {
        return sink;
    }

    /** When the bytes of the current command came. */
    public long arrivedNanos() {
        return arrivedNanos;
    }

    /** Counts the outcome of {@link RowSource#read}. */
    public void count(int read) {
        if (read == Cache.MISS) {
            counters.increment(Stat.CACHE_MISSES);
            return;
        }
        counters.increment(Stat.CACHE_HITS);
        counters.increment(replies.anyWaiting() ? Stat.FAST_PATH_FALLBACKS_ORDERED : Stat.FAST_PATH_HITS);
        if (read == Cache.ABSENT) {
            counters.increment(Stat.NEGATIVE_HITS);
        }
    }

    /** Whether an earlier command still waits for this row. */
    public boolean isReading(long identity) {
        return reading.contains(identity);
    }

    /** Nothing was done: run this command again when a waiting reply has come. */
    public void retryLater() {
        retry = true;
    }

    /** The command's reply comes later; to be called before the load is asked for. */
    public void await(Waiting waiting) {
        waiting.mute(mode.isMuted());
        waiting.identities(reading::add);
        replies.add(waiting);
        counters.increment(Stat.DEFERRED_MISSES);
        counters.increment(Stat.DEFERRED_MISSES_CURRENT);
        burstReplies--;
        deadlines.add(waiting);
    }

    /** Takes no more commands; closes when everything is sent. */
    public void closeAfterReplies() {
        if (state.compareTo(State.CLOSING) < 0) {
            state = State.CLOSING;
        }
    }

    /** CLIENT REPLY ON or OFF. */
    public void replies(boolean on) {
        mode.off(!on);
    }

    /** CLIENT REPLY SKIP. */
    public void skipNextReply() {
        mode.skipNext();
    }

    /** The password was right, or the session begins anew. */
    public void trustChanged() {
        decoder.trusted(login.passed());
    }

    /** RESET: as if newly connected. */
    public void reset() {
        mode.reset();
        client.name("");
        client.noEvict(false);
        client.protocol(2);
        writer.protocol(2);
        login.reset();
        trustChanged();
    }

    // ---- the channel

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
    }

    ChannelHandlerContext context() {
        ChannelHandlerContext context = ctx;
        if (context == null) {
            throw new IllegalStateException("the session has no channel yet");
        }
        return context;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf in = (ByteBuf) message;
        try {
            if (state.compareTo(State.CLOSING) >= 0) {
                return;
            }
            arrivedNanos = loop.clock().nanos();
            client.active(arrivedNanos);
            decoder.append(in);
        } finally {
            in.release();
        }
        if (state == State.OPEN) {
            turn();
        } else if (decoder.buffered() >= Limits.INPUT_BYTES) {
            read(false);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        endOfBurst();
    }

    private void endOfBurst() {
        loop.rows().flush();
        if (burstReplies > 0) {
            counters.latency().record(loop.clock().nanos() - arrivedNanos, burstReplies);
            counters.add(Stat.COMMANDS, burstReplies);
            burstReplies = 0;
        }
        flush();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (state == State.WAITING_FOR_READER && context.channel().isWritable()) {
            yieldTurn();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event == Listener.Stopping.STOPPING) {
            closeAfterReplies();
            flush();
        } else if (event == ChannelInputShutdownEvent.INSTANCE) {
            inputEnded = true;
            if (state == State.OPEN) {
                turn();
                endOfBurst();
            } else if (state == State.LINGERING && unsent() == 0) {
                context.close();
            }
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        state = State.CLOSED;
        counters.add(Stat.DEFERRED_MISSES_CURRENT, -undone());
        replies.release();
        decoder.release();
        reading.clear();
        watch.stop();
        deadlines.stop();
        door.clients().leave(client);
    }

    private int undone() {
        int n = 0;
        for (Waiting w : replies.waiting()) {
            n += w.isDone() ? 0 : 1;
        }
        return n;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (!(cause instanceof IOException)) {
            LOG.error("RESP connection {} closed after an internal error", client.address(), cause);
        }
        context.close();
    }

    // ---- turns

    /** The next turn of a session that yielded. */
    @Override
    public void run() {
        if (state == State.YIELDED) {
            state = State.OPEN;
            turn();
            endOfBurst();
        }
    }

    private void yieldTurn() {
        state = State.YIELDED;
        context().executor().execute(this);
    }

    private void turn() {
        int budget = Limits.TURN_COMMANDS;
        while (state == State.OPEN && mayBegin()) {
            RequestDecoder.Step step = decoder.next();
            if (step != RequestDecoder.Step.REQUEST) {
                endOfInput(step);
                return;
            }
            budget -= 1 + decoder.request().count() / ARGUMENTS_OF_A_COMMAND;
            execute(decoder.request());
            if (retry) {
                retry = false;
                state = State.WAITING_FOR_REPLY;
                return;
            }
            decoder.consume();
            if (budget <= 0 && state == State.OPEN) {
                yieldTurn();
            }
        }
    }

    private void endOfInput(RequestDecoder.Step step) {
        if (step == RequestDecoder.Step.ERROR) {
            counters.increment(Stat.PROTOCOL_ERRORS);
            writer.to(replies.target()).error("ERR " + decoder.error());
            closeAfterReplies();
        } else if (inputEnded) {
            closeAfterReplies();
        } else {
            read(true);
        }
    }

    /** Whether there is room for one more reply. */
    private boolean mayBegin() {
        if (replies.anyWaiting()) {
            if (replies.waitingFull()) {
                state = State.WAITING_FOR_REPLY;
                return false;
            }
            return true;
        }
        replies.chunk(context());
        if (!context().channel().isWritable()) {
            replies.flush(context());
            if (!context().channel().isWritable()) {
                waitForReader();
                return false;
            }
        }
        return true;
    }

    private void waitForReader() {
        state = State.WAITING_FOR_READER;
        counters.increment(Stat.OUTPUT_BACKPRESSURE_EVENTS);
        read(false);
        watch.start();
    }

    /** Whether the socket is read. */
    private void read(boolean on) {
        if (context().channel().config().isAutoRead() != on) {
            context().channel().config().setAutoRead(on);
        }
    }

    private void execute(Request request) {
        ByteBuf target = replies.target();
        int mark = target.writerIndex();
        writer.to(target);
        mode.begin();
        burstReplies++;
        try {
            dispatch(request);
        } catch (RuntimeException e) {
            LOG.error("a RESP command failed", e);
            writer.to(target.writerIndex(mark)).error("ERR internal error; the server's log tells more");
        }
        if (retry) {
            burstReplies--;
            mode.again();
        } else if (mode.isMuted()) {
            target.writerIndex(mark);
        }
    }

    private void dispatch(Request request) {
        CommandSpec spec = door.commands().resolve(request);
        if (spec == null) {
            writer.error(door.commands().unknown(request));
            return;
        }
        Command command = spec.command();
        if (command == null || !spec.accepts(request.count())) {
            writer.error(Errors.wrongArity(spec));
        } else if (!login.passed() && !spec.noAuth()) {
            writer.error(Errors.NOAUTH);
        } else {
            client.lastCommand(spec.name());
            command.run(this, request, writer);
        }
    }

    // ---- replies that waited

    void completed(Waiting waiting) {
        waiting.identities(reading::remove);
        counters.add(Stat.DEFERRED_MISSES_CURRENT, -1);
        counters.latency().record(loop.clock().nanos() - waiting.arrivedNanos(), 1);
        counters.increment(Stat.COMMANDS);
        if (!resuming) {
            resuming = true;
            loop.resumeSoon(this);
        }
    }

    /** Replies have come: moves them out and goes on with the commands. */
    void resume() {
        resuming = false;
        if (state == State.CLOSED) {
            return;
        }
        replies.drain();
        if (state == State.WAITING_FOR_REPLY) {
            state = State.OPEN;
            turn();
        }
    }

    /** Sends what is ready; closes if nothing more will come. */
    void flush() {
        if (state == State.CLOSED) {
            return;
        }
        replies.flush(context());
        if (!context().channel().isWritable() && unsent() > (long) Limits.OUTPUT_BYTES + Limits.REPLY_BYTES) {
            drop();
        } else if (state == State.CLOSING && !replies.anyWaiting()) {
            linger();
        }
    }

    private void linger() {
        state = State.LINGERING;
        read(true);
        watch.start();
        context()
                .writeAndFlush(Unpooled.EMPTY_BUFFER)
                .addListener(done -> Linger.close(context().channel(), inputEnded));
    }

    // ---- readers that do not read

    long unsent() {
        var outbound = context().channel().unsafe().outboundBuffer();
        return outbound == null ? 0 : outbound.totalPendingWriteBytes();
    }

    boolean isWaitingForReader() {
        return state == State.WAITING_FOR_READER || state == State.LINGERING;
    }

    void drop() {
        counters.increment(Stat.SLOW_CLIENT_DROPS);
        context().close();
    }
}
