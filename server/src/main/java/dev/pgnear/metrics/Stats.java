package dev.pgnear.metrics;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import tools.jackson.databind.json.JsonMapper;

/**
 * The one registry behind {@code STATS}, {@code INFO} and {@code /metrics}. The parts of the product register where a figure comes from; a
 * figure that nobody registered is 0 or empty. Several sources of one number are added up. Counters never decrease: {@code CONFIG
 * RESETSTAT} is accepted and changes nothing, since other readers share them.
 */
public final class Stats {
    private final Map<Stat, List<LongSupplier>> numbers = new ConcurrentHashMap<>();
    private final Map<Stat, Supplier<String>> texts = new ConcurrentHashMap<>();
    private final Map<String, LongSupplier> flushes = new ConcurrentSkipListMap<>();
    private final Map<String, Supplier<LatencyHistogram>> latencies = new ConcurrentSkipListMap<>();
    private volatile Supplier<List<TableFigures>> tables = List::of;
    private final JsonMapper json = JsonMapper.shared();

    /** Adds a source of a counter or gauge; it is called from any thread. */
    public void register(Stat stat, LongSupplier source) {
        numbers.merge(stat, List.of(source), Stats::concat);
    }

    private static List<LongSupplier> concat(List<LongSupplier> a, List<LongSupplier> b) {
        return java.util.stream.Stream.concat(a.stream(), b.stream()).toList();
    }

    /** The source of a text. */
    public void registerText(Stat stat, Supplier<String> source) {
        texts.put(stat, source);
    }

    /** How often everything was dropped for this cause. */
    public void registerFlushes(String cause, LongSupplier source) {
        flushes.put(cause, source);
    }

    /** Latencies of a door, for example {@code resp}. */
    public void registerLatency(String door, Supplier<LatencyHistogram> source) {
        latencies.put(door, source);
    }

    /** Figures of the attached tables. */
    public void registerTables(Supplier<List<TableFigures>> source) {
        tables = source;
    }

    /** Each of the figures is counted by loops: registers the sum. */
    public void registerLoops(LoopCounters.Group loops, Stat... counted) {
        for (Stat stat : counted) {
            register(stat, () -> loops.sum(stat));
        }
    }

    /** A number now. */
    public long number(Stat stat) {
        long sum = 0;
        for (LongSupplier source : numbers.getOrDefault(stat, List.of())) {
            sum += source.getAsLong();
        }
        return sum;
    }

    /** A text now. */
    public String text(Stat stat) {
        Supplier<String> source = texts.get(stat);
        return source == null ? "" : source.get();
    }

    /** Flushes by cause. */
    public Map<String, Long> flushes() {
        Map<String, Long> now = new LinkedHashMap<>();
        flushes.forEach((cause, source) -> now.put(cause, source.getAsLong()));
        return now;
    }

    /** Latencies by door. */
    public Map<String, LatencyHistogram> latencies() {
        Map<String, LatencyHistogram> now = new LinkedHashMap<>();
        latencies.forEach((door, source) -> now.put(door, source.get()));
        return now;
    }

    /** Figures of the attached tables now. */
    public List<TableFigures> tables() {
        return tables.get();
    }

    /** All figures by their names, numbers as numbers. */
    public Map<String, Object> values() {
        Map<Stat, Object> values = new EnumMap<>(Stat.class);
        for (Stat stat : Stat.values()) {
            values.put(stat, stat.kind() == Stat.Kind.TEXT ? text(stat) : (Object) number(stat));
        }
        Map<String, Object> named = new LinkedHashMap<>();
        values.forEach((stat, value) -> named.put(stat.label(), value));
        named.put("flushes_total", flushes());
        named.put("tables", tables());
        return named;
    }

    /** All figures as one JSON object. */
    public String json() {
        return json.writeValueAsString(values());
    }
}
