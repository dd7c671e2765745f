package dev.pgnear;

import dev.pgnear.admin.AdminServer;
import dev.pgnear.base.Limits;
import dev.pgnear.base.NanoClock;
import dev.pgnear.base.UserError;
import dev.pgnear.cache.Cache;
import dev.pgnear.cache.OffHeapCache;
import dev.pgnear.coherence.Coherence;
import dev.pgnear.coherence.CoherenceStatus;
import dev.pgnear.config.ConfigKey;
import dev.pgnear.config.Configuration;
import dev.pgnear.metrics.Stats;
import dev.pgnear.net.Listener;
import dev.pgnear.net.Transport;
import dev.pgnear.pg.backend.BackendPool;
import dev.pgnear.pg.backend.BackendSettings;
import dev.pgnear.pg.backend.BackendStats;
import dev.pgnear.pg.catalog.ControlConnection;
import dev.pgnear.pg.catalog.FillSessions;
import dev.pgnear.pg.catalog.LiveMappings;
import dev.pgnear.pg.catalog.Preflight;
import dev.pgnear.pg.catalog.Sampler;
import dev.pgnear.pg.replication.InvalidationStream;
import dev.pgnear.pg.replication.LogicalStream;
import dev.pgnear.pg.replication.StreamOptions;
import dev.pgnear.pg.wire.PgTarget;
import dev.pgnear.resp.AccessTokens;
import dev.pgnear.resp.ParsedRows;
import dev.pgnear.resp.RespDoor;
import dev.pgnear.resp.RespSettings;
import dev.pgnear.resp.RowSource;
import dev.pgnear.resp.command.Commands;
import dev.pgnear.rows.KeyParser;
import dev.pgnear.rows.RowLoader;
import dev.pgnear.rows.RowScopes;
import dev.pgnear.rows.RowStats;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One node, built by constructors from bottom to top: cache, rules, mappings, stream, sampler, loops, doors. What was started is stopped in the
 * opposite order, doors first, so that nobody is answered from a node that is going away.
 */
public final class Server implements AutoCloseable {
    /** Makes the coherence rules; tests bring rules of which one is switched off. */
    @FunctionalInterface
    public interface CoherenceFactory {
        /** See {@link Coherence#Coherence}. */
        Coherence create(Cache cache, NanoClock clock, boolean wantFenced, long maxStalenessNanos, long graceNanos);
    }

    /** The product's rules, all of them. */
    public static final CoherenceFactory DEFAULT_COHERENCE = Coherence::new;

    private static final Logger LOG = LoggerFactory.getLogger(Server.class);
    private static final Duration RELOAD_GRACE = Duration.ofSeconds(1);
    private static final Duration LOAD_LIMIT = Duration.ofSeconds(10);
    private static final long STOP_MILLIS = 3000;
    private static final long SETTINGS_MILLIS = 200;

    private final Configuration configuration;
    private final PgTarget target;
    private final NanoClock clock = System::nanoTime;
    private final Stats stats = new Stats();
    private final Deque<AutoCloseable> started = new ArrayDeque<>();
    private final OffHeapCache cache;
    private final Coherence coherence;
    private final RowScopes scopes;
    private final LiveMappings mappings;
    private final InvalidationStream stream;
    private final RowStats rowStats = new RowStats();
    private final BackendStats backendStats = new BackendStats();
    private final Map<EventExecutor, BackendPool> pools = new java.util.concurrent.ConcurrentHashMap<>();
    private @Nullable Listener resp;
    private @Nullable AdminServer admin;
    private volatile boolean closed;

    private Server(Configuration configuration, CoherenceFactory rules) {
        this.configuration = configuration;
        this.target = target(configuration);
        this.cache = cache(configuration);
        this.coherence = rules.create(
                cache,
                clock,
                configuration.fenced(),
                configuration.duration(ConfigKey.MAX_STALENESS).toNanos(),
                RELOAD_GRACE.toNanos());
        MappingsHolder holder = new MappingsHolder();
        this.scopes = new RowScopes(target.database(), coherence, holder::get);
        this.mappings = new LiveMappings(coherence, this::controlConnection, scopes);
        holder.mappings = mappings;
        this.stream = new LogicalStream(
                target,
                StreamOptions.of(configuration.text(ConfigKey.NODE_NAME), configuration.fenced()),
                mappings,
                mappings.applier(),
                clock,
                new SecureRandom());
    }

