package dev.pgnear.resp.command;

import dev.pgnear.cache.Cache;
import dev.pgnear.resp.Command;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.RowSource;
import dev.pgnear.resp.Session;

/** {@code GET key}: the row as JSON, null if it is absent. A hit goes from the cache straight into the reply. */
final class Get implements Command {
    @Override
    public void run(Session session, Request request, ReplyWriter reply) {
        RowSource rows = session.rows();
        String error = rows.parse(0, request.bytes(), request.offset(1), request.length(1));
        if (error != null) {
            reply.error(error);
        } else if (session.isReading(rows.identity(0))) {
            session.retryLater();
        } else {
            read(session, rows, reply);
        }
    }

    private static void read(Session session, RowSource rows, ReplyWriter reply) {
        int read = rows.read(0, session.sink());
        session.count(read);
        if (read == Cache.ABSENT) {
            reply.nullBulk();
        } else if (read == Cache.MISS) {
            WaitingRows waiting = new WaitingRows(session, "GET", 1, GET_REPLY);
            waiting.miss(0, rows.identity(0));
            waiting.load(rows);
        }
    }

    private static final WaitingRows.Reply GET_REPLY = (rows, reply) -> {
        byte[] row = rows.row(0);
        if (row == null) {
            reply.nullBulk();
        } else {
            reply.bulk(row);
        }
    };
}
