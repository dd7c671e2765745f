package dev.pgnear.resp;

import dev.pgnear.base.NanoClock;
import dev.pgnear.metrics.LoopCounters;
import dev.pgnear.metrics.Stat;
import dev.pgnear.metrics.Stats;
import dev.pgnear.rows.RowAdmin;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.EventExecutor;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** Turns accepted connections into sessions, and holds what all sessions share. Everything here is immutable or thread-safe. */
@Sharable
public final class RespDoor extends ChannelInitializer<Channel> {
    private static final Stat[] COUNTED = {
        Stat.CACHE_HITS,
        Stat.CACHE_MISSES,
        Stat.NEGATIVE_HITS,
        Stat.FAST_PATH_HITS,
        Stat.FAST_PATH_FALLBACKS_ORDERED,
        Stat.DEFERRED_MISSES,
        Stat.DEFERRED_MISSES_CURRENT,
        Stat.COMMAND_DEADLINES,
        Stat.COMMANDS,
        Stat.AUTHENTICATION_FAILURES,
        Stat.PROTOCOL_ERRORS,
        Stat.OUTPUT_BACKPRESSURE_EVENTS,
        Stat.SLOW_CLIENT_DROPS
    };

    private final RespSettings settings;
    private final CommandTable commands;
    private final Function<EventExecutor, RowSource> rows;
    private final RowAdmin admin;
    private final Stats stats;
    private final NanoClock clock;
    private final InstantSource wallClock;
    private final long startedNanos;
    private final Clients clients;
    private final LoopCounters.Group counters = new LoopCounters.Group();
    private final Map<EventExecutor, LoopContext> loops = new ConcurrentHashMap<>();
    private volatile int port;

    /**
     * @param rows makes the rows of one loop; called once for each loop, on any thread
     * @param stats gets this door's figures
     */
    public RespDoor(
            RespSettings settings,
            CommandTable commands,
            Function<EventExecutor, RowSource> rows,
            RowAdmin admin,
            Stats stats,
            NanoClock clock,
            InstantSource wallClock) {
        this.settings = settings;
        this.commands = commands;
        this.rows = rows;
        this.admin = admin;
        this.stats = stats;
        this.clock = clock;
        this.wallClock = wallClock;
        this.startedNanos = clock.nanos();
        this.clients = new Clients(settings.maxClients());
        register();
    }

    private void register() {
        stats.registerLoops(counters, COUNTED);
        stats.register(Stat.ACTIVE_CLIENTS, clients::count);
        stats.register(Stat.PEAK_ACTIVE_CLIENTS, clients::peak);
        stats.register(Stat.REJECTED_CONNECTIONS, clients::rejected);
        stats.register(Stat.CONNECTIONS, clients::accepted);
        stats.registerLatency("resp", counters::latency);
    }

    @Override
    protected void initChannel(Channel channel) {
        Client client = clients.enter(channel, clock.nanos());
        if (client == null) {
            byte[] error = ("-" + Errors.MAX_CLIENTS + "\r\n").getBytes(StandardCharsets.US_ASCII);
            channel.writeAndFlush(io.netty.buffer.Unpooled.wrappedBuffer(ByteBuffer.wrap(error)))
                    .addListener(done -> Linger.close(channel, false));
            return;
        }
        int high = settings.outputPauseBytes();
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(high / 2, high));
        channel.pipeline().addLast(new Session(this, loop(channel), client));
    }

    private LoopContext loop(Channel channel) {
        return loops.computeIfAbsent(
                channel.eventLoop(),
                loop -> new LoopContext(loop, rows.apply(loop), counters.newLoop(), clock, channel.alloc()));
    }

    /** The operator's choices. */
    public RespSettings settings() {
        return settings;
    }

    /** All commands. */
    public CommandTable commands() {
        return commands;
    }

    /** INVALIDATE. */
    public RowAdmin admin() {
        return admin;
    }

    /** All figures. */
    public Stats stats() {
        return stats;
    }

    /** Connections. */
    public Clients clients() {
        return clients;
    }

    /** Calendar time. */
    public InstantSource wallClock() {
        return wallClock;
    }

    /** The node's clock. */
    public NanoClock clock() {
        return clock;
    }

    /** Since the door was made. */
    public long uptimeSeconds() {
        return (clock.nanos() - startedNanos) / 1_000_000_000;
    }

    /** Where it listens, for INFO. */
    public int port() {
        return port;
    }

    /** See {@link #port()}. */
    public void port(int bound) {
        port = bound;
    }
}
