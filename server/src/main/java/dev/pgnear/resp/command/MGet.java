package dev.pgnear.resp.command;

import dev.pgnear.base.Limits;
import dev.pgnear.cache.Cache;
import dev.pgnear.resp.Command;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.RowSource;
import dev.pgnear.resp.Session;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * {@code MGET key...}: rows in request order, duplicates kept. All keys are parsed before any is read, so one bad key is the only reply and
 * no counter moves. Hits are written straight into the reply; if rows are missing, the reply so far is set aside with a gap for each of them.
 */
final class MGet implements Command {
    static String tooLong(String command) {
        return "ERR " + command + " reply is longer than " + Limits.REPLY_BYTES + " bytes; ask for fewer keys";
    }

    @Override
    public void run(Session session, Request request, ReplyWriter reply) {
        Keys.Check check = Keys.check(session, request, "MGET");
        if (check.error() != null) {
            reply.error(check.error());
        } else if (check.busy()) {
            session.retryLater();
        } else {
            read(session, request.count() - 1, reply);
        }
    }

    private static void read(Session session, int n, ReplyWriter reply) {
        RowSource rows = session.rows();
        ByteBuf out = reply.buffer();
        int start = out.writerIndex();
        Gaps gaps = null;
        WaitingRows waiting = null;
        reply.array(n);
        for (int i = 0; i < n; i++) {
            int read = rows.read(i, session.sink());
            session.count(read);
            if (read == Cache.ABSENT) {
                reply.nullBulk();
            } else if (read == Cache.MISS) {
                gaps = gaps == null ? new Gaps(n - i) : gaps;
                waiting = waiting == null ? new WaitingRows(session, "MGET", n - i, gaps) : waiting;
                gaps.at(waiting.miss(i, rows.identity(i)), out.writerIndex() - start);
            }
            if (out.writerIndex() - start > Limits.REPLY_BYTES) {
                out.writerIndex(start);
                reply.error(tooLong("MGET"));
                return;
            }
        }
        if (waiting != null && gaps != null) {
            gaps.keep(out, start);
            waiting.alreadyWritten(out.writerIndex() - start);
            out.writerIndex(start);
            waiting.load(rows);
        }
    }

    /** The reply without the missing rows, and where they belong. */
    private static final class Gaps implements WaitingRows.Reply {
        private final int[] positions;
        private @Nullable ByteBuf body;

        Gaps(int capacity) {
            positions = new int[capacity];
        }

        void at(int i, int position) {
            positions[i] = position;
        }

        void keep(ByteBuf out, int start) {
            body = out.copy(start, out.writerIndex() - start);
        }

        @Override
        public void write(WaitingRows rows, ReplyWriter reply) {
            ByteBuf rest = java.util.Objects.requireNonNull(body, "kept before it waits");
            for (int i = 0; i < rows.misses(); i++) {
                reply.buffer().writeBytes(rest, positions[i] - rest.readerIndex());
                byte[] row = rows.row(i);
                if (row == null) {
                    reply.nullBulk();
                } else {
                    reply.bulk(row);
                }
            }
            reply.buffer().writeBytes(rest);
        }

        @Override
        public void release() {
            if (body != null) {
                body.release();
                body = null;
            }
        }
    }
}
