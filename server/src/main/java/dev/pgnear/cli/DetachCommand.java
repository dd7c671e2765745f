package dev.pgnear.cli;

import dev.pgnear.pg.catalog.ControlConnection;
import dev.pgnear.pg.catalog.TableAdmin;
import java.sql.Connection;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code pgnear detach}. */
@Command(
        name = "detach",
        description = "Ends the caching of a table's rows on every node.",
        mixinStandardHelpOptions = true)
final class DetachCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final PostgresOptions postgres = new PostgresOptions();

    @Parameters(paramLabel = "TABLE", description = "schema.table")
    private String table = "";

    @Override
    public Integer call() throws Exception {
        try (Connection c = ControlConnection.open(postgres.target(), "pgnear detach")) {
            Objects.requireNonNull(spec).commandLine().getOut().println("detached " + new TableAdmin(c).detach(table));
        }
        return 0;
    }
}
