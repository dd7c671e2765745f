package dev.pgnear.pg.replication;

/**
 * Extends the 32-bit xids of the stream to the 64 bits of {@code pg_current_snapshot()}: the value nearest to the highest one known. PostgreSQL
 * keeps all running and prepared transactions within 2^31 of each other, so the nearest one is the right one, also across a wraparound.
 */
final class XidEpoch {
    private long last;

    /**
     * @param known an xid in use now, 64 bits, as the xmax of a snapshot taken at the start of the stream
     */
    XidEpoch(long known) {
        last = known;
    }

    long extend(int xid) {
        long extended = last + (xid - (int) last);
        last = Math.max(last, extended);
        return extended;
    }
}
