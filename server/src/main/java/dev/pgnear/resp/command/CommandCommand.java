package dev.pgnear.resp.command;

import dev.pgnear.resp.CommandSpec;
import dev.pgnear.resp.Errors;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.Session;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** {@code COMMAND} and its subcommands, written from the table that dispatch uses. */
final class CommandCommand {
    private CommandCommand() {}

    /** {@code COMMAND} alone: everything. */
    static void all(Session session, Request request, ReplyWriter reply) {
        List<CommandSpec> specs = session.door().commands().specs();
        reply.array(specs.size());
        specs.forEach(spec -> info(spec, reply));
    }

    static void count(Session session, Request request, ReplyWriter reply) {
        reply.integer(session.door().commands().specs().size());
    }

    static void info(Session session, Request request, ReplyWriter reply) {
        if (request.count() == 2) {
            all(session, request, reply);
            return;
        }
        reply.array(request.count() - 2);
        for (int i = 2; i < request.count(); i++) {
            CommandSpec spec = session.door().commands().byName(request.string(i));
            if (spec == null) {
                reply.nullArray();
            } else {
                info(spec, reply);
            }
        }
    }

    private static void info(CommandSpec spec, ReplyWriter reply) {
        reply.array(10);
        reply.bulk(spec.name());
        reply.integer(spec.arity());
        reply.set(spec.flags().size());
        spec.flags().forEach(f -> reply.simple(f.label()));
        reply.integer(spec.firstKey());
        reply.integer(spec.lastKey());
        reply.integer(spec.keyStep());
        reply.set(spec.categories().size());
        spec.categories().forEach(c -> reply.simple("@" + c));
        reply.set(0);
        keySpecifications(spec, reply);
        reply.set(spec.subcommands().size());
        spec.subcommands().forEach(sub -> info(sub, reply));
    }

    private static void keySpecifications(CommandSpec spec, ReplyWriter reply) {
        if (spec.firstKey() == 0) {
            reply.set(0);
            return;
        }
        reply.set(1);
        reply.map(3);
        reply.bulk("flags");
        reply.set(2);
        reply.simple("RO");
        reply.simple("access");
        reply.bulk("begin_search");
        reply.map(2);
        reply.bulk("type");
        reply.bulk("index");
        reply.bulk("spec");
        reply.map(1);
        reply.bulk("index");
        reply.integer(spec.firstKey());
        reply.bulk("find_keys");
        reply.map(2);
        reply.bulk("type");
        reply.bulk("range");
        reply.bulk("spec");
        reply.map(3);
        reply.bulk("lastkey");
        reply.integer(spec.lastKey() < 0 ? spec.lastKey() : spec.lastKey() - spec.firstKey());
        reply.bulk("keystep");
        reply.integer(spec.keyStep());
        reply.bulk("limit");
        reply.integer(0);
    }

    static void docs(Session session, Request request, ReplyWriter reply) {
        List<CommandSpec> specs = session.door().commands().specs();
        if (request.count() > 2) {
            specs = java.util.stream.IntStream.range(2, request.count())
                    .mapToObj(i -> session.door().commands().byName(request.string(i)))
                    .filter(java.util.Objects::nonNull)
                    .toList();
        }
        reply.map(specs.size());
        specs.forEach(spec -> docs(spec, reply));
    }

    private static void docs(CommandSpec spec, ReplyWriter reply) {
        boolean container = !spec.subcommands().isEmpty();
        reply.bulk(spec.name());
        reply.map(container ? 4 : 3);
        reply.bulk("summary");
        reply.bulk(spec.summary());
        reply.bulk("since");
        reply.bulk(spec.since());
        reply.bulk("group");
        reply.bulk(spec.group());
        if (container) {
            reply.bulk("subcommands");
            reply.map(spec.subcommands().size());
            spec.subcommands().forEach(sub -> docs(sub, reply));
        }
    }

    /** Keys of the command that stands in the arguments. */
    static void getKeys(Session session, Request request, ReplyWriter reply) {
        CommandSpec spec = session.door().commands().find(request, 2);
        int count = request.count() - 2;
        if (spec == null) {
            reply.error("ERR Invalid command specified");
        } else if (spec.firstKey() == 0) {
            reply.error("ERR The command has no key arguments");
        } else if (!spec.accepts(count)) {
            reply.error("ERR Invalid number of arguments specified for command");
        } else {
            int last = spec.lastKey() < 0 ? count + spec.lastKey() : spec.lastKey();
            reply.array((last - spec.firstKey()) / spec.keyStep() + 1);
            for (int i = spec.firstKey(); i <= last; i += spec.keyStep()) {
                reply.bulk(request.bytes(), request.offset(i + 2), request.length(i + 2));
            }
        }
    }

    static void list(Session session, Request request, ReplyWriter reply) {
        Predicate<CommandSpec> filter = request.count() == 2 ? s -> true : filter(request);
        if (filter == null) {
            reply.error(Errors.SYNTAX);
            return;
        }
        List<String> names = session.door().commands().specs().stream()
                .flatMap(CommandSpec::all)
                .filter(filter)
                .map(CommandSpec::name)
                .toList();
        reply.array(names.size());
        names.forEach(reply::bulk);
    }

    private static @Nullable Predicate<CommandSpec> filter(Request request) {
        if (request.count() != 5 || !request.is(2, "FILTERBY")) {
            return null;
        }
        String value = request.string(4);
        if (request.is(3, "PATTERN")) {
            return s -> Glob.matches(value, s.name());
        }
        if (request.is(3, "ACLCAT")) {
            return s -> s.categories().contains(value.toLowerCase(Locale.ROOT));
        }
        return request.is(3, "MODULE") ? s -> false : null;
    }
}
