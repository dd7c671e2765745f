package dev.pgnear.cli;

import dev.pgnear.config.ConfigKey;
import dev.pgnear.config.Configuration;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Makes one flag of each configuration key, so that the table of keys is the only list. */
final class ConfigOptions {
    private ConfigOptions() {}

    static void addTo(CommandSpec spec) {
        for (ConfigKey k : ConfigKey.values()) {
            boolean isSwitch = k.defaultText().equals("false");
            OptionSpec.Builder o = OptionSpec.builder("--" + k.key())
                    .type(String.class)
                    .paramLabel(isSwitch ? "" : "VALUE")
                    .description(k.purpose()
                            + (isSwitch || k.defaultText().isEmpty() ? "" : " (default: " + k.defaultText() + ")"));
            if (isSwitch) {
                o.arity("0..1").fallbackValue("true");
            } else {
                o.arity("1");
            }
            spec.addOption(o.build());
        }
    }

    /** What the command line gave, put together with the environment and the file. */
    static Configuration read(CommandSpec spec, @Nullable Path file, Map<ConfigKey, String> overrides) {
        Map<ConfigKey, String> flags = new EnumMap<>(ConfigKey.class);
        for (ConfigKey k : ConfigKey.values()) {
            OptionSpec o = spec.findOption("--" + k.key());
            if (o != null && o.getValue() instanceof String s) {
                flags.put(k, s);
            }
        }
        overrides.forEach(flags::putIfAbsent);
        return Configuration.of(file, System.getenv(), flags);
    }
}
