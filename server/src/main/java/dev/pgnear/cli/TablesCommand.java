package dev.pgnear.cli;

import dev.pgnear.pg.catalog.ControlConnection;
import dev.pgnear.pg.catalog.TableAdmin;
import java.io.PrintWriter;
import java.sql.Connection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code pgnear tables}. */
@Command(
        name = "tables",
        description = "Lists the attached tables, and why one is not cached.",
        mixinStandardHelpOptions = true)
final class TablesCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final PostgresOptions postgres = new PostgresOptions();

    @Override
    public Integer call() throws Exception {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        try (Connection c = ControlConnection.open(postgres.target(), "pgnear tables")) {
            print(out, new TableAdmin(c).tables());
        }
        return 0;
    }

    private static void print(PrintWriter out, List<TableAdmin.Attached> tables) {
        if (tables.isEmpty()) {
            out.println("No table is attached; `pgnear attach schema.table` attaches one.");
            return;
        }
        String format = "%-40s %-20s %-9s %s%n";
        out.printf(Locale.ROOT, format, "TABLE", "ALIAS", "WRITABLE", "STATE");
        for (TableAdmin.Attached t : tables) {
            out.printf(
                    Locale.ROOT,
                    format,
                    t.name(),
                    t.alias() == null ? "-" : t.alias(),
                    t.writable() ? "yes" : "no",
                    t.bypassReason() == null ? "cached" : "bypassed: " + t.bypassReason());
        }
        out.flush();
    }
}
