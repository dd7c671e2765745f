package dev.pgnear.cli;

import dev.pgnear.base.UserError;
import dev.pgnear.config.ConfigKey;
import dev.pgnear.config.Configuration;
import dev.pgnear.pg.catalog.ControlConnection;
import dev.pgnear.pg.catalog.Fence;
import dev.pgnear.pg.catalog.SynchronousStandbys;
import java.io.PrintWriter;
import java.sql.Connection;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code pgnear fence status|join|release}: who must acknowledge a COMMIT. */
@Command(
        name = "fence",
        description = "Shows or changes which nodes every COMMIT waits for (synchronous_standby_names).",
        mixinStandardHelpOptions = true)
final class FenceCommand implements Callable<Integer> {
    /** Beyond max-staleness: clocks of node and server run at slightly different rates. */
    private static final Duration MARGIN = Duration.ofMillis(250);

    /** What to do. */
    enum Action {
        STATUS,
        JOIN,
        RELEASE
    }

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final PostgresOptions postgres = new PostgresOptions();

    @Parameters(paramLabel = "ACTION", description = "status, join or release")
    private Action action = Action.STATUS;

    @Option(names = "--node-name", paramLabel = "NAME", description = "The node; default as for serve.")
    private @Nullable String nodeName;

    @Option(
            names = "--max-staleness",
            paramLabel = "DURATION",
            description = "release: max-staleness of a node that never registered its own.")
    private @Nullable String maxStaleness;

    @Option(
            names = "--force",
            description = "join: also a node that is not connected; every COMMIT then waits until it is.")
    private boolean force;

    @Override
    public Integer call() throws Exception {
        Map<ConfigKey, String> flags = new EnumMap<>(ConfigKey.class);
        if (nodeName != null) {
            flags.put(ConfigKey.NODE_NAME, nodeName);
        }
        if (maxStaleness != null) {
            flags.put(ConfigKey.MAX_STALENESS, maxStaleness);
        }
        Configuration c = postgres.configuration(flags);
        String node = c.text(ConfigKey.NODE_NAME);
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        try (Connection connection = ControlConnection.openLocal(PostgresOptions.target(c), "pgnear fence")) {
            Fence fence = new Fence(connection);
            switch (action) {
                case STATUS -> status(fence, out);
                case JOIN -> join(fence, node, out);
                case RELEASE -> release(fence, node, c.duration(ConfigKey.MAX_STALENESS), out);
            }
        }
        out.flush();
        return 0;
    }

    private static void status(Fence fence, PrintWriter out) {
        SynchronousStandbys rule = fence.standbys();
        out.println("synchronous_standby_names = '" + rule + "'");
        for (String name : rule.names()) {
            String why = rule.whyNotRequired(name);
            out.println("  " + name + ": " + (why == null ? "every COMMIT waits for it" : "not required: " + why));
        }
        for (Fence.Walsender w : fence.walsenders()) {
            out.println("  walsender " + w.name() + ": "
                    + (w.state().isEmpty() ? "state not visible, GRANT pg_monitor" : w.state() + ", " + w.syncState()));
        }
    }

    private void join(Fence fence, String node, PrintWriter out) {
        boolean connected = fence.walsenders().stream().anyMatch(w -> w.name().equalsIgnoreCase(node));
        if (!connected && !force) {
            throw new UserError(
                    "Node " + node
                            + " is not connected, so every COMMIT of the server would wait for it; start it first, or give --force.");
        }
        out.println("synchronous_standby_names = '" + fence.join(node) + "'");
    }

    /** In this order: no claim and no hit of the node may outlive the moment at which commits stop waiting for it. */
    private static void release(Fence fence, String node, Duration unregistered, PrintWriter out)
            throws InterruptedException {
        fence.announce(node);
        Thread.sleep(fence.lease(node).orElse(unregistered).plus(MARGIN));
        out.println("synchronous_standby_names = '" + fence.leave(node) + "'");
    }
}
