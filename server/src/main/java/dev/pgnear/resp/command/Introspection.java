package dev.pgnear.resp.command;

import dev.pgnear.metrics.Stat;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.RowSource;
import dev.pgnear.resp.Session;

/** {@code MEMORY}, {@code OBJECT} and {@code LATENCY}: sane answers for tools that ask. */
final class Introspection {
    private Introspection() {}

    /** {@code MEMORY USAGE key}: bytes of the row if it is cached, else null; nothing is read from PostgreSQL. */
    static void memoryUsage(Session session, Request request, ReplyWriter reply) {
        RowSource rows = session.rows();
        if (rows.parse(0, request.bytes(), request.offset(2), request.length(2)) != null) {
            reply.nullBulk();
            return;
        }
        int length = rows.read(0, Exists.NOWHERE);
        if (length < 0) {
            reply.nullBulk();
        } else {
            reply.integer(length);
        }
    }

    static void memoryDoctor(Session session, Request request, ReplyWriter reply) {
        reply.verbatim("The cache uses " + session.door().stats().number(Stat.CACHE_MEMORY_USED_BYTES) + " of "
                + session.door().stats().number(Stat.MEMORY_BUDGET_BYTES) + " bytes.\n");
    }

    /** {@code OBJECT ENCODING key}: rows are JSON text. */
    static void encoding(Session session, Request request, ReplyWriter reply) {
        RowSource rows = session.rows();
        boolean cached = rows.parse(0, request.bytes(), request.offset(2), request.length(2)) == null
                && rows.read(0, Exists.NOWHERE) >= 0;
        if (cached) {
            reply.bulk("raw");
        } else {
            reply.nullBulk();
        }
    }

    static void emptyArray(Session session, Request request, ReplyWriter reply) {
        reply.array(0);
    }

    static void emptyMap(Session session, Request request, ReplyWriter reply) {
        reply.map(0);
    }

    static void zero(Session session, Request request, ReplyWriter reply) {
        reply.integer(0);
    }

    static void latencyDoctor(Session session, Request request, ReplyWriter reply) {
        reply.verbatim("Latencies are in the histogram pgnear_request_duration_seconds of /metrics.\n");
    }
}
