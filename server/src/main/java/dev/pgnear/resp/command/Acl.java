package dev.pgnear.resp.command;

import dev.pgnear.resp.CommandSpec;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.Session;
import java.util.List;
import java.util.Locale;

/** {@code ACL WHOAMI}, {@code LIST}, {@code USERS}, {@code CAT}: one user, {@code default}, who may do everything. */
final class Acl {
    private static final List<String> CATEGORIES = List.of(
            "keyspace",
            "read",
            "write",
            "set",
            "sortedset",
            "list",
            "hash",
            "string",
            "bitmap",
            "hyperloglog",
            "geo",
            "stream",
            "pubsub",
            "admin",
            "fast",
            "slow",
            "blocking",
            "dangerous",
            "connection",
            "transaction",
            "scripting");

    private Acl() {}

    static void whoAmI(Session session, Request request, ReplyWriter reply) {
        reply.bulk("default");
    }

    static void users(Session session, Request request, ReplyWriter reply) {
        reply.array(1);
        reply.bulk("default");
    }

    static void list(Session session, Request request, ReplyWriter reply) {
        reply.array(1);
        reply.bulk("user default on " + (session.login().required() ? "" : "nopass ") + "~* &* +@all");
    }

    static void categories(Session session, Request request, ReplyWriter reply) {
        if (request.count() > 3) {
            reply.error("ERR wrong number of arguments for 'acl|cat' command");
            return;
        }
        List<String> names = CATEGORIES;
        if (request.count() == 3) {
            String category = request.string(2).toLowerCase(Locale.ROOT);
            if (!CATEGORIES.contains(category)) {
                reply.error("ERR Unknown category '" + request.string(2) + "'");
                return;
            }
            names = session.door().commands().specs().stream()
                    .flatMap(CommandSpec::all)
                    .filter(s -> s.categories().contains(category))
                    .map(CommandSpec::name)
                    .toList();
        }
        reply.array(names.size());
        names.forEach(reply::bulk);
    }
}
