package dev.pgnear.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code pgnear version}. */
@Command(name = "version", description = "Prints the version.", mixinStandardHelpOptions = true)
final class VersionCommand implements Callable<Integer> {
    @Spec
    private @org.jspecify.annotations.Nullable CommandSpec spec;

    @Override
    public Integer call() {
        Objects.requireNonNull(spec).commandLine().getOut().println(text());
        return 0;
    }

    static String text() {
        String version = VersionCommand.class.getPackage().getImplementationVersion();
        return "pgnear " + (version == null ? "development" : version) + " (Java " + Runtime.version() + ")";
    }

    /** For {@code --version}. */
    static final class Provider implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {text()};
        }
    }
}
