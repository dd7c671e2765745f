package dev.pgnear.resp;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A command as data: what dispatch, COMMAND, ACL CAT and the documentation need to know of it. The fields have the meaning of Redis's
 * COMMAND and COMMAND DOCS.
 *
 * @param name lower case, for a subcommand {@code container|sub}
 * @param arity arguments, name (and subcommand) included; negative: at least so many
 * @param flags as COMMAND shows them
 * @param firstKey position of the first key, 0 if there is none
 * @param lastKey position of the last key, -1 for the last argument
 * @param keyStep distance between keys
 * @param categories of ACL, without {@code @}
 * @param group family of the documentation
 * @param since version of Redis (or pgnear) that brought it
 * @param summary one sentence
 * @param subcommands of a container, else empty
 * @param command null for a container that does nothing alone
 */
public record CommandSpec(
        String name,
        int arity,
        Set<Flag> flags,
        int firstKey,
        int lastKey,
        int keyStep,
        List<String> categories,
        String group,
        String since,
        String summary,
        List<CommandSpec> subcommands,
        @Nullable Command command) {

    /** Flags that pgnear gives a meaning to, in Redis's spelling. */
    public enum Flag {
        READONLY,
        WRITE,
        FAST,
        ADMIN,
        NOSCRIPT,
        LOADING,
        STALE,
        /** Runs before authentication. */
        NO_AUTH;

        /** As COMMAND shows it. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** A command without keys. */
    public static CommandSpec single(
            String name, int arity, String group, String since, String summary, Command command) {
        List<String> categories = group.equals("connection") ? List.of("slow", "connection") : List.of("slow");
        return new CommandSpec(name, arity, Set.of(), 0, 0, 0, categories, group, since, summary, List.of(), command);
    }

    /** A command of subcommands; each is named {@code name|sub}. */
    public static CommandSpec container(
            String name, String group, String since, String summary, CommandSpec... subcommands) {
        return new CommandSpec(
                name, -2, Set.of(), 0, 0, 0, List.of("slow"), group, since, summary, List.of(subcommands), null);
    }

    /** With flags. */
    public CommandSpec flags(Flag... added) {
        Set<Flag> all = new java.util.TreeSet<>(flags);
        all.addAll(Arrays.asList(added));
        return new CommandSpec(
                name, arity, all, firstKey, lastKey, keyStep, categories, group, since, summary, subcommands, command);
    }

    /** With keys. */
    public CommandSpec keys(int first, int last, int step) {
        return new CommandSpec(
                name, arity, flags, first, last, step, categories, group, since, summary, subcommands, command);
    }

    /** In these categories of ACL. */
    public CommandSpec categories(String... names) {
        return new CommandSpec(
                name,
                arity,
                flags,
                firstKey,
                lastKey,
                keyStep,
                List.of(names),
                group,
                since,
                summary,
                subcommands,
                command);
    }

    /** With one more subcommand. */
    public CommandSpec with(CommandSpec subcommand) {
        List<CommandSpec> more =
                Stream.concat(subcommands.stream(), Stream.of(subcommand)).toList();
        return new CommandSpec(
                name, arity, flags, firstKey, lastKey, keyStep, categories, group, since, summary, more, command);
    }

    /** A container that is also a command of its own when no subcommand is given. */
    public CommandSpec alone(int newArity, Command whole) {
        return new CommandSpec(
                name,
                newArity,
                flags,
                firstKey,
                lastKey,
                keyStep,
                categories,
                group,
                since,
                summary,
                subcommands,
                whole);
    }

    /** Whether so many arguments fit. */
    public boolean accepts(int count) {
        return arity >= 0 ? count == arity : count >= -arity;
    }

    /** Whether it runs before authentication. */
    public boolean noAuth() {
        return flags.contains(Flag.NO_AUTH);
    }

    /** It and its subcommands. */
    public Stream<CommandSpec> all() {
        return Stream.concat(Stream.of(this), subcommands.stream());
    }
}
