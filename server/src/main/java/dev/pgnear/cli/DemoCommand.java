package dev.pgnear.cli;

import dev.pgnear.Server;
import dev.pgnear.base.UserError;
import dev.pgnear.config.ConfigKey;
import dev.pgnear.config.Configuration;
import dev.pgnear.pg.catalog.ControlConnection;
import dev.pgnear.pg.wire.PgTarget;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code pgnear demo}: an embedded PostgreSQL with sample tables, set up and attached, and the doors in front of it, on loopback without a password. */
@Command(
        name = "demo",
        description = "Starts a PostgreSQL with sample tables and serves them; everything stops with Ctrl-C.",
        mixinStandardHelpOptions = true)
final class DemoCommand implements Callable<Integer> {
    private static final Duration HITS_LIMIT = Duration.ofSeconds(10);

    private @Nullable CommandSpec spec;

    @Option(
            names = "--rows",
            defaultValue = "100000",
            paramLabel = "N",
            description = "Rows of each sample table when it is made (default: ${DEFAULT-VALUE}).")
    private int rows;

    @Option(
            names = "--pg-port",
            defaultValue = "5440",
            paramLabel = "PORT",
            description = "Port of the PostgreSQL; 0 takes a free one (default: ${DEFAULT-VALUE}).")
    private int pgPort;

    @Option(
            names = "--data-dir",
            paramLabel = "DIR",
            description = "Folder of the PostgreSQL, kept between runs; without it a temporary one.")
    private @Nullable Path dataDir;

    @Spec
    void spec(CommandSpec s) {
        spec = s;
        ConfigOptions.addTo(s);
    }

    @Override
    public Integer call() throws Exception {
        CommandSpec s = Objects.requireNonNull(spec);
        if (rows < 1 || rows > 100_000_000) {
            throw UserError.usage("--rows " + rows + " is out of range; give 1 to 100000000.");
        }
        Configuration given = ConfigOptions.read(s, null, Map.of());
        if (!given.text(ConfigKey.POSTGRES).isEmpty()) {
            throw UserError.usage("The demo brings its own PostgreSQL; use `pgnear serve --postgres URL` for yours.");
        }
        PrintWriter out = s.commandLine().getOut();
        PrintWriter err = s.commandLine().getErr();
        DemoPostgres pg = DemoPostgres.start(dataDir, pgPort, line -> progress(err, line));
        Running running = new Running(pg);
        StopHook.onStop(running::close);
        try {
            load(pg, err);
            Configuration c = ConfigOptions.read(s, null, Map.of(ConfigKey.POSTGRES, pg.url()));
            running.serve(Server.start(c));
            running.awaitHits();
            if (c.fenced()) {
                running.join(c.text(ConfigKey.NODE_NAME));
            }
            out.println(running.readyLine() + " postgres=" + pg.url());
            out.flush();
            StopHook.await();
            return 0;
        } catch (Exception e) {
            running.close();
            throw e;
        }
    }

    private static void progress(PrintWriter err, String line) {
        err.println(line + " ...");
        err.flush();
    }

    private void load(DemoPostgres pg, PrintWriter err) throws SQLException, IOException {
        try (Connection c = ControlConnection.openLocal(PgTarget.parse(pg.url()), "pgnear demo");
                Statement st = c.createStatement()) {
            boolean there;
            try (ResultSet r = st.executeQuery("SELECT pg_catalog.to_regclass('public.items') IS NOT NULL")) {
                there = r.next() && r.getBoolean(1);
            }
            if (!there) {
                progress(err, "loading " + rows + " rows into items and tenant_items");
                c.setAutoCommit(false);
                st.execute(resource("demo.sql"));
                st.execute("INSERT INTO public.items SELECT i, i % 100, 'item ' || i, i % 100000 / 7.0, i % 2 = 0,"
                        + " jsonb_build_object('color', (ARRAY['red','green','blue'])[i % 3 + 1], 'size', i % 40),"
                        + " repeat(md5(i::text), 3), CASE WHEN i % 5 = 0 THEN 'note ' || i END, timestamptz '2026-01-01 00:00+00' + i * interval '1 second'"
                        + " FROM generate_series(1, " + rows + ") i");
                st.execute("INSERT INTO public.tenant_items SELECT i % 100, i, 'item ' || i, i % 100000 / 7.0,"
                        + " jsonb_build_object('size', i % 40), timestamptz '2026-01-01 00:00+00' + i * interval '1 second'"
                        + " FROM generate_series(1, " + rows + ") i");
                c.commit();
                c.setAutoCommit(true);
                st.execute("ANALYZE public.items, public.tenant_items");
            }
            progress(err, "setting up and attaching items and tenant_items");
            DemoSetup.run(pg.url());
        }
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = Objects.requireNonNull(DemoCommand.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** What has to be stopped, once, in this order: hits and doors, the fence, PostgreSQL. */
    private static final class Running implements AutoCloseable {
        private final DemoPostgres pg;
        private @Nullable Server server;
        private @Nullable String fencedName;
        private boolean closed;

        Running(DemoPostgres pg) {
            this.pg = pg;
        }

        synchronized void serve(Server s) {
            if (closed) {
                s.close();
                throw new UserError("The demo was stopped while it started.");
            }
            server = s;
        }

        void awaitHits() throws InterruptedException {
            Server s;
            synchronized (this) {
                s = Objects.requireNonNull(server);
            }
            s.awaitHits(HITS_LIMIT);
        }

        synchronized void join(String name) throws SQLException {
            fencedName = name;
            DemoSetup.join(pg.url(), name);
        }

        synchronized String readyLine() {
            return Objects.requireNonNull(server).readyLine();
        }

        @Override
        public synchronized void close() {
            if (closed) {
                return;
            }
            closed = true;
            try {
                if (fencedName != null) {
                    DemoSetup.leave(pg.url(), fencedName);
                }
            } catch (SQLException e) {
                // the whole server goes away with the demo
            }
            if (server != null) {
                server.close();
            }
            pg.close();
        }
    }
}
