package dev.pgnear.metrics;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Counters of one event loop. Only that loop writes, so an increment is a plain load and an opaque store, without a locked instruction; any
 * thread may read and sees whole, never decreasing numbers. The array has a cache line to spare at either end, so that two loops never
 * write to one line.
 */
public final class LoopCounters {
    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int PAD = 16;

    private final long[] cells = new long[Stat.values().length + 2 * PAD];
    private final LatencyHistogram latency = new LatencyHistogram();

    /** One more; the owner loop only. */
    public void increment(Stat stat) {
        add(stat, 1);
    }

    /** {@code n} more; the owner loop only. */
    public void add(Stat stat, long n) {
        int i = cell(stat);
        CELL.setOpaque(cells, i, cells[i] + n);
    }

    /** The number now; any thread. */
    public long get(Stat stat) {
        return (long) CELL.getOpaque(cells, cell(stat));
    }

    /** The order of the constants may change: cells live no longer than the process. */
    @SuppressWarnings("EnumOrdinal")
    private static int cell(Stat stat) {
        return stat.ordinal() + PAD;
    }

    /** Latencies of this loop's requests. */
    public LatencyHistogram latency() {
        return latency;
    }

    /** The counters of all loops of one door. */
    public static final class Group {
        private final CopyOnWriteArrayList<LoopCounters> loops = new CopyOnWriteArrayList<>();

        /** Counters of one more loop. */
        public LoopCounters newLoop() {
            LoopCounters counters = new LoopCounters();
            loops.add(counters);
            return counters;
        }

        /** Sum over the loops. */
        public long sum(Stat stat) {
            long sum = 0;
            for (LoopCounters loop : loops) {
                sum += loop.get(stat);
            }
            return sum;
        }

        /** All latencies, as a copy. */
        public LatencyHistogram latency() {
            LatencyHistogram sum = new LatencyHistogram();
            loops.forEach(loop -> sum.addAll(loop.latency()));
            return sum;
        }
    }
}
