package dev.pgnear;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.zonky.test.db.postgres.embedded.PgBinaryResolver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * A real PostgreSQL of a test's own: free port, data in a folder that goes away, {@code wal_level=logical}, user {@code postgres}, trust on
 * loopback. Can be crashed and started again on the same port and data.
 */
public final class TestPostgres implements AutoCloseable {
    private static final Path BINARIES_15 =
            Path.of("target", "postgres", "postgres-15.jar").toAbsolutePath();

    private final int major;
    private final int port;
    private final Path data;
    private final Map<String, String> settings;
    private EmbeddedPostgres server;

    private TestPostgres(int major, Map<String, String> settings) {
        try {
            this.major = major;
            this.settings = settings;
            this.data = Files.createTempDirectory("pgnear-test-pg" + major + "-");
            try (ServerSocket s = new ServerSocket(0)) {
                this.port = s.getLocalPort();
            }
            this.server = launch();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts version 15 or 18 with extra settings as {@code name, value, name, value}. */
    public static TestPostgres start(int major, String... settings) {
        Map<String, String> all = new TreeMap<>();
        all.put("wal_level", "logical");
        all.put("max_wal_senders", "20");
        all.put("max_replication_slots", "20");
        all.put("max_connections", "200");
        all.put("max_prepared_transactions", "20");
        // the binaries' starter switches it off, and then no commit would wait
        all.put("synchronous_commit", "on");
        all.put("fsync", "off");
        all.put("shared_buffers", "64MB");
        for (int i = 0; i < settings.length; i += 2) {
            all.put(settings[i], settings[i + 1]);
        }
        return new TestPostgres(major, all);
    }

    private EmbeddedPostgres launch() throws IOException {
        EmbeddedPostgres.Builder b = EmbeddedPostgres.builder()
                .setPort(port)
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .setPGStartupWait(Duration.ofSeconds(60))
                .setLocaleConfig("encoding", "UTF8")
                .setLocaleConfig("locale", "C.UTF-8");
        if (major == 15) {
            b.setPgBinaryResolver(fromJar(BINARIES_15));
        }
        settings.forEach(b::setServerConfig);
        return b.start();
    }

    private static PgBinaryResolver fromJar(Path jar) {
        return (system, machine) -> {
            try (JarFile f = new JarFile(jar.toFile())) {
                JarEntry e = f.stream()
                        .filter(x -> x.getName().endsWith(".txz"))
                        .findFirst()
                        .orElseThrow();
                try (InputStream in = f.getInputStream(e)) {
                    return new ByteArrayInputStream(in.readAllBytes());
                }
            }
        };
    }

    public int port() {
        return port;
    }

    public int major() {
        return major;
    }

    /** Data folder, for pg_hba.conf, certificates and the like. */
    public Path data() {
        return data;
    }

    /** A URL for pgnear's {@code --postgres}. */
    public String url() {
        return "postgresql://postgres@127.0.0.1:" + port + "/postgres";
    }

    public Connection connect() throws SQLException {
        return connect("postgres", "postgres");
    }

    public Connection connect(String user, String database) throws SQLException {
        return DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + port + "/" + database + "?user=" + user);
    }

    /** Runs statements in one autocommit session. */
    public void sql(String... statements) throws SQLException {
        try (Connection c = connect();
                Statement s = c.createStatement()) {
            for (String x : statements) {
                s.execute(x);
            }
        }
    }

    /** First column of the first row as text. */
    public String query(String sql) throws SQLException {
        try (Connection c = connect();
                Statement s = c.createStatement();
                ResultSet r = s.executeQuery(sql)) {
            return r.next() ? r.getString(1) : null;
        }
    }

    /** Process id of the postmaster. */
    public long postmaster() throws IOException {
        return Long.parseLong(
                Files.readAllLines(data.resolve("postmaster.pid")).get(0).trim());
    }

    /** Sends a signal to a process of the server, by kill(1). */
    public static void signal(String signal, long pid) throws IOException, InterruptedException {
        Process p = new ProcessBuilder("kill", "-" + signal, Long.toString(pid))
                .inheritIO()
                .start();
        p.waitFor();
    }

    /** kill -9 of the postmaster and all its children, as a machine's crash would look to clients. */
    public void crash() throws IOException, InterruptedException {
        long pid = postmaster();
        signal("STOP", pid);
        ProcessHandle.of(pid).ifPresent(h -> {
            h.children().forEach(ProcessHandle::destroyForcibly);
            h.destroyForcibly();
            h.onExit().orTimeout(10, TimeUnit.SECONDS).join();
        });
    }

    /** Starts again on the same port and data after {@link #crash} or {@link #stop}. */
    public void restart() throws IOException {
        Files.deleteIfExists(data.resolve("epg-lock"));
        Files.deleteIfExists(data.resolve("postmaster.pid"));
        server = launch();
    }

    /** Orderly stop (mode fast); the data stay. */
    public void stop() throws IOException {
        server.close();
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException | RuntimeException e) {
            System.err.println("closing PostgreSQL: " + e.getMessage());
        }
        try (var files = Files.walk(data)) {
            files.sorted(java.util.Comparator.reverseOrder())
                    .forEach(p -> p.toFile().delete());
        } catch (IOException e) {
            System.err.println("removing " + data + ": " + e.getMessage());
        }
    }
}
