package dev.pgnear.resp.command;

import dev.pgnear.base.Limits;
import dev.pgnear.metrics.Stat;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.Session;
import java.util.Map;
import java.util.TreeMap;

/** {@code CONFIG GET}, {@code SET} and {@code RESETSTAT}. Drivers and tools ask for Redis's names; what is set is set at start. */
final class Config {
    private Config() {}

    static void get(Session session, Request request, ReplyWriter reply) {
        Map<String, String> all = values(session);
        all.keySet().removeIf(name -> !asked(request, name));
        reply.map(all.size());
        all.forEach((name, value) -> {
            reply.bulk(name);
            reply.bulk(value);
        });
    }

    private static boolean asked(Request request, String name) {
        for (int i = 2; i < request.count(); i++) {
            if (Glob.matches(request.string(i), name)) {
                return true;
            }
        }
        return false;
    }

    private static Map<String, String> values(Session session) {
        Map<String, String> all = new TreeMap<>(session.door().settings().configuration());
        all.put("appendonly", "no");
        all.put("save", "");
        all.put("databases", "1");
        all.put("maxclients", Integer.toString(session.door().clients().limit()));
        all.put("maxmemory", Long.toString(session.door().stats().number(Stat.MEMORY_BUDGET_BYTES)));
        all.put("maxmemory-policy", "allkeys-lru");
        all.put("port", Integer.toString(session.door().port()));
        all.put("proto-max-bulk-len", Integer.toString(Limits.REQUEST_BYTES));
        all.put("timeout", "0");
        return all;
    }

    static void set(Session session, Request request, ReplyWriter reply) {
        if (request.count() % 2 != 0) {
            reply.error("ERR wrong number of arguments for 'config|set' command");
            return;
        }
        Map<String, String> known = values(session);
        for (int i = 2; i < request.count(); i += 2) {
            String name = request.string(i);
            if (!known.containsKey(name.toLowerCase(java.util.Locale.ROOT))) {
                reply.error("ERR Unknown option or number of arguments for CONFIG SET - '" + name + "'");
                return;
            }
        }
        reply.error("ERR CONFIG SET failed (possibly related to argument '" + request.string(2)
                + "') - can't set immutable config");
    }

    /** Accepted and without effect: other readers of the counters rely on their never going back. */
    static void resetStat(Session session, Request request, ReplyWriter reply) {
        reply.ok();
    }
}