    /** Lets scopes and mappings know each other; set before any other thread exists. */
    private static final class MappingsHolder {
        private @Nullable LiveMappings mappings;

        dev.pgnear.pg.catalog.MappingSet get() {
            LiveMappings m = mappings;
            if (m == null) {
                throw new IllegalStateException("used before it was built");
            }
            return m.get();
        }
    }

    /**
     * Starts a node; returns when its doors are open.
     *
     * @throws UserError if PostgreSQL cannot be served from as it is, or a door cannot be opened
     */
    public static Server start(Configuration configuration) {
        return start(configuration, DEFAULT_COHERENCE);
    }

    /** The same with other rules, for tests. */
    public static Server start(Configuration configuration, CoherenceFactory rules) {
        preflight(configuration);
        Server server = new Server(configuration, rules);
        try {
            server.run();
            return server;
        } catch (InterruptedException | RuntimeException e) {
            server.close();
            if (e instanceof UserError u) {
                throw u;
            }
            throw new UserError("The node could not be started (" + e.getMessage() + "); --debug shows more.", e);
        }
    }

    private static PgTarget target(Configuration c) {
        try {
            return PgTarget.parse(c.text(ConfigKey.POSTGRES));
        } catch (IllegalArgumentException e) {
            throw UserError.usage(String.valueOf(e.getMessage()));
        }
    }

    private static OffHeapCache cache(Configuration c) {
        long budget = c.bytes(ConfigKey.MEMORY_BUDGET);
        try {
            return new OffHeapCache(budget);
        } catch (IllegalStateException e) {
            throw new UserError(
                    "The memory budget of " + budget + " bytes cannot be had (" + e.getMessage()
                            + "); give a smaller --memory-budget.",
                    e);
        }
    }

    private static void preflight(Configuration c) {
        List<Preflight.Finding> findings = Preflight.run(target(c), c.text(ConfigKey.NODE_NAME), c.fenced());
        for (Preflight.Finding f : findings) {
            if (f.level() == Preflight.Level.PROBLEM) {
                String what = f.what().replaceAll("[.;]$", "");
                throw new UserError(
                        f.fix().isEmpty()
                                ? f.what()
                                : what + "; mend it with: " + f.fix() + " (`pgnear check` shows everything).");
            }
        }
    }

    private java.sql.Connection controlConnection() throws java.sql.SQLException {
        java.sql.Connection c = ControlConnection.open(target, configuration.text(ConfigKey.NODE_NAME) + "-control");
        // a link that was cut without a FIN must not silence the control plane for ever
        c.setNetworkTimeout(Runnable::run, Limits.CONTROL_SILENCE_MILLIS);
        return c;
    }

    private void run() throws InterruptedException {
        InetAddress bind = bind();
        AccessTokens tokens = tokens(bind);
        Transport transport = transport();
        String node = configuration.text(ConfigKey.NODE_NAME);
        mappings.fillSessions(new Pools());
        mappings.start();
        started.push(mappings);
        stream.start();
        started.push(stream);
        long maxStalenessMillis =
                configuration.duration(ConfigKey.MAX_STALENESS).toMillis();
        started.push(new Sampler(
                target,
                node,
                maxStalenessMillis,
                clock,
                Math.min(Limits.SAMPLE_INTERVAL_MILLIS, maxStalenessMillis / 4),
                coherence::appliedLsn,
                coherence::sample));
        started.push(reclaimer());
        int threads = configuration.number(ConfigKey.THREADS);
        EventLoopGroup loops = transport.newEventLoops(
                threads == 0 ? Runtime.getRuntime().availableProcessors() : threads, "pgnear-loop");
        started.push(() -> loops.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(2500));
        started.push(() -> pools.values().forEach(p -> p.close().awaitUninterruptibly(500)));
        if (!mappings.awaitLoaded(LOAD_LIMIT)) {
            String trouble = mappings.trouble();
            throw new UserError("The attached tables could not be read"
                    + (trouble == null ? " in time" : " (" + trouble + ")") + "; run `pgnear check`.");
        }
        figures();
        if (!configuration.flag(ConfigKey.NO_RESP)) {
            resp = openResp(
                    new InetSocketAddress(bind, configuration.number(ConfigKey.RESP_PORT)), tokens, transport, loops);
        }
        if (!configuration.flag(ConfigKey.NO_HTTP)) {
            admin = openAdmin(new InetSocketAddress(bind, configuration.number(ConfigKey.HTTP_PORT)));
        }
    }

