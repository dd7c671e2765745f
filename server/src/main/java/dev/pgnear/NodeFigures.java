package dev.pgnear;

import dev.pgnear.base.Lsn;
import dev.pgnear.cache.Cache;
import dev.pgnear.coherence.Coherence;
import dev.pgnear.coherence.CoherenceStatus;
import dev.pgnear.coherence.Counter;
import dev.pgnear.metrics.Stat;
import dev.pgnear.metrics.Stats;
import dev.pgnear.metrics.TableFigures;
import dev.pgnear.pg.catalog.LiveMappings;
import dev.pgnear.pg.replication.InvalidationStream;
import dev.pgnear.rows.RowStats;
import dev.pgnear.rows.TableStats;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Names where each figure of STATS, INFO and /metrics comes from. */
final class NodeFigures {
    private NodeFigures() {}

    static void register(
            Stats stats,
            Cache cache,
            Coherence coherence,
            InvalidationStream stream,
            RowStats rows,
            LiveMappings mappings) {
        cacheFigures(stats, cache);
        coherenceFigures(stats, coherence, stream);
        stats.register(Stat.DATABASE_READS, () -> rows.total().databaseReads());
        stats.registerTables(() -> tables(rows, mappings));
    }

    private static void cacheFigures(Stats stats, Cache cache) {
        stats.register(
                Stat.ENTRIES,
                () -> cache.stats().positiveEntries() + cache.stats().negativeEntries());
        stats.register(Stat.POSITIVE_ENTRIES, () -> cache.stats().positiveEntries());
        stats.register(Stat.NEGATIVE_ENTRIES, () -> cache.stats().negativeEntries());
        stats.register(Stat.EVICTIONS, () -> cache.stats().evictions());
        stats.register(Stat.CACHE_ADMISSION_REJECTIONS, () -> cache.stats().admissionRejections());
        stats.register(Stat.CACHE_MEMORY_USED_BYTES, () -> cache.stats().usedBytes());
        stats.register(Stat.CACHE_MEMORY_CAPACITY_BYTES, () -> cache.stats().budgetBytes());
        stats.register(Stat.MEMORY_BUDGET_BYTES, () -> cache.stats().budgetBytes());
    }

    private static void coherenceFigures(Stats stats, Coherence coherence, InvalidationStream stream) {
        counter(stats, coherence, Stat.INVALIDATIONS, Counter.INVALIDATIONS);
        counter(stats, coherence, Stat.FILLS_REFUSED, Counter.FILLS_REFUSED);
        counter(stats, coherence, Stat.SINGLEFLIGHT_LEADERS, Counter.SINGLEFLIGHT_LEADERS);
        counter(stats, coherence, Stat.SINGLEFLIGHT_WAITERS, Counter.SINGLEFLIGHT_WAITERS);
        counter(stats, coherence, Stat.DIRTY_KEY_LIMIT_FALLBACKS, Counter.DIRTY_KEY_LIMIT_FALLBACKS);
        for (Counter c : Counter.values()) {
            if (c.label().startsWith("flushes_")) {
                stats.registerFlushes(
                        c.label().substring("flushes_".length()),
                        () -> coherence.counters().get(c));
            }
        }
        stats.registerText(
                Stat.COHERENCE, () -> coherence.status().mode().name().toLowerCase(Locale.ROOT));
        stats.registerText(Stat.COHERENCE_REASON, () -> coherence.status().reason());
        stats.registerText(
                Stat.STREAM_STATE, () -> coherence.status().state().name().toLowerCase(Locale.ROOT));
        stats.registerText(Stat.APPLIED_LSN, () -> Lsn.format(coherence.status().appliedLsn()));
        stats.register(Stat.HITS_ALLOWED, () -> coherence.status().hitsAllowed() ? 1 : 0);
        stats.register(Stat.FENCES_CURRENT, () -> coherence.status().fences());
        stats.register(Stat.FILLS_IN_FLIGHT, () -> coherence.status().fillsInFlight());
        stats.register(Stat.STREAM_LAG_MS, () -> lagMillis(coherence.status()));
        stats.register(
                Stat.STREAM_LAG_BYTES, () -> Math.max(0, stream.status().receivedLsn() - coherence.appliedLsn()));
        stats.register(Stat.STREAM_RECONNECTS, () -> stream.status().counters().reconnects());
    }

    private static void counter(Stats stats, Coherence coherence, Stat stat, Counter counter) {
        stats.register(stat, () -> coherence.counters().get(counter));
    }

    private static long lagMillis(CoherenceStatus s) {
        return s.freshnessNanos() == Long.MAX_VALUE ? -1 : TimeUnit.NANOSECONDS.toMillis(s.freshnessNanos());
    }

    private static List<TableFigures> tables(RowStats rows, LiveMappings mappings) {
        return mappings.get().all().stream()
                .map(m -> {
                    TableStats t = rows.of(m.relation());
                    return new TableFigures(m.schema() + "." + m.table(), t.hits(), t.misses(), 0, 0);
                })
                .toList();
    }
}
