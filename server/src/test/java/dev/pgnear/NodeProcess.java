package dev.pgnear;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** pgnear as a process of its own, so that it can be stopped and killed. */
public final class NodeProcess implements AutoCloseable {
    private static final Pattern READY = Pattern.compile("ready .*resp=127\\.0\\.0\\.1:(\\d+).*");

    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();

    /** Runs the command line with these words. */
    public NodeProcess(String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.pgnear.cli.Main"));
        command.addAll(List.of(words));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Thread.ofVirtual().start(this::read);
    }

    private void read() {
        try (BufferedReader r =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String l;
            while ((l = r.readLine()) != null) {
                lines.add(l);
            }
        } catch (IOException e) {
            lines.add("reading: " + e);
        }
    }

    /** The first line that begins with "ready". */
    public String awaitReady(long seconds) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() < end) {
            for (String l : lines) {
                if (l.startsWith("ready")) {
                    return l;
                }
            }
            if (!process.isAlive()) {
                break;
            }
            LockSupport.parkNanos(10_000_000);
        }
        throw new IOException("no ready line: " + lines);
    }

    /** Port of the RESP door, after {@link #awaitReady}. */
    public int respPort() throws IOException {
        Matcher m = READY.matcher(awaitReady(60));
        if (!m.matches()) {
            throw new IOException("no RESP port in the ready line");
        }
        return Integer.parseInt(m.group(1));
    }

    public long pid() {
        return process.pid();
    }

    /** What it printed so far. */
    public List<String> output() {
        return lines;
    }

    /** kill -9. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** SIGTERM; the exit code, or null if it does not end in time. */
    public @Nullable Integer stop(long seconds) throws InterruptedException {
        process.destroy();
        return process.waitFor(seconds, TimeUnit.SECONDS) ? process.exitValue() : null;
    }

    /** The exit code of a process that ends by itself. */
    public @Nullable Integer awaitExit(long seconds) throws InterruptedException {
        return process.waitFor(seconds, TimeUnit.SECONDS) ? process.exitValue() : null;
    }

    @Override
    public void close() throws InterruptedException {
        if (process.isAlive()) {
            kill();
        }
    }
}
