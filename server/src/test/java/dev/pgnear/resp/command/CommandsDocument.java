package dev.pgnear.resp.command;

import dev.pgnear.resp.CommandSpec;
import java.util.Locale;

/** {@code docs/commands.md}, written from the table that dispatch uses. */
final class CommandsDocument {
    private CommandsDocument() {}

    static String text() {
        StringBuilder out = new StringBuilder("""
                # Commands of the RESP door

                Generated from the command table; `CommandsDocumentTest` fails when it is stale and says how to write it anew. Replies and error texts follow
                Redis 7.2 in RESP2 and RESP3. A command that is not listed gets Redis's `unknown command` error.

                | command | arguments | keys | group | since | what it does |
                |---|---|---|---|---|---|
                """);
        Commands.table().specs().stream().flatMap(CommandSpec::all).forEach(spec -> row(out, spec));
        return out.toString();
    }

    private static void row(StringBuilder out, CommandSpec spec) {
        boolean sub = spec.name().contains("|");
        out.append("| `")
                .append(spec.name().replace('|', ' ').toUpperCase(Locale.ROOT))
                .append("` | ")
                .append(arguments(spec, sub ? 2 : 1))
                .append(" | ")
                .append(keys(spec))
                .append(" | ")
                .append(spec.group())
                .append(" | ")
                .append(spec.since())
                .append(" | ")
                .append(spec.summary())
                .append(" |\n");
    }

    private static String arguments(CommandSpec spec, int words) {
        return spec.arity() >= 0 ? String.valueOf(spec.arity() - words) : -spec.arity() - words + " or more";
    }

    private static String keys(CommandSpec spec) {
        if (spec.firstKey() == 0) {
            return "";
        }
        return spec.lastKey() < 0 ? "all from " + spec.firstKey() : String.valueOf(spec.firstKey());
    }
}
