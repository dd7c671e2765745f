package dev.pgnear.cli;

import dev.pgnear.base.UserError;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The PostgreSQL of {@code pgnear demo}: binaries from the libraries, data in a folder of its own that one demo at a time may use (a lock file
 * tells). A server that a killed demo left running on the folder is stopped first.
 */
final class DemoPostgres implements AutoCloseable {
    private static final String LOCK = "pgnear-demo.lock";

    private final Path folder;
    private final boolean keep;
    private final FileChannel lockChannel;
    private final FileLock lock;
    private final EmbeddedPostgres server;
    private final int port;

    private DemoPostgres(
            Path folder, boolean keep, FileChannel lockChannel, FileLock lock, EmbeddedPostgres server, int port) {
        this.folder = folder;
        this.keep = keep;
        this.lockChannel = lockChannel;
        this.lock = lock;
        this.server = server;
        this.port = port;
    }

    /**
     * @param dataDir kept folder, or null for one that is removed at the end
     * @param port 0 takes a free one
     */
    static DemoPostgres start(@Nullable Path dataDir, int port, Consumer<String> progress) throws IOException {
        Path folder = dataDir == null
                ? Files.createTempDirectory("pgnear-demo-")
                : Files.createDirectories(dataDir.toAbsolutePath());
        FileChannel channel =
                FileChannel.open(folder.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = lock(channel, folder);
        try {
            Path data = folder.resolve("data");
            stopLeftover(data, progress);
            int actual = freePort(port);
            boolean fresh = !Files.exists(data.resolve("PG_VERSION"));
            progress.accept(
                    fresh ? "unpacking PostgreSQL and running initdb in " + data : "starting PostgreSQL on " + data);
            EmbeddedPostgres server = EmbeddedPostgres.builder()
                    .setPort(actual)
                    .setDataDirectory(data)
                    .setCleanDataDirectory(false)
                    .setPGStartupWait(Duration.ofSeconds(60))
                    .setLocaleConfig("encoding", "UTF8")
                    .setLocaleConfig("locale", "C.UTF-8")
                    .setServerConfig("wal_level", "logical")
                    .setServerConfig("listen_addresses", "127.0.0.1")
                    // the starter's defaults are those of a throw-away server
                    .setServerConfig("synchronous_commit", "on")
                    .setServerConfig("fsync", "on")
                    .setServerConfig("full_page_writes", "on")
                    .setServerConfig("max_connections", "200")
                    .setServerConfig("max_wal_senders", "20")
                    .setServerConfig("max_replication_slots", "20")
                    .setServerConfig("max_prepared_transactions", "20")
                    .setServerConfig("shared_buffers", "128MB")
                    .start();
            return new DemoPostgres(folder, dataDir != null, channel, lock, server, actual);
        } catch (IOException e) {
            channel.close();
            throw new UserError(
                    "The demo's PostgreSQL did not start in " + folder + " (" + e.getMessage()
                            + "); remove the folder, or name another with --data-dir.",
                    e);
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static FileLock lock(FileChannel channel, Path folder) throws IOException {
        FileLock lock;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null;
        }
        if (lock == null) {
            channel.close();
            throw new UserError("Another demo is already running on " + folder
                    + "; stop it (Ctrl-C there), or name another folder with --data-dir.");
        }
        return lock;
    }

    private static int freePort(int port) throws IOException {
        try (ServerSocket s = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return s.getLocalPort();
        } catch (java.net.BindException e) {
            throw new UserError(
                    "Port " + port
                            + " for the demo's PostgreSQL is in use; give another with --pg-port, or 0 for a free one.",
                    e);
        }
    }

    private static void stopLeftover(Path data, Consumer<String> progress) throws IOException {
        Path pidFile = data.resolve("postmaster.pid");
        if (!Files.exists(pidFile)) {
            return;
        }
        List<String> lines = Files.readAllLines(pidFile);
        long pid = lines.isEmpty() ? -1 : Long.parseLong(lines.getFirst().trim());
        ProcessHandle left = ProcessHandle.of(pid).orElse(null);
        boolean postgres = left != null && left.info().command().orElse("").endsWith("postgres");
        if (left != null && postgres) {
            progress.accept("stopping the PostgreSQL (process " + pid + ") that an earlier demo left running");
            new ProcessBuilder("kill", "-INT", Long.toString(pid)).start();
            try {
                left.onExit().get(30, TimeUnit.SECONDS);
            } catch (InterruptedException | ExecutionException | TimeoutException e) {
                throw new UserError(
                        "The PostgreSQL (process " + pid + ") that an earlier demo left running on " + data
                                + " does not stop; end it by hand.",
                        e);
            }
        } else {
            Files.delete(pidFile);
        }
    }

    int port() {
        return port;
    }

    String url() {
        return "postgresql://postgres@127.0.0.1:" + port + "/postgres";
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            // the folder says what is left: the next demo on it stops a server that still runs
        }
        try {
            lock.release();
            lockChannel.close();
            if (!keep) {
                delete(folder);
            }
        } catch (IOException e) {
            // an undeletable temporary folder harms nobody
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path p : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(p);
            }
        }
    }
}
