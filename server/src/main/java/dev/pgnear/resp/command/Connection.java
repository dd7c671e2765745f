package dev.pgnear.resp.command;

import dev.pgnear.resp.Errors;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.Session;
import java.time.Instant;

/** The small commands about the connection itself. */
final class Connection {
    private static final long NONE = Long.MIN_VALUE;
    private static final int DATABASES = 1;

    private Connection() {}

    /** {@code PING [message]}. */
    static void ping(Session session, Request request, ReplyWriter reply) {
        if (request.count() > 2) {
            reply.error("ERR wrong number of arguments for 'ping' command");
        } else if (request.count() == 2) {
            reply.bulk(request.bytes(), request.offset(1), request.length(1));
        } else {
            reply.simple("PONG");
        }
    }

    /** {@code ECHO message}. */
    static void echo(Session session, Request request, ReplyWriter reply) {
        reply.bulk(request.bytes(), request.offset(1), request.length(1));
    }

    /** {@code QUIT}: later commands of the pipeline do not run. */
    static void quit(Session session, Request request, ReplyWriter reply) {
        reply.ok();
        session.closeAfterReplies();
    }

    /** {@code RESET}. */
    static void reset(Session session, Request request, ReplyWriter reply) {
        session.reset();
        reply.simple("RESET");
    }

    /** {@code SELECT 0}: there is one database. */
    static void select(Session session, Request request, ReplyWriter reply) {
        long index = request.integer(1, NONE);
        if (index == NONE) {
            reply.error(Errors.NOT_AN_INTEGER);
        } else if (index < 0 || index >= DATABASES) {
            reply.error("ERR DB index is out of range");
        } else {
            reply.ok();
        }
    }

    /** {@code TIME}: seconds and microseconds since 1970. */
    static void time(Session session, Request request, ReplyWriter reply) {
        Instant now = session.door().wallClock().instant();
        reply.array(2);
        reply.bulk(Long.toString(now.getEpochSecond()));
        reply.bulk(Integer.toString(now.getNano() / 1000));
    }

    /** {@code ROLE}: a master without replicas, which drivers take for a single server. */
    static void role(Session session, Request request, ReplyWriter reply) {
        reply.array(3);
        reply.bulk("master");
        reply.integer(0);
        reply.array(0);
    }

    /** {@code WAIT replicas timeout}: there are none. */
    static void waitForReplicas(Session session, Request request, ReplyWriter reply) {
        if (request.integer(1, NONE) == NONE) {
            reply.error(Errors.NOT_AN_INTEGER);
        } else if (request.integer(2, NONE) == NONE) {
            reply.error("ERR timeout is not an integer or out of range");
        } else if (request.integer(2, NONE) < 0) {
            reply.error("ERR timeout is negative");
        } else {
            reply.integer(0);
        }
    }

    /** {@code DBSIZE}: keys of the key space; rows are not counted. */
    static void dbSize(Session session, Request request, ReplyWriter reply) {
        reply.integer(0);
    }

    /** {@code DEBUG}: refused, as by a Redis that was not started for it. */
    static void debug(Session session, Request request, ReplyWriter reply) {
        reply.error(
                "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a local"
                        + " connection, otherwise you need to set this option in the configuration file, and then restart the server.");
    }
}
