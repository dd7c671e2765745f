package dev.pgnear.coherence;

import java.util.Arrays;

/**
 * A PostgreSQL snapshot as {@code pg_current_snapshot()} shows it: 64-bit top-level xids. An xid at or above {@code xmax} is running
 * although it is not listed (F05).
 *
 * @param xmin every xid below it is finished
 * @param xmax every xid at or above it is running
 * @param running the xids in {@code [xmin, xmax)} that are running, ascending
 */
public record Snapshot(long xmin, long xmax, long[] running) {

    /** Whether the transaction is finished, and its effects visible if it committed. */
    public boolean sees(long xid) {
        return xid < xmin || xid < xmax && Arrays.binarySearch(running, xid) < 0;
    }

    /** Whether everything that the other snapshot shows finished is finished here. */
    public boolean covers(Snapshot other) {
        if (xmax < other.xmax) {
            return false;
        }
        for (long xid : running) {
            if (other.sees(xid)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Parses the text form {@code xmin:xmax:xid,xid,...}.
     *
     * @throws IllegalArgumentException if the text has another form
     */
    public static Snapshot parse(String text) {
        String[] parts = text.split(":", -1);
        if (parts.length != 3) {
            throw new IllegalArgumentException("not a snapshot: " + text);
        }
        long[] running = parts[2].isEmpty()
                ? new long[0]
                : Arrays.stream(parts[2].split(","))
                        .mapToLong(Long::parseLong)
                        .sorted()
                        .toArray();
        return new Snapshot(Long.parseLong(parts[0]), Long.parseLong(parts[1]), running);
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof Snapshot s && xmin == s.xmin && xmax == s.xmax && Arrays.equals(running, s.running);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(xmin) * 31 + Long.hashCode(xmax) + Arrays.hashCode(running);
    }

    @Override
    public String toString() {
        return xmin + ":" + xmax + ":" + Arrays.toString(running);
    }
}
