package dev.pgnear.cli;

import dev.pgnear.pg.catalog.Setup;
import dev.pgnear.pg.wire.PgTarget;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code pgnear setup}. */
@Command(
        name = "setup",
        description =
                "Installs schema local_cache, publication pgnear and event triggers in one transaction; safe to repeat.",
        mixinStandardHelpOptions = true)
final class SetupCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final PostgresOptions postgres = new PostgresOptions();

    @Option(
            names = "--node-role",
            paramLabel = "ROLE",
            description = "Role that pgnear serves as; gets its rights on the schema.")
    private @Nullable String nodeRole;

    @Option(names = "--print", description = "Shows the SQL and does nothing.")
    private boolean print;

    @Override
    public Integer call() {
        CommandSpec s = Objects.requireNonNull(spec);
        PrintWriter out = s.commandLine().getOut();
        if (print) {
            out.print(Setup.script(nodeRole));
            out.flush();
            return 0;
        }
        PgTarget target = postgres.target();
        for (String warning : Setup.install(target, nodeRole)) {
            s.commandLine().getErr().println("pgnear: " + warning);
        }
        out.println("pgnear is set up in " + target);
        return 0;
    }
}