    private InetAddress bind() {
        String address = configuration.text(ConfigKey.BIND);
        try {
            return InetAddress.getByName(address);
        } catch (UnknownHostException e) {
            throw UserError.usage("The address \"" + address
                    + "\" of --bind is not known here; give one of this machine's addresses.");
        }
    }

    private AccessTokens tokens(InetAddress bind) {
        String file = configuration.text(ConfigKey.AUTH_TOKEN_FILE);
        try {
            AccessTokens tokens = file.isEmpty() ? AccessTokens.NONE : AccessTokens.read(Path.of(file));
            tokens.checkAddress(bind);
            return tokens;
        } catch (AccessTokens.AccessException e) {
            throw new UserError(String.valueOf(e.getMessage()), e);
        }
    }

    private Transport transport() {
        String name = configuration.text(ConfigKey.TRANSPORT);
        try {
            return name.equals("auto") ? Transport.best() : Transport.named(name);
        } catch (IllegalArgumentException e) {
            throw UserError.usage(String.valueOf(e.getMessage()));
        }
    }

    /** Gives memory of dropped spaces back in bounded steps, so that a TRUNCATE costs the stream nothing. */
    private AutoCloseable reclaimer() {
        Thread t = Thread.ofPlatform().daemon().name("pgnear-reclaimer").start(() -> {
            while (!closed) {
                if (!cache.reclaim(Limits.RECLAIM_STEPS)) {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(Limits.RECLAIM_PAUSE_MILLIS));
                }
            }
        });
        return () -> LockSupport.unpark(t);
    }

    private Listener openResp(
            InetSocketAddress address, AccessTokens tokens, Transport transport, EventLoopGroup loops) {
        Map<String, String> shown = new LinkedHashMap<>();
        for (ConfigKey k : ConfigKey.values()) {
            if (!k.secret()) {
                shown.put(k.key(), configuration.text(k));
            }
        }
        String version = Server.class.getPackage().getImplementationVersion();
        RespSettings settings = new RespSettings(
                tokens,
                configuration.number(ConfigKey.CLIENTS),
                configuration.duration(ConfigKey.STATEMENT_TIMEOUT).toMillis(),
                configuration.duration(ConfigKey.IDLE_TIMEOUT).toMillis(),
                Limits.OUTPUT_PAUSE_BYTES,
                version == null ? "development" : version,
                shown);
        RespDoor door = new RespDoor(
                settings,
                Commands.table(),
                loop -> rows(loop, transport),
                scopes,
                stats,
                clock,
                InstantSource.system());
        try {
            Listener l = Listener.open("resp", address, loops, transport.serverChannel(), door);
            started.push(() -> l.stop(STOP_MILLIS));
            door.port(l.address().getPort());
            return l;
        } catch (Listener.BindFailure e) {
            throw new UserError(String.valueOf(e.getMessage()), e);
        }
    }

    private RowSource rows(EventExecutor loop, Transport transport) {
        BackendSettings settings = new BackendSettings(
                configuration.text(ConfigKey.NODE_NAME) + "-fill",
                Math.toIntExact(
                        configuration.duration(ConfigKey.STATEMENT_TIMEOUT).toMillis()),
                Math.toIntExact(configuration.duration(ConfigKey.LOCK_TIMEOUT).toMillis()));
        BackendPool pool =
                new BackendPool((EventLoop) loop, transport.clientChannel(), target, settings, clock, backendStats);
        pools.put(loop, pool);
        RowLoader loader = new RowLoader(loop, coherence, pool, mappings, rowStats, clock);
        return new ParsedRows(new KeyParser(target.database(), mappings), loader);
    }

    /** The connections of all loops. A pool is in the map before its first connection is opened. */
    private final class Pools implements FillSessions {
        @Override
        public @Nullable String settings() {
            long end = clock.nanos() + TimeUnit.MILLISECONDS.toNanos(SETTINGS_MILLIS);
            for (BackendPool pool : pools.values()) {
                long left = TimeUnit.NANOSECONDS.toMillis(end - clock.nanos());
                if (closed || left <= 0) {
                    return null;
                }
                Future<@Nullable String> answer = pool.textSettings(end);
                if (answer.awaitUninterruptibly(left) && answer.getNow() != null) {
                    return answer.getNow();
                }
            }
            return null;
        }

        @Override
        public void renew() {
            List<Future<?>> all = new ArrayList<>();
            pools.values().forEach(p -> all.add(p.renew()));
            for (Future<?> one : all) {
                if (!one.awaitUninterruptibly(STOP_MILLIS) || !one.isSuccess()) {
                    throw new IllegalStateException("the connections for rows could not be renewed in time");
                }
            }
        }
    }

    private AdminServer openAdmin(InetSocketAddress address) {
        try {
            AdminServer a = AdminServer.open(address, stats, new NodeHealth(coherence, stream, mappings));
            started.push(a);
            return a;
        } catch (AdminServer.BindFailure e) {
            throw new UserError(String.valueOf(e.getMessage()), e);
        }
    }

    private void figures() {
        NodeFigures.register(stats, cache, coherence, stream, rowStats, mappings);
    }

    /** Port of the RESP door, or 0 if it is closed. */
    public int respPort() {
        Listener l = resp;
        return l == null ? 0 : l.address().getPort();
    }

    /** Port of the HTTP door, or 0 if it is closed. */
    public int httpPort() {
        AdminServer a = admin;
        return a == null ? 0 : a.address().getPort();
    }

    /** The promise now, and why. */
    public CoherenceStatus status() {
        return coherence.status();
    }

    /** How often the stream was lost or could not be had. */
    public long streamReconnects() {
        return stream.status().counters().reconnects();
    }

    /** Waits until hits are served; false if that took too long. */
    public boolean awaitHits(Duration limit) throws InterruptedException {
        long end = clock.nanos() + limit.toNanos();
        while (!(coherence.status().hitsAllowed() && mappings.awaitVerified(Duration.ZERO))) {
            if (clock.nanos() - end >= 0) {
                return false;
            }
            Thread.sleep(5);
        }
        return true;
    }

    /** One line that begins with "ready" and names each open door. */
    public String readyLine() {
        List<String> doors = new ArrayList<>();
        if (resp != null) {
            doors.add("resp=" + text(resp.address()));
        }
        if (admin != null) {
            doors.add("http=" + text(admin.address()));
        }
        return "ready " + String.join(" ", doors);
    }

    private static String text(InetSocketAddress a) {
        String host = a.getAddress().getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + a.getPort();
    }

    /** The list of standbys is the administrator's; but who stops a node that is in it should know what that means. */
    public void warnIfWaitedFor() {
        if (coherence.status().mode() == CoherenceStatus.Mode.FENCED) {
            String node = configuration.text(ConfigKey.NODE_NAME);
            LOG.warn(
                    "PostgreSQL makes every COMMIT wait for {}, which stops now; start it again, or run"
                            + " `pgnear fence release --node-name {}`",
                    node,
                    node);
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        while (!started.isEmpty()) {
            try {
                started.pop().close();
            } catch (Exception e) {
                LOG.warn("While stopping: {}", e.toString());
            }
        }
    }
}
