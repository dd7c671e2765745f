package dev.pgnear.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatsTest {
    private final Stats stats = new Stats();

    @Test
    void sourcesOfOneNumberAreAddedUp() {
        LoopCounters.Group loops = new LoopCounters.Group();
        LoopCounters first = loops.newLoop();
        LoopCounters second = loops.newLoop();
        stats.registerLoops(loops, Stat.CACHE_HITS);
        stats.register(Stat.CACHE_HITS, () -> 100);
        first.increment(Stat.CACHE_HITS);
        second.add(Stat.CACHE_HITS, 5);
        assertThat(stats.number(Stat.CACHE_HITS)).isEqualTo(106);
        assertThat(stats.number(Stat.CACHE_MISSES)).isZero();
    }

    @Test
    void jsonAndPrometheusShowTheSameNumbers() {
        stats.register(Stat.CACHE_HITS, () -> 42);
        stats.register(Stat.STREAM_LAG_MS, () -> 1500);
        stats.registerText(Stat.COHERENCE_REASON, () -> "a \"b\"\n\\c");
        stats.registerFlushes("reconnect", () -> 3);
        stats.registerTables(() -> List.of(new TableFigures("public.items", 1, 2, 3, 4)));
        assertThat(stats.json())
                .contains(
                        "\"cache_hits\":42",
                        "\"stream_lag_ms\":1500",
                        "\"flushes_total\":{\"reconnect\":3}",
                        "\"table\":\"public.items\"");
        assertThat(PrometheusText.of(stats))
                .contains("# TYPE pgnear_cache_hits_total counter\npgnear_cache_hits_total 42\n")
                .contains("pgnear_stream_lag_seconds 1.5\n")
                .contains("pgnear_coherence_reason{value=\"a \\\"b\\\"\\n\\\\c\"} 1\n")
                .contains("pgnear_flushes_total{cause=\"reconnect\"} 3\n")
                .contains("pgnear_table_hits_total{table=\"public.items\"} 1\n")
                .contains("pgnear_deferred_misses_total 0\n");
    }

    @Test
    void everyPrometheusLineIsWellFormedAndEveryNameOnce() {
        LatencyHistogram latency = new LatencyHistogram();
        latency.record(1_000, 2);
        latency.record(20_000_000_000L, 1);
        stats.registerLatency("resp", () -> latency);
        List<String> lines = PrometheusText.of(stats).lines().toList();
        assertThat(lines)
                .allMatch(l -> l.matches(
                        "# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\\{[a-z]+=\"[^\"]*\"(,le=\"[^\"]*\")?})? [-+0-9.E]+"));
        assertThat(lines.stream().filter(l -> l.startsWith("# TYPE")).toList()).doesNotHaveDuplicates();
        assertThat(lines)
                .contains("pgnear_request_duration_seconds_bucket{door=\"resp\",le=\"+Inf\"} 3")
                .contains("pgnear_request_duration_seconds_bucket{door=\"resp\",le=\"1.024E-6\"} 2")
                .contains("pgnear_request_duration_seconds_count{door=\"resp\"} 3");
    }

    @Test
    void anUnknownLagIsNotANumberInPrometheus() {
        stats.register(Stat.STREAM_LAG_MS, () -> -1);
        assertThat(PrometheusText.of(stats)).contains("\npgnear_stream_lag_seconds NaN\n");
    }

    @Test
    void bucketsHoldWhatTheirBoundsSay() {
        for (long nanos :
                new long[] {0, 1, 1023, 1024, 1025, 2048, 2049, 1L << 34, (1L << 34) + 1, Long.MAX_VALUE / 4}) {
            LatencyHistogram histogram = new LatencyHistogram();
            histogram.record(nanos, 1);
            int bucket = 0;
            while (histogram.count(bucket) == 0) {
                bucket++;
            }
            assertThat(nanos).isLessThanOrEqualTo(LatencyHistogram.boundNanos(bucket));
            assertThat(bucket == 0 || nanos > LatencyHistogram.boundNanos(bucket - 1))
                    .isTrue();
            assertThat(histogram.total()).isEqualTo(1);
        }
    }
}
