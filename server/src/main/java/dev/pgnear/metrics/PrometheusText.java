package dev.pgnear.metrics;

import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/** Writes all figures in Prometheus's text format 0.0.4 (prometheus.io, "Exposition formats"). */
public final class PrometheusText {
    /** For the HTTP header. */
    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final double NANOS_PER_SECOND = 1e9;

    private final Stats stats;
    private final StringBuilder out = new StringBuilder(16_384);

    private PrometheusText(Stats stats) {
        this.stats = stats;
    }

    /** The whole page. */
    public static String of(Stats stats) {
        return new PrometheusText(stats).write();
    }

    private String write() {
        for (Stat stat : Stat.values()) {
            if (stat.kind() == Stat.Kind.TEXT) {
                text(stat);
            } else {
                number(stat);
            }
        }
        flushes();
        tables();
        latencies();
        return out.toString();
    }

    private void head(String name, String type, String help) {
        out.append("# HELP ").append(name).append(' ').append(help).append('\n');
        out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    }

    private void number(Stat stat) {
        String name = stat.prometheusName();
        head(name, stat.kind() == Stat.Kind.COUNTER ? "counter" : "gauge", stat.help());
        long value = stats.number(stat);
        out.append(name).append(' ');
        if (stat == Stat.STREAM_LAG_MS) {
            out.append(value < 0 ? "NaN" : String.valueOf(value / 1e3));
        } else {
            out.append(value);
        }
        out.append('\n');
    }

    /** A word is a label of a gauge that is always 1. */
    private void text(Stat stat) {
        String name = stat.prometheusName();
        head(name, "gauge", stat.help());
        out.append(name).append("{value=\"").append(escape(stats.text(stat))).append("\"} 1\n");
    }

    private void flushes() {
        head("pgnear_flushes_total", "counter", "Times that everything was dropped");
        stats.flushes().forEach((cause, n) -> sample("pgnear_flushes_total", "cause", cause, n));
    }

    private void tables() {
        List<TableFigures> tables = stats.tables();
        table(tables, "pgnear_table_hits_total", "counter", "Hits by table", TableFigures::hits);
        table(tables, "pgnear_table_misses_total", "counter", "Misses by table", TableFigures::misses);
        table(tables, "pgnear_table_entries", "gauge", "Entries by table", TableFigures::entries);
        table(tables, "pgnear_table_bytes", "gauge", "Bytes of entries by table", TableFigures::bytes);
    }

    private void table(
            List<TableFigures> tables, String name, String type, String help, ToLongFunction<TableFigures> figure) {
        head(name, type, help);
        tables.forEach(t -> sample(name, "table", t.table(), figure.applyAsLong(t)));
    }

    private void sample(String name, String label, String labelValue, long value) {
        out.append(name).append('{').append(label).append("=\"").append(escape(labelValue));
        out.append("\"} ").append(value).append('\n');
    }

    private void latencies() {
        String name = "pgnear_request_duration_seconds";
        head(name, "histogram", "From a request's arrival to its reply in the outbound buffer");
        for (Map.Entry<String, LatencyHistogram> e : stats.latencies().entrySet()) {
            histogram(name, escape(e.getKey()), e.getValue());
        }
    }

    private void histogram(String name, String door, LatencyHistogram latency) {
        long cumulated = 0;
        for (int i = 0; i < LatencyHistogram.BUCKETS; i++) {
            cumulated += latency.count(i);
            long bound = LatencyHistogram.boundNanos(i);
            out.append(name).append("_bucket{door=\"").append(door).append("\",le=\"");
            out.append(bound == Long.MAX_VALUE ? "+Inf" : String.valueOf(bound / NANOS_PER_SECOND));
            out.append("\"} ").append(cumulated).append('\n');
        }
        out.append(name).append("_sum{door=\"").append(door).append("\"} ");
        out.append(latency.sumNanos() / NANOS_PER_SECOND).append('\n');
        out.append(name).append("_count{door=\"").append(door).append("\"} ");
        out.append(cumulated).append('\n');
    }

    private static String escape(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
