package dev.pgnear.coherence;

import dev.pgnear.base.Limits;

/**
 * How far the stream has been applied. Written by the stream's thread only, read by everybody.
 *
 * <p>{@code pg_current_wal_insert_lsn()} names where the next record will begin. When the last record ended on a page boundary that is one
 * page header beyond the end of all WAL, which the stream reaches only with the next record (F24), so such a position counts as reached at
 * the boundary. A header has 24 bytes, and 40 on the first page of a segment (src/include/access/xlog_internal.h). No record can end 24
 * bytes into a page; one can end 40 bytes into a page that does not begin a segment, so there the segment's size must be known.
 */
final class AppliedPosition {
    private static final long PAGE = 8192;
    private static final long SHORT_HEADER = 24;
    private static final long LONG_HEADER = 40;

    private volatile long applied;
    private volatile long segmentBytes = Limits.WAL_SEGMENT_BYTES_MAX;

    long get() {
        return applied;
    }

    void set(long lsn) {
        applied = lsn;
    }

    void segmentBytes(long bytes) {
        segmentBytes = bytes;
    }

    /** Whether everything that ends at or before this insert position was applied. */
    boolean reached(long insertLsn) {
        long now = applied;
        return now >= insertLsn || now >= endOfWal(insertLsn);
    }

    private long endOfWal(long insertLsn) {
        if (insertLsn % PAGE == SHORT_HEADER) {
            return insertLsn - SHORT_HEADER;
        }
        return insertLsn % segmentBytes == LONG_HEADER ? insertLsn - LONG_HEADER : insertLsn;
    }
}
