package dev.pgnear.resp;

import dev.pgnear.base.Limits;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The replies of one connection, in request order. As long as nothing waits, replies are written straight into the outbound buffer. Behind
 * a command that waits for PostgreSQL they are collected in a buffer of that command:
 *
 * <pre>
 *   channel &lt;-- out | waiting 1 [replies after it] | waiting 2 [replies after it] ...
 * </pre>
 *
 * When the first one is done its reply and the replies after it move to {@code out}. {@code out} is handed to the channel when the read
 * burst ends or a chunk is full. It belongs to the loop between bursts, so that an idle connection holds no buffer.
 */
final class Replies {
    private final LoopContext loop;
    private final ReplyWriter writer;
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>(0);
    private @Nullable ByteBuf out;
    private int held;
    private boolean unflushed;

    Replies(LoopContext loop, ReplyWriter writer) {
        this.loop = loop;
        this.writer = writer;
    }

    /** Where the next command's reply goes. */
    ByteBuf target() {
        Waiting last = waiting.peekLast();
        return last == null ? out() : behind(last);
    }

    private ByteBuf out() {
        ByteBuf buffer = out;
        if (buffer == null) {
            buffer = loop.takeBuffer();
            out = buffer;
        }
        return buffer;
    }

    private ByteBuf behind(Waiting last) {
        ByteBuf buffer = last.after();
        if (buffer == null) {
            buffer = loop.newBuffer();
            last.after(buffer);
        }
        return buffer;
    }

    void add(Waiting next) {
        Waiting last = waiting.peekLast();
        held += last == null || last.after() == null ? 0 : behind(last).readableBytes();
        waiting.add(next);
    }

    boolean anyWaiting() {
        return !waiting.isEmpty();
    }

    int waitingCount() {
        return waiting.size();
    }

    Iterable<Waiting> waiting() {
        return waiting;
    }

    /** Whether no more may be collected behind what waits. */
    boolean waitingFull() {
        Waiting last = waiting.peekLast();
        if (last == null) {
            return false;
        }
        ByteBuf after = last.after();
        int collected = held + (after == null ? 0 : after.readableBytes());
        return waiting.size() >= Limits.WAITING_COMMANDS || collected >= Limits.OUTPUT_PAUSE_BYTES;
    }

    /** Moves what is ready to {@link #out}. */
    void drain() {
        for (Waiting head = waiting.peekFirst(); head != null && head.isDone(); head = waiting.peekFirst()) {
            waiting.removeFirst();
            head.reply(writer.to(out()));
            ByteBuf after = head.after();
            if (after != null) {
                held -= waiting.isEmpty() ? 0 : after.readableBytes();
                out().writeBytes(after);
                after.release();
            }
        }
        if (waiting.isEmpty()) {
            held = 0;
        }
    }

    /** Hands full chunks to the channel. */
    void chunk(ChannelHandlerContext ctx) {
        ByteBuf buffer = out;
        if (buffer != null && buffer.readableBytes() >= Limits.OUTPUT_CHUNK_BYTES) {
            out = null;
            unflushed = true;
            ctx.write(buffer, ctx.voidPromise());
        }
    }

    /** Sends everything that is ready. */
    void flush(ChannelHandlerContext ctx) {
        ByteBuf buffer = out;
        out = null;
        if (buffer == null || !buffer.isReadable()) {
            if (buffer != null) {
                loop.giveBuffer(buffer);
            }
            if (unflushed) {
                unflushed = false;
                ctx.flush();
            }
            return;
        }
        unflushed = false;
        ctx.writeAndFlush(buffer.retain(), ctx.voidPromise());
        loop.giveBuffer(buffer);
    }

    /** The connection is gone. */
    void release() {
        waiting.forEach(Waiting::abandon);
        waiting.clear();
        if (out != null) {
            out.release();
            out = null;
        }
    }
}
