package dev.pgnear.resp.command;

import dev.pgnear.metrics.Stat;
import dev.pgnear.metrics.Stats;
import dev.pgnear.resp.Command;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.RespDoor;
import dev.pgnear.resp.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiConsumer;

/** {@code INFO [section...]}: Redis's names where there is such a thing, all of pgnear's own figures in Stats, the promise in Coherence. */
final class Info implements Command {
    /** The version whose commands and replies are followed. */
    static final String REDIS_VERSION = "7.2.0";

    private static final Set<String> WHOLE = Set.of("all", "default", "everything");

    private record Section(String name, BiConsumer<RespDoor, Lines> write) {}

    /** Collects {@code name:value} lines. */
    private static final class Lines {
        private final StringBuilder text = new StringBuilder();

        void title(String name) {
            text.append(text.isEmpty() ? "# " : "\r\n# ").append(name).append("\r\n");
        }

        Lines add(String name, Object value) {
            text.append(name).append(':').append(value).append("\r\n");
            return this;
        }
    }

    private static final List<Section> SECTIONS = List.of(
            new Section("Server", Info::server),
            new Section("Clients", Info::clients),
            new Section("Memory", Info::memory),
            new Section("Persistence", (door, lines) -> lines.add("loading", 0)),
            new Section("Stats", Info::stats),
            new Section("Replication", Info::replication),
            new Section("Cluster", (door, lines) -> lines.add("cluster_enabled", 0)),
            new Section("Keyspace", (door, lines) -> {}),
            new Section("Coherence", Info::coherence));

    @Override
    public void run(Session session, Request request, ReplyWriter reply) {
        List<String> asked = new ArrayList<>();
        for (int i = 1; i < request.count(); i++) {
            asked.add(request.string(i).toLowerCase(Locale.ROOT));
        }
        boolean whole = asked.isEmpty() || asked.stream().anyMatch(WHOLE::contains);
        Lines lines = new Lines();
        for (Section section : SECTIONS) {
            if (whole || asked.contains(section.name().toLowerCase(Locale.ROOT))) {
                lines.title(section.name());
                section.write().accept(session.door(), lines);
            }
        }
        reply.verbatim(lines.text.toString());
    }

    private static void server(RespDoor door, Lines lines) {
        lines.add("redis_version", REDIS_VERSION)
                .add("redis_mode", "standalone")
                .add("pgnear_version", door.settings().version())
                .add("os", System.getProperty("os.name") + " " + System.getProperty("os.version"))
                .add("arch_bits", 64)
                .add("process_id", ProcessHandle.current().pid())
                .add("tcp_port", door.port())
                .add("uptime_in_seconds", door.uptimeSeconds())
                .add("uptime_in_days", door.uptimeSeconds() / 86_400);
    }

    private static void clients(RespDoor door, Lines lines) {
        lines.add("connected_clients", door.clients().count())
                .add("maxclients", door.clients().limit())
                .add("blocked_clients", 0)
                .add("peak_clients", door.clients().peak());
    }

    private static void memory(RespDoor door, Lines lines) {
        Stats stats = door.stats();
        Runtime heap = Runtime.getRuntime();
        lines.add("used_memory", stats.number(Stat.CACHE_MEMORY_USED_BYTES))
                .add("maxmemory", stats.number(Stat.MEMORY_BUDGET_BYTES))
                .add("maxmemory_policy", "allkeys-lru")
                .add("used_memory_heap", heap.totalMemory() - heap.freeMemory());
    }

    private static void replication(RespDoor door, Lines lines) {
        lines.add("role", "master").add("connected_slaves", 0);
    }

    /** Redis's names for the same numbers first, for tools that know only those. */
    private static void stats(RespDoor door, Lines lines) {
        Stats stats = door.stats();
        lines.add("total_connections_received", stats.number(Stat.CONNECTIONS))
                .add("total_commands_processed", stats.number(Stat.COMMANDS))
                .add("keyspace_hits", stats.number(Stat.CACHE_HITS))
                .add("keyspace_misses", stats.number(Stat.CACHE_MISSES))
                .add("evicted_keys", stats.number(Stat.EVICTIONS))
                .add("expired_keys", 0);
        for (Stat stat : Stat.values()) {
            if (stat.kind() != Stat.Kind.TEXT) {
                lines.add(stat.label(), stats.number(stat));
            }
        }
    }

    private static void coherence(RespDoor door, Lines lines) {
        Stats stats = door.stats();
        lines.add("mode", stats.text(Stat.COHERENCE))
                .add("reason", stats.text(Stat.COHERENCE_REASON).replace('\n', ' '))
                .add("state", stats.text(Stat.STREAM_STATE))
                .add("hits_allowed", stats.number(Stat.HITS_ALLOWED))
                .add("applied_lsn", stats.text(Stat.APPLIED_LSN))
                .add("lag_bytes", stats.number(Stat.STREAM_LAG_BYTES))
                .add("lag_ms", stats.number(Stat.STREAM_LAG_MS));
    }
}
