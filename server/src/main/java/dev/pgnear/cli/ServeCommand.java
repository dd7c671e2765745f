package dev.pgnear.cli;

import dev.pgnear.Server;
import dev.pgnear.base.UserError;
import dev.pgnear.config.ConfigKey;
import dev.pgnear.config.Configuration;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code pgnear serve}: the doors in front of an existing PostgreSQL, until SIGTERM or SIGINT. */
@Command(
        name = "serve",
        description = "Serves rows from a PostgreSQL on which `pgnear setup` was run.",
        mixinStandardHelpOptions = true)
final class ServeCommand implements Callable<Integer> {
    private @Nullable CommandSpec spec;

    @Option(names = "--config", paramLabel = "FILE", description = "TOML file with the keys below; flags win.")
    private @Nullable Path file;

    @Spec
    void spec(CommandSpec s) {
        spec = s;
        ConfigOptions.addTo(s);
    }

    @Override
    public Integer call() throws Exception {
        CommandSpec s = Objects.requireNonNull(spec);
        Configuration c = ConfigOptions.read(s, file, Map.of());
        if (c.text(ConfigKey.POSTGRES).isEmpty()) {
            throw UserError.usage(
                    "No PostgreSQL was named; give --postgres postgresql://user:password@host:5432/database.");
        }
        PrintWriter out = s.commandLine().getOut();
        Server server = Server.start(c);
        StopHook.onStop(server::close);
        out.println(server.readyLine());
        out.flush();
        StopHook.await();
        return 0;
    }
}
