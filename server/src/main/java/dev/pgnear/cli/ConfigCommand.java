package dev.pgnear.cli;

import dev.pgnear.base.UserError;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code pgnear config --print}. */
@Command(
        name = "config",
        description = "Prints the effective configuration, every key with its origin; secrets hidden.",
        mixinStandardHelpOptions = true)
final class ConfigCommand implements Callable<Integer> {
    private @Nullable CommandSpec spec;

    @Option(names = "--config", paramLabel = "FILE", description = "TOML file to read.")
    private @Nullable Path file;

    @Option(names = "--print", description = "Print it.")
    private boolean print;

    @Spec
    void spec(CommandSpec s) {
        spec = s;
        ConfigOptions.addTo(s);
    }

    @Override
    public Integer call() {
        CommandSpec s = Objects.requireNonNull(spec);
        if (!print) {
            throw UserError.usage("`pgnear config` only knows --print; call `pgnear config --print`.");
        }
        s.commandLine().getOut().print(ConfigOptions.read(s, file, Map.of()).print());
        s.commandLine().getOut().flush();
        return 0;
    }
}
