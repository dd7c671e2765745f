package dev.pgnear.resp.command;

import dev.pgnear.metrics.Stat;
import dev.pgnear.resp.Errors;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.Session;

/** {@code AUTH [user] password} and {@code HELLO [version [AUTH user password] [SETNAME name]]}. */
final class Auth {
    private static final long NONE = Long.MIN_VALUE;

    private Auth() {}

    static void auth(Session session, Request request, ReplyWriter reply) {
        if (request.count() > 3) {
            reply.error(Errors.SYNTAX);
        } else if (request.count() == 2 && !session.login().required()) {
            reply.error(
                    "ERR AUTH <password> called without any password configured for the default user. Are you sure your"
                            + " configuration is correct?");
        } else if (attempt(session, request, request.count() - 1)) {
            reply.ok();
        } else {
            reply.error(Errors.WRONGPASS);
        }
    }

    /** Tries the password at that place; the user name stands before it, if there is one. */
    private static boolean attempt(Session session, Request request, int passwordAt) {
        String user = passwordAt > 1 ? request.string(passwordAt - 1) : "default";
        if (session.login().attempt(user, request.copy(passwordAt))) {
            session.trustChanged();
            return true;
        }
        session.loop().counters().increment(Stat.AUTHENTICATION_FAILURES);
        if (session.login().exhausted()) {
            session.closeAfterReplies();
        }
        return false;
    }

    static void hello(Session session, Request request, ReplyWriter reply) {
        long version = request.count() == 1 ? reply.protocol() : request.integer(1, NONE);
        if (version == NONE) {
            reply.error("ERR Protocol version is not an integer or out of range");
            return;
        }
        if (version != 2 && version != 3) {
            reply.error(Errors.NOPROTO);
            return;
        }
        HelloOptions options = HelloOptions.parse(request);
        if (!options.bad().isEmpty()) {
            reply.error("ERR Syntax error in HELLO option '" + options.bad() + "'");
        } else if (options.passwordAt() > 0 && !attempt(session, request, options.passwordAt())) {
            reply.error(Errors.WRONGPASS);
        } else if (!session.login().passed()) {
            reply.error(Errors.NOAUTH_HELLO);
        } else if (options.nameAt() > 0 && !ClientCommand.validName(request, options.nameAt())) {
            reply.error(ClientCommand.BAD_NAME);
        } else {
            greet(session, request, reply, options, (int) version);
        }
    }

    private static void greet(Session session, Request request, ReplyWriter reply, HelloOptions options, int version) {
        if (options.nameAt() > 0) {
            session.client().name(request.string(options.nameAt()));
        }
        session.client().protocol(version);
        reply.protocol(version);
        reply.map(7);
        reply.bulk("server");
        reply.bulk("redis");
        reply.bulk("version");
        reply.bulk(Info.REDIS_VERSION);
        reply.bulk("proto");
        reply.integer(version);
        reply.bulk("id");
        reply.integer(session.client().id());
        reply.bulk("mode");
        reply.bulk("standalone");
        reply.bulk("role");
        reply.bulk("master");
        reply.bulk("modules");
        reply.array(0);
    }

    /**
     * Places of HELLO's options; 0: not given.
     *
     * @param bad the option that is none
     */
    private record HelloOptions(int passwordAt, int nameAt, String bad) {
        static HelloOptions parse(Request request) {
            int passwordAt = 0;
            int nameAt = 0;
            for (int i = 2; i < request.count(); i++) {
                int more = request.count() - 1 - i;
                if (request.is(i, "AUTH") && more >= 2) {
                    passwordAt = i + 2;
                    i += 2;
                } else if (request.is(i, "SETNAME") && more >= 1) {
                    nameAt = i + 1;
                    i++;
                } else {
                    return new HelloOptions(passwordAt, nameAt, request.string(i));
                }
            }
            return new HelloOptions(passwordAt, nameAt, "");
        }
    }
}
