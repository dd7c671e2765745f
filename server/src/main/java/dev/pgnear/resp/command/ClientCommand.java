package dev.pgnear.resp.command;

import dev.pgnear.resp.Client;
import dev.pgnear.resp.Errors;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.Session;

/** The subcommands of {@code CLIENT}, save {@code LIST} and {@code KILL}. */
final class ClientCommand {
    static final String BAD_NAME = "ERR Client names cannot contain spaces, newlines or special characters.";

    private ClientCommand() {}

    static void id(Session session, Request request, ReplyWriter reply) {
        reply.integer(session.client().id());
    }

    static void getName(Session session, Request request, ReplyWriter reply) {
        if (session.client().name().isEmpty()) {
            reply.nullBulk();
        } else {
            reply.bulk(session.client().name());
        }
    }

    static void setName(Session session, Request request, ReplyWriter reply) {
        if (validName(request, 2)) {
            session.client().name(request.string(2));
            reply.ok();
        } else {
            reply.error(BAD_NAME);
        }
    }

    /** Printable ASCII without blanks, as in Redis; empty takes the name away. */
    static boolean validName(Request request, int i) {
        byte[] b = request.bytes();
        for (int at = request.offset(i), end = at + request.length(i); at < end; at++) {
            if (b[at] < '!' || b[at] > '~') {
                return false;
            }
        }
        return true;
    }

    static void setInfo(Session session, Request request, ReplyWriter reply) {
        boolean library = request.is(2, "LIB-NAME");
        if (!library && !request.is(2, "LIB-VER")) {
            reply.error("ERR Unrecognized option '" + request.string(2) + "'");
        } else if (!validName(request, 3)) {
            reply.error("ERR " + (library ? "lib-name" : "lib-ver")
                    + " cannot contain spaces, newlines or special characters.");
        } else if (library) {
            session.client().library(request.string(3));
            reply.ok();
        } else {
            session.client().libraryVersion(request.string(3));
            reply.ok();
        }
    }

    static void info(Session session, Request request, ReplyWriter reply) {
        reply.verbatim(line(session, session.client()));
    }

    static String line(Session session, Client client) {
        return client.line(session.door().clock().nanos());
    }

    static void noEvict(Session session, Request request, ReplyWriter reply) {
        if (onOrOff(request, reply)) {
            session.client().noEvict(request.is(2, "ON"));
            reply.ok();
        }
    }

    /** Accepted; reads do not move entries for one client's sake anyway. */
    static void noTouch(Session session, Request request, ReplyWriter reply) {
        if (onOrOff(request, reply)) {
            reply.ok();
        }
    }

    private static boolean onOrOff(Request request, ReplyWriter reply) {
        boolean valid = request.is(2, "ON") || request.is(2, "OFF");
        if (!valid) {
            reply.error(Errors.SYNTAX);
        }
        return valid;
    }

    static void reply(Session session, Request request, ReplyWriter reply) {
        if (request.is(2, "ON")) {
            session.replies(true);
            reply.ok();
        } else if (request.is(2, "OFF")) {
            session.replies(false);
        } else if (request.is(2, "SKIP")) {
            session.skipNextReply();
        } else {
            reply.error(Errors.SYNTAX);
        }
    }

    /** Only OFF: this server sends no invalidation messages to clients. */
    static void tracking(Session session, Request request, ReplyWriter reply) {
        if (request.is(2, "OFF")) {
            reply.ok();
        } else if (request.is(2, "ON")) {
            reply.error("ERR CLIENT TRACKING ON is not supported; this server is itself the cache, read through it");
        } else {
            reply.error(Errors.SYNTAX);
        }
    }

    static void trackingInfo(Session session, Request request, ReplyWriter reply) {
        reply.map(3);
        reply.bulk("flags");
        reply.set(1);
        reply.bulk("off");
        reply.bulk("redirect");
        reply.integer(-1);
        reply.bulk("prefixes");
        reply.array(0);
    }

    static void getRedirection(Session session, Request request, ReplyWriter reply) {
        reply.integer(-1);
    }

    static void caching(Session session, Request request, ReplyWriter reply) {
        reply.error(
                "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled");
    }

    /** No command of this server blocks. */
    static void unblock(Session session, Request request, ReplyWriter reply) {
        if (request.integer(2, Long.MIN_VALUE) == Long.MIN_VALUE) {
            reply.error(Errors.NOT_AN_INTEGER);
        } else {
            reply.integer(0);
        }
    }
}
