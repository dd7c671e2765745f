package dev.pgnear.resp.command;

import dev.pgnear.base.ValueSink;
import dev.pgnear.cache.Cache;
import dev.pgnear.resp.Command;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.RowSource;
import dev.pgnear.resp.Session;
import java.lang.foreign.MemorySegment;

/** {@code EXISTS key...}: how many of the keys are rows; a key that is named twice counts twice. Missing rows are read and cached. */
final class Exists implements Command {
    /** Forgets the row; only its length counts. */
    static final ValueSink NOWHERE = new ValueSink() {
        @Override
        public void begin(int length) {}

        @Override
        public void chunk(MemorySegment source, long offset, int length) {}

        @Override
        public void rollback() {}
    };

    @Override
    public void run(Session session, Request request, ReplyWriter reply) {
        Keys.Check check = Keys.check(session, request, "EXISTS");
        if (check.error() != null) {
            reply.error(check.error());
        } else if (check.busy()) {
            session.retryLater();
        } else {
            count(session, request.count() - 1, reply);
        }
    }

    private static void count(Session session, int n, ReplyWriter reply) {
        RowSource rows = session.rows();
        int[] found = {0};
        WaitingRows waiting = null;
        for (int i = 0; i < n; i++) {
            int read = rows.read(i, NOWHERE);
            session.count(read);
            if (read == Cache.MISS) {
                waiting = waiting == null ? new WaitingRows(session, "EXISTS", n - i, counting(found)) : waiting;
                waiting.miss(i, rows.identity(i));
            } else if (read != Cache.ABSENT) {
                found[0]++;
            }
        }
        if (waiting == null) {
            reply.integer(found[0]);
        } else {
            waiting.load(rows);
        }
    }

    private static WaitingRows.Reply counting(int[] found) {
        return new WaitingRows.Reply() {
            @Override
            public void write(WaitingRows rows, ReplyWriter reply) {
                int count = found[0];
                for (int i = 0; i < rows.misses(); i++) {
                    count += rows.row(i) == null ? 0 : 1;
                }
                reply.integer(count);
            }

            @Override
            public boolean keepsRows() {
                return false;
            }
        };
    }
}
