package dev.pgnear.cli;

import dev.pgnear.base.UserError;
import dev.pgnear.config.ConfigKey;
import dev.pgnear.config.Configuration;
import dev.pgnear.pg.wire.PgTarget;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which PostgreSQL a verb works on: {@code --postgres}, else the environment, else the configuration file. */
final class PostgresOptions {
    @Option(
            names = "--postgres",
            paramLabel = "URL",
            description = "postgresql://user:password@host:5432/database (or PGNEAR_POSTGRES)")
    private @Nullable String url;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "TOML file with the keys of `pgnear config --print`.")
    private @Nullable Path file;

    /** Where to connect. */
    PgTarget target() {
        return target(configuration(Map.of()));
    }

    /** The effective configuration, with these flags. */
    Configuration configuration(Map<ConfigKey, String> more) {
        Map<ConfigKey, String> flags = new EnumMap<>(ConfigKey.class);
        flags.putAll(more);
        if (url != null) {
            flags.put(ConfigKey.POSTGRES, url);
        }
        return Configuration.of(file, System.getenv(), flags);
    }

    static PgTarget target(Configuration c) {
        String text = c.text(ConfigKey.POSTGRES);
        if (text.isEmpty()) {
            throw UserError.usage(
                    "No PostgreSQL was named; give --postgres postgresql://user:password@host:5432/database.");
        }
        try {
            return PgTarget.parse(text);
        } catch (IllegalArgumentException e) {
            throw UserError.usage(String.valueOf(e.getMessage()));
        }
    }
}
