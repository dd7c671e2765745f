package dev.pgnear.metrics;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts of latencies in buckets whose bounds are powers of two, from 1024 ns to 17 s: coarse, but an addition costs a count of leading
 * zeros and two stores. One writer, any reader (opaque accesses, as in {@link LoopCounters}).
 */
public final class LatencyHistogram {
    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int FIRST_SHIFT = 10;

    /** Number of buckets; the last one has no upper bound. */
    public static final int BUCKETS = 26;

    private final long[] counts = new long[BUCKETS + 1];

    /** {@code times} requests took {@code nanos} each; the owner only. */
    public void record(long nanos, int times) {
        add(bucket(nanos), times);
        add(BUCKETS, nanos * times);
    }

    private void add(int i, long n) {
        CELL.setOpaque(counts, i, counts[i] + n);
    }

    private static int bucket(long nanos) {
        int bits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(nanos - 1, 0));
        return Math.min(Math.max(bits - FIRST_SHIFT, 0), BUCKETS - 1);
    }

    /** Inclusive upper bound of a bucket in nanoseconds; the last one's is Long.MAX_VALUE. */
    public static long boundNanos(int bucket) {
        return bucket == BUCKETS - 1 ? Long.MAX_VALUE : 1L << FIRST_SHIFT + bucket;
    }

    /** Requests in the bucket. */
    public long count(int bucket) {
        return (long) CELL.getOpaque(counts, bucket);
    }

    /** Sum of all latencies. */
    public long sumNanos() {
        return (long) CELL.getOpaque(counts, BUCKETS);
    }

    /** All requests. */
    public long total() {
        long total = 0;
        for (int i = 0; i < BUCKETS; i++) {
            total += count(i);
        }
        return total;
    }

    /** Adds another one's counts; the owner only. */
    public void addAll(LatencyHistogram other) {
        for (int i = 0; i < BUCKETS; i++) {
            add(i, other.count(i));
        }
        add(BUCKETS, other.sumNanos());
    }
}
