package dev.pgnear.resp.command;

import dev.pgnear.resp.Client;
import dev.pgnear.resp.Errors;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.Session;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** {@code CLIENT LIST} and {@code CLIENT KILL}: connections chosen by their properties. */
final class ClientSelection {
    private static final Set<String> TYPES = Set.of("normal", "master", "replica", "slave", "pubsub");

    private ClientSelection() {}

    static void list(Session session, Request request, ReplyWriter reply) {
        Predicate<Client> chosen = c -> true;
        if (request.count() >= 4 && request.is(2, "ID")) {
            Set<Long> ids = new HashSet<>();
            for (int i = 3; i < request.count(); i++) {
                ids.add(request.integer(i, -1));
            }
            if (ids.stream().anyMatch(id -> id < 1)) {
                reply.error("ERR Invalid client ID");
                return;
            }
            chosen = c -> ids.contains(c.id());
        } else if (request.count() == 4 && request.is(2, "TYPE")) {
            String type = type(request, 3, reply);
            if (type.isEmpty()) {
                return;
            }
            chosen = c -> type.equals("normal");
        } else if (request.count() != 2) {
            reply.error(Errors.SYNTAX);
            return;
        }
        StringBuilder lines = new StringBuilder();
        session.door().clients().all().stream()
                .filter(chosen)
                .forEach(c -> lines.append(ClientCommand.line(session, c)));
        reply.verbatim(lines.toString());
    }

    private static String type(Request request, int i, ReplyWriter reply) {
        String type = request.string(i).toLowerCase(java.util.Locale.ROOT);
        if (!TYPES.contains(type)) {
            reply.error("ERR Unknown client type '" + request.string(i) + "'");
            return "";
        }
        return type;
    }

    static void kill(Session session, Request request, ReplyWriter reply) {
        if (request.count() == 3) {
            killOne(session, request.string(2), reply);
            return;
        }
        Filter filter = new Filter(session);
        if (request.count() % 2 != 0) {
            reply.error(Errors.SYNTAX);
            return;
        }
        for (int i = 2; i < request.count(); i += 2) {
            String error = filter.add(request, i);
            if (!error.isEmpty()) {
                reply.error(error);
                return;
            }
        }
        List<Client> chosen =
                session.door().clients().all().stream().filter(filter.all).toList();
        chosen.forEach(c -> close(session, c));
        reply.integer(chosen.size());
    }

    private static void killOne(Session session, String address, ReplyWriter reply) {
        for (Client client : session.door().clients().all()) {
            if (client.address().equals(address)) {
                close(session, client);
                reply.ok();
                return;
            }
        }
        reply.error("ERR No such client");
    }

    /** One's own connection gets the reply first. */
    private static void close(Session session, Client client) {
        if (client == session.client()) {
            session.closeAfterReplies();
        } else {
            client.channel().close();
        }
    }

    private static final class Filter {
        private Predicate<Client> all;
        private boolean skipMe = true;

        Filter(Session session) {
            all = c -> !skipMe || c != session.client();
        }

        /** The error line, or empty. */
        String add(Request request, int i) {
            String value = request.string(i + 1);
            if (request.is(i, "ID")) {
                long id = request.integer(i + 1, -1);
                all = all.and(c -> c.id() == id);
                return id < 1 ? "ERR client-id should be greater than 0" : "";
            }
            if (request.is(i, "TYPE")) {
                String type = value.toLowerCase(java.util.Locale.ROOT);
                all = all.and(c -> type.equals("normal"));
                return TYPES.contains(type) ? "" : "ERR Unknown client type '" + value + "'";
            }
            if (request.is(i, "SKIPME")) {
                skipMe = request.is(i + 1, "YES");
                return skipMe || request.is(i + 1, "NO") ? "" : Errors.SYNTAX;
            }
            return addWord(request, i, value);
        }

        private String addWord(Request request, int i, String value) {
            if (request.is(i, "ADDR")) {
                all = all.and(c -> c.address().equals(value));
            } else if (request.is(i, "LADDR")) {
                all = all.and(c -> c.localAddress().equals(value));
            } else if (request.is(i, "USER")) {
                all = all.and(c -> value.equals("default"));
                return value.equals("default") ? "" : "ERR No such user '" + value + "'";
            } else {
                return Errors.SYNTAX;
            }
            return "";
        }
    }
}
