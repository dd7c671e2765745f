package dev.pgnear.cli;

import dev.pgnear.base.UserError;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The command line: one class a verb. Exit codes: 0 well, 1 failed, 2 wrong usage. */
@Command(
        name = "pgnear",
        description = "A coherent near cache for PostgreSQL: rows by primary key over the Redis protocol.",
        mixinStandardHelpOptions = true,
        versionProvider = VersionCommand.Provider.class,
        synopsisSubcommandLabel = "VERB",
        usageHelpAutoWidth = true)
public final class Main implements Runnable {
    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Shows stack traces of errors and logs more.")
    private boolean debug;

    private Main() {}

    /** Runs a verb and exits with its code. */
    public static void main(String[] args) {
        int code = run(args, utf8(System.out), utf8(System.err));
        if (code != 0) {
            System.exit(code);
        }
    }

    private static PrintWriter utf8(PrintStream stream) {
        return new PrintWriter(stream, true, StandardCharsets.UTF_8);
    }

    /** Runs a verb; for tests. */
    static int run(String[] args, PrintWriter out, PrintWriter err) {
        Main main = new Main();
        CommandLine line = new CommandLine(main);
        for (Object verb : List.of(
                new DemoCommand(),
                new ServeCommand(),
                new SetupCommand(),
                new CheckCommand(),
                new AttachCommand(),
                new DetachCommand(),
                new TablesCommand(),
                new InvalidateCommand(),
                new FenceCommand(),
                new ConfigCommand(),
                new VersionCommand())) {
            line.addSubcommand(verb);
        }
        line.setOut(out);
        line.setErr(err);
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setParameterExceptionHandler((e, a) -> {
            CommandLine at = e.getCommandLine();
            String help = at.getParent() == null ? "pgnear --help" : "pgnear " + at.getCommandName() + " --help";
            err.println(
                    "pgnear: " + sentence(String.valueOf(e.getMessage())) + "; `" + help + "` shows what it takes.");
            return 2;
        });
        line.setExecutionExceptionHandler((e, at, parsed) -> failed(e, main.debug, err));
        line.setExecutionStrategy(parsed -> {
            Logging.configure(main.debug);
            return new CommandLine.RunLast().execute(parsed);
        });
        return line.execute(args);
    }

    private static int failed(Exception e, boolean debug, PrintWriter err) {
        if (debug) {
            e.printStackTrace(err);
        }
        if (e instanceof UserError u) {
            err.println("pgnear: " + u.getMessage());
            return u.exitCode();
        }
        err.println("pgnear: " + sentence(String.valueOf(e.getMessage() == null ? e : e.getMessage()))
                + (debug ? "" : "; --debug shows more."));
        return 1;
    }

    private static String sentence(String message) {
        return message.strip().replaceAll("\\s*\\R\\s*", " ").replaceAll("[.;]+$", "");
    }

    @Override
    public void run() {
        throw UserError.usage(
                "No verb was given; `pgnear demo` starts a complete example, `pgnear --help` lists the verbs.");
    }
}
