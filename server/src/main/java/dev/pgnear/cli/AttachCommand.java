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
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code pgnear attach}. */
@Command(
        name = "attach",
        description = "Lets the rows of a table be cached, or changes alias and writability of an attached one.",
        mixinStandardHelpOptions = true)
final class AttachCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final PostgresOptions postgres = new PostgresOptions();

    @Parameters(paramLabel = "TABLE", description = "schema.table")
    private String table = "";

    @Option(
            names = "--alias",
            paramLabel = "ALIAS",
            description =
                    "Short key prefix: rows also answer to ALIAS:KEY; without it an attached table keeps its own.")
    private @Nullable String alias;

    @Option(
            names = "--writable",
            negatable = true,
            description = "Allows SET and DEL of its rows, or no longer; without it an attached table stays as it is.")
    private @Nullable Boolean writable;

    @Override
    public Integer call() throws Exception {
        try (Connection c = ControlConnection.open(postgres.target(), "pgnear attach")) {
            String name = new TableAdmin(c).attach(table, writable, alias);
            Objects.requireNonNull(spec).commandLine().getOut().println("attached " + name);
        }
        return 0;
    }
}
