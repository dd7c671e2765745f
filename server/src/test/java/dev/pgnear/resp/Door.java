package dev.pgnear.resp;

import dev.pgnear.metrics.Stat;
import dev.pgnear.metrics.Stats;
import dev.pgnear.resp.command.Commands;
import dev.pgnear.rows.RowAdmin;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A door over {@link MemoryRows} and clients of it without sockets. */
final class Door {
    final MemoryRows rows = new MemoryRows();
    final Stats stats = new Stats();
    final AtomicLong nanos = new AtomicLong();
    final AtomicLong invalidations = new AtomicLong();
    final RespDoor door;

    Door(AccessTokens tokens) {
        this(settings(tokens, 2000, 300_000, 1 << 20));
    }

    Door() {
        this(AccessTokens.NONE);
    }

    Door(RespSettings settings) {
        door = new RespDoor(
                settings,
                Commands.table(),
                loop -> rows,
                this::invalidate,
                stats,
                nanos::get,
                () -> Instant.ofEpochSecond(1_700_000_000, 123_456_789));
    }

    static RespSettings settings(AccessTokens tokens, long timeoutMillis, long idleMillis, int pauseBytes) {
        return new RespSettings(tokens, 3, timeoutMillis, idleMillis, pauseBytes, "0.1.0", Map.of());
    }

    private long invalidate(String scope) {
        if (scope.equals("CRUD")) {
            invalidations.incrementAndGet();
            return 7;
        }
        throw new RowAdmin.ScopeException("ERR scope names nothing: " + scope);
    }

    long stat(Stat stat) {
        return stats.number(stat);
    }

    Link connect() {
        return new Link(new EmbeddedChannel(door));
    }

    /** One client. */
    record Link(EmbeddedChannel channel) {
        /** Sends text as one segment and returns everything that is answered. */
        String send(String text) {
            channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
            return replies();
        }

        /** What has been answered since the last look. */
        String replies() {
            channel.runPendingTasks();
            StringBuilder all = new StringBuilder();
            for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
                all.append(out.toString(StandardCharsets.ISO_8859_1));
                out.release();
            }
            return all.toString();
        }

        boolean isOpen() {
            return channel.isOpen();
        }
    }

    /** As a client library would send it. */
    static String request(String... args) {
        StringBuilder s = new StringBuilder("*" + args.length + "\r\n");
        for (String arg : args) {
            s.append('$')
                    .append(arg.getBytes(StandardCharsets.UTF_8).length)
                    .append("\r\n")
                    .append(arg)
                    .append("\r\n");
        }
        return s.toString();
    }

    static String bulk(@Nullable String value) {
        return value == null ? "$-1\r\n" : "$" + value.length() + "\r\n" + value + "\r\n";
    }
}
