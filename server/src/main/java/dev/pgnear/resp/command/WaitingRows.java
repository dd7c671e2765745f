package dev.pgnear.resp.command;

import dev.pgnear.base.Limits;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.RowSource;
import dev.pgnear.resp.Session;
import dev.pgnear.resp.Waiting;
import dev.pgnear.rows.RowResult;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** A command whose misses are being read. Complete when all are there; the first failure is the command's only reply. */
final class WaitingRows extends Waiting {
    /** How the command answers once the rows are there. */
    interface Reply {
        void write(WaitingRows rows, ReplyWriter reply);

        /** Whether the rows themselves are in the reply. */
        default boolean keepsRows() {
            return true;
        }

        /** What was kept for the reply is no longer needed. */
        default void release() {}
    }

    private static final byte[] NO_BYTES = {};
    private static final int NULL_BYTES = "$-1\r\n".length();

    /** What one missing row came to. */
    private final class One implements RowResult {
        private final int i;

        One(int i) {
            this.i = i;
        }

        @Override
        public void found(byte[] json) {
            if (!isDone()) {
                rows[i] = reply.keepsRows() ? json : NO_BYTES;
                bytes += reply.keepsRows() ? json.length + frameBytes(json.length) : 0;
                arrived();
            }
        }

        @Override
        public void absent() {
            bytes += reply.keepsRows() ? NULL_BYTES : 0;
            arrived();
        }

        @Override
        public void failed(String redisError) {
            fail(redisError);
        }
    }

    private final Session session;
    private final String command;
    private final Reply reply;
    private final byte[] @Nullable [] rows;
    private final int[] slots;
    private final long[] identities;
    private int misses;
    private int missing;
    private long bytes;

    /**
     * @param capacity most misses that {@link #miss} is told of
     */
    WaitingRows(Session session, String command, int capacity, Reply reply) {
        super(session, command);
        this.session = session;
        this.command = command;
        this.reply = reply;
        this.rows = new byte[capacity][];
        this.slots = new int[capacity];
        this.identities = new long[capacity];
    }

    /** One more row is missing; its number. */
    int miss(int slot, long identity) {
        slots[misses] = slot;
        identities[misses] = identity;
        return misses++;
    }

    /** How many are missing. */
    int misses() {
        return misses;
    }

    /** Takes its place in the queue and asks for the rows. The results may come before this returns. */
    void load(RowSource source) {
        session.await(this);
        missing = misses;
        for (int i = 0; i < misses && !isDone(); i++) {
            source.load(slots[i], deadlineNanos(), new One(i));
        }
    }

    /** Bytes of the other part of the reply, which count against the bound. */
    void alreadyWritten(long written) {
        bytes += written;
    }

    /** Dollar, digits, twice CR and LF. */
    private static int frameBytes(int length) {
        return 5 + Integer.toString(length).length();
    }

    private void arrived() {
        if (bytes > Limits.REPLY_BYTES) {
            fail(MGet.tooLong(command));
        } else if (--missing == 0) {
            complete();
        }
    }

    /** Row {@code i} of those that were missing, null if absent. */
    byte @Nullable [] row(int i) {
        return rows[i];
    }

    @Override
    protected void write(ReplyWriter writer) {
        reply.write(this, writer);
    }

    @Override
    protected void release() {
        reply.release();
    }

    @Override
    protected void identities(LongConsumer each) {
        for (int i = 0; i < misses; i++) {
            each.accept(identities[i]);
        }
    }
}
