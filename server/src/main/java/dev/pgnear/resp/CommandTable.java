package dev.pgnear.resp;

import dev.pgnear.base.Check;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** All commands by name, found from the request's bytes in any case without making a string: open addressing over a folded hash. */
public final class CommandTable {
    private final List<CommandSpec> specs;
    private final Names top;
    private final java.util.IdentityHashMap<CommandSpec, Names> subcommands = new java.util.IdentityHashMap<>();

    /** Of these commands; names must be unique. */
    public CommandTable(List<CommandSpec> specs) {
        this.specs = List.copyOf(specs);
        this.top = new Names(specs);
        specs.forEach(spec -> {
            if (!spec.subcommands().isEmpty()) {
                subcommands.put(spec, new Names(spec.subcommands()));
            }
        });
    }

    /** All, without subcommands. */
    public List<CommandSpec> specs() {
        return specs;
    }

    /** The command that argument {@code i} names, or null. */
    public @Nullable CommandSpec find(Request request, int i) {
        return top.find(request.bytes(), request.offset(i), request.length(i));
    }

    /** The command, or the subcommand if one is named; null if there is none of that name. */
    @Nullable
    CommandSpec resolve(Request request) {
        CommandSpec spec = find(request, 0);
        if (spec == null || spec.subcommands().isEmpty() || request.count() == 1) {
            return spec;
        }
        Names names = subcommands.get(spec);
        return names == null ? null : names.find(request.bytes(), request.offset(1), request.length(1));
    }

    /** The error line when {@link #resolve} found nothing. */
    String unknown(Request request) {
        CommandSpec container = find(request, 0);
        return container == null ? Errors.unknownCommand(request) : Errors.unknownSubcommand(container, request);
    }

    /** By full name such as {@code client|id}, in any case, or null. */
    public @Nullable CommandSpec byName(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return specs.stream()
                .flatMap(CommandSpec::all)
                .filter(s -> s.name().equals(lower))
                .findFirst()
                .orElse(null);
    }

    private static final class Names {
        private final byte[] @Nullable [] names;
        private final @Nullable CommandSpec[] specs;
        private final int mask;

        Names(Collection<CommandSpec> all) {
            int size = Integer.highestOneBit(all.size() * 4) << 1;
            names = new byte[size][];
            specs = new CommandSpec[size];
            mask = size - 1;
            all.forEach(this::put);
        }

        private void put(CommandSpec spec) {
            String own = spec.name().substring(spec.name().indexOf('|') + 1);
            byte[] name = own.getBytes(StandardCharsets.US_ASCII);
            Check.that(find(name, 0, name.length) == null, "two commands are named " + spec.name());
            int i = hash(name, 0, name.length) & mask;
            while (names[i] != null) {
                i = i + 1 & mask;
            }
            names[i] = name;
            specs[i] = spec;
        }

        @Nullable
        CommandSpec find(byte[] b, int offset, int length) {
            int i = hash(b, offset, length) & mask;
            for (byte[] name = names[i]; name != null; name = names[i]) {
                if (equal(name, b, offset, length)) {
                    return specs[i];
                }
                i = i + 1 & mask;
            }
            return null;
        }

        private static int hash(byte[] b, int offset, int length) {
            int h = length;
            for (int i = offset; i < offset + Math.min(length, 24); i++) {
                h = h * 31 + (b[i] | 0x20);
            }
            return h ^ h >>> 15;
        }

        private static boolean equal(byte[] name, byte[] b, int offset, int length) {
            if (name.length != length) {
                return false;
            }
            for (int i = 0; i < length; i++) {
                byte c = b[offset + i];
                if (name[i] != (c >= 'A' && c <= 'Z' ? c | 0x20 : c)) {
                    return false;
                }
            }
            return true;
        }
    }
}
