package dev.pgnear.cli;

import dev.pgnear.config.ConfigKey;
import dev.pgnear.config.Configuration;
import dev.pgnear.pg.catalog.Preflight;
import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code pgnear check}. */
@Command(
        name = "check",
        description =
                "Looks whether serve would work; names each thing that is missing, with what mends it. Changes nothing.",
        mixinStandardHelpOptions = true)
final class CheckCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final PostgresOptions postgres = new PostgresOptions();

    @Option(names = "--coherence", paramLabel = "MODE", description = "fenced or tracked")
    private @Nullable String coherence;

    @Option(names = "--node-name", paramLabel = "NAME", description = "Name of the node that is to serve.")
    private @Nullable String nodeName;

    @Override
    public Integer call() {
        Map<ConfigKey, String> flags = new EnumMap<>(ConfigKey.class);
        if (coherence != null) {
            flags.put(ConfigKey.COHERENCE, coherence);
        }
        if (nodeName != null) {
            flags.put(ConfigKey.NODE_NAME, nodeName);
        }
        Configuration c = postgres.configuration(flags);
        List<Preflight.Finding> findings =
                Preflight.run(PostgresOptions.target(c), c.text(ConfigKey.NODE_NAME), c.fenced());
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        for (Preflight.Finding f : findings) {
            out.printf(Locale.ROOT, "%-8s %s%n", f.level().name().toLowerCase(Locale.ROOT), f.what());
            if (!f.fix().isEmpty()) {
                out.printf(Locale.ROOT, "%-8s %s%n", "  mend:", f.fix());
            }
        }
        out.flush();
        return Preflight.passed(findings) ? 0 : 1;
    }
}
