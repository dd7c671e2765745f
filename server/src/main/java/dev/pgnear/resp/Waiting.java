package dev.pgnear.resp;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The place of one reply that PostgreSQL must be asked for. It keeps its position in the connection's queue; the replies of later commands
 * are collected behind it. It ends once: by its result, by an error, at its deadline, or because the connection is gone; whatever comes
 * afterwards is ignored. Owned by the connection's loop.
 */
public abstract class Waiting {
    private final Session session;
    private final String command;
    private final long deadlineNanos;
    private final long arrivedNanos;
    private @Nullable String error;
    private @Nullable ByteBuf after;
    private boolean done;
    private boolean muted;

    /**
     * @param session whose turn it is
     * @param command name in the deadline's error
     */
    protected Waiting(Session session, String command) {
        this.session = session;
        this.command = command;
        this.arrivedNanos = session.arrivedNanos();
        this.deadlineNanos =
                session.loop().clock().nanos() + session.door().settings().commandTimeoutNanos();
    }

    /** Writes the reply, when all earlier ones are written. */
    protected abstract void write(ReplyWriter reply);

    /** Lets go of what {@link #write} would have needed; called once, after it or instead of it. */
    protected void release() {}

    /** Rows that this command reads, as {@link RowSource#identity}: no later command of the connection reads them meanwhile. */
    protected abstract void identities(java.util.function.LongConsumer each);

    /** The result is there. */
    protected final void complete() {
        if (!done) {
            done = true;
            session.completed(this);
        }
    }

    /** The reply is this error line. */
    protected final void fail(String redisError) {
        if (!done) {
            error = redisError;
            complete();
        }
    }

    /** Whether it has ended. */
    protected final boolean isDone() {
        return done;
    }

    /** On the node's clock. */
    public final long deadlineNanos() {
        return deadlineNanos;
    }

    final long arrivedNanos() {
        return arrivedNanos;
    }

    final void expire() {
        fail("ERR " + command + " deadline exceeded after "
                + session.door().settings().commandTimeoutMillis() + " ms");
    }

    final void mute(boolean isMuted) {
        muted = isMuted;
    }

    final void abandon() {
        done = true;
        release();
        if (after != null) {
            after.release();
            after = null;
        }
    }

    final void reply(ReplyWriter reply) {
        if (!muted && error != null) {
            reply.error(error);
        } else if (!muted) {
            write(reply);
        }
        release();
    }

    final @Nullable ByteBuf after() {
        return after;
    }

    final void after(ByteBuf buffer) {
        after = buffer;
    }
}
