package dev.pgnear.torture;

import dev.pgnear.RespClient;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One connection that reads random keys by GET and MGET and has every answer checked. */
public final class Reader implements Runnable {
    private static final Pattern ROW =
            Pattern.compile("\\{\"id\":(\\d+),\"version\":(\\d+),\"doomed\":(true|false),.*");

    private final String name;
    private final int port;
    private final Auditor auditor;
    private final boolean fenced;
    private final long maxStalenessNanos;
    private final SplittableRandom random;
    private final AtomicBoolean stop;
    private final long[] seen;
    private final boolean survivesFaults;

    /** @param survivesFaults connects again and takes errors for an answer while PostgreSQL is away */
    public Reader(
            String name,
            int port,
            Auditor auditor,
            int keys,
            boolean fenced,
            long maxStalenessNanos,
            long seed,
            AtomicBoolean stop,
            boolean survivesFaults) {
        this.survivesFaults = survivesFaults;
        this.name = name;
        this.port = port;
        this.auditor = auditor;
        this.fenced = fenced;
        this.maxStalenessNanos = maxStalenessNanos;
        this.random = new SplittableRandom(seed);
        this.stop = stop;
        this.seen = new long[keys];
        Arrays.fill(seen, -1);
    }

    @Override
    public void run() {
        do {
            session();
        } while (survivesFaults && !stop.get());
    }

    private void session() {
        Arrays.fill(seen, -1);
        try (RespClient c = new RespClient(port)) {
            while (!stop.get()) {
                int n = random.nextInt(3) == 0 ? 1 + random.nextInt(16) : 1;
                int[] keys = random.ints(n, 0, seen.length).toArray();
                read(c, keys);
            }
        } catch (IOException e) {
            if (!survivesFaults) {
                auditor.violation(name + " failed: " + e);
            } else {
                LockSupport.parkNanos(20_000_000);
            }
        }
    }

    private void read(RespClient c, int[] keys) throws IOException {
        long[] floors = new long[keys.length];
        long now = System.nanoTime();
        for (int i = 0; i < keys.length; i++) {
            floors[i] = fenced ? auditor.floor(keys[i]) : auditor.floorBefore(keys[i], now - maxStalenessNanos);
        }
        if (keys.length == 1) {
            check(keys[0], c.call("GET", key(keys[0])), floors[0]);
            return;
        }
        String[] words = new String[keys.length + 1];
        words[0] = "MGET";
        for (int i = 0; i < keys.length; i++) {
            words[i + 1] = key(keys[i]);
        }
        Object reply = c.call(words);
        if (reply instanceof RespClient.Failure && survivesFaults) {
            return;
        }
        if (!(reply instanceof List<?> l) || l.size() != keys.length) {
            auditor.violation(name + ": MGET answered " + reply);
            return;
        }
        for (int i = 0; i < keys.length; i++) {
            check(keys[i], l.get(i), floors[i]);
        }
    }

    /** The row key of a number. */
    public static String key(int key) {
        return "CRUD:postgres.public.torture:{\"id\":" + key + "}";
    }

    private void check(int key, @Nullable Object reply, long floor) {
        if (reply instanceof RespClient.Failure f) {
            // TRUNCATE holds its lock for longer than lock_timeout at times: an error, never a wrong row
            if (!survivesFaults
                    && !f.text().contains("55P03")
                    && !f.text().contains("57014")
                    && !f.text().contains("deadline")) {
                auditor.violation(name + ": key " + key + " answered " + f.text());
            }
            return;
        }
        Long version = null;
        boolean doomed = false;
        if (reply instanceof String s) {
            Matcher m = ROW.matcher(s);
            if (!m.matches() || Integer.parseInt(m.group(1)) != key) {
                auditor.violation(name + ": key " + key + " answered " + s);
                return;
            }
            version = Long.parseLong(m.group(2));
            doomed = m.group(3).equals("true");
        }
        seen[key] = auditor.check(name, key, version, doomed, floor, seen[key]);
    }
}
