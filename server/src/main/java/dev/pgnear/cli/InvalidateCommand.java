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

/** {@code pgnear invalidate}. */
@Command(name = "invalidate", description = "Drops cached rows on every node.", mixinStandardHelpOptions = true)
final class InvalidateCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final PostgresOptions postgres = new PostgresOptions();

    @Parameters(paramLabel = "SCOPE", description = "CRUD, CRUD:database, CRUD:database.schema.table, or a key")
    private String scope = "";

    @Override
    public Integer call() throws Exception {
        try (Connection c = ControlConnection.open(postgres.target(), "pgnear invalidate")) {
            new TableAdmin(c).invalidate(scope);
            Objects.requireNonNull(spec).commandLine().getOut().println("invalidated " + scope);
        }
        return 0;
    }
}
