package dev.pgnear;

import static org.awaitility.Awaitility.await;

import dev.pgnear.coherence.CoherenceStatus;
import dev.pgnear.config.ConfigKey;
import dev.pgnear.config.Configuration;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Nodes in this process in front of one test server; closed together, after PostgreSQL stopped waiting for them. */
public final class TestNodes implements AutoCloseable {
    private final TestPostgres pg;
    private final List<Server> servers = new ArrayList<>();
    private boolean required;
    private Server.CoherenceFactory coherence = Server.DEFAULT_COHERENCE;

    public TestNodes(TestPostgres pg) {
        this.pg = pg;
    }

    /** Nodes started from now on use these rules: for tests that switch one off. */
    public void coherence(Server.CoherenceFactory factory) {
        coherence = factory;
    }

    /** What {@code pgnear setup} does. */
    public void setup() throws Exception {
        TestDatabase.setup(pg);
    }

    public void attach(String table) throws SQLException {
        pg.sql("SELECT local_cache.attach_table('" + table + "')");
    }

    public void attach(String table, String alias) throws SQLException {
        pg.sql("SELECT local_cache.attach_table('" + table + "', true, '" + alias + "')");
    }

    /** Starts a node on free ports; more configuration as key, value, ... */
    public Server start(String name, String mode, String... more) {
        return startAt(pg.url(), name, mode, more);
    }

    /** The same in front of another URL, such as a proxy's. */
    public Server startAt(String url, String name, String mode, String... more) {
        Server s = Server.start(configuration(url, name, mode, more), coherence);
        servers.add(s);
        return s;
    }

    /** The configuration of a node in front of any URL. */
    public static Configuration configuration(String url, String name, String coherence, String... more) {
        Map<ConfigKey, String> flags = new EnumMap<>(ConfigKey.class);
        flags.put(ConfigKey.POSTGRES, url);
        flags.put(ConfigKey.NODE_NAME, name);
        flags.put(ConfigKey.COHERENCE, coherence);
        flags.put(ConfigKey.RESP_PORT, "0");
        flags.put(ConfigKey.HTTP_PORT, "0");
        flags.put(ConfigKey.MEMORY_BUDGET, "64MiB");
        flags.put(ConfigKey.THREADS, "2");
        for (int i = 0; i < more.length; i += 2) {
            flags.put(ConfigKey.byName(more[i]).orElseThrow(), more[i + 1]);
        }
        return Configuration.of(null, Map.of(), flags);
    }

    /** Makes every COMMIT wait for all these nodes. */
    public void require(String... names) throws SQLException {
        required = true;
        String list = String.join(", ", names);
        pg.sql(
                "ALTER SYSTEM SET synchronous_standby_names = 'FIRST " + names.length + " (" + list + ")'",
                "SELECT pg_reload_conf()");
    }

    /** Nobody is waited for any more. */
    public void requireNobody() throws SQLException {
        pg.sql(
                "SET synchronous_commit = local",
                "ALTER SYSTEM RESET synchronous_standby_names",
                "SELECT pg_reload_conf()");
        required = false;
    }

    public void awaitMode(CoherenceStatus.Mode mode) {
        for (Server s : servers) {
            await("mode " + mode + ", now " + s.status())
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> s.status().mode() == mode && s.status().hitsAllowed());
        }
    }

    /** Until a second read of this key is a hit, on every node. */
    public void awaitCaching(String key) throws Exception {
        for (Server s : servers) {
            try (RespClient c = new RespClient(s.respPort())) {
                await("hits of " + key).atMost(Duration.ofSeconds(30)).until(() -> {
                    c.call("GET", key);
                    long before = counter(c, "cache_hits") + counter(c, "negative_hits");
                    c.call("GET", key);
                    return counter(c, "cache_hits") + counter(c, "negative_hits") > before;
                });
            }
        }
    }

    /** One number of STATS. */
    public static long counter(RespClient c, String name) throws Exception {
        String json = Objects.requireNonNull((String) c.call("STATS"));
        var m = java.util.regex.Pattern.compile("\"" + name + "\":\\s*(-?\\d+)").matcher(json);
        if (!m.find()) {
            throw new AssertionError("STATS has no " + name + ": " + json);
        }
        return Long.parseLong(m.group(1));
    }

    @Override
    public void close() throws Exception {
        if (required) {
            requireNobody();
        }
        for (Server s : servers) {
            s.close();
        }
    }
}
