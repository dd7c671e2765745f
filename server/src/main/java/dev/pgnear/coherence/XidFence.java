package dev.pgnear.coherence;

import java.util.Arrays;

/**
 * The fence of a relation or of everything: xids that a snapshot must show finished. A bounded set; what does not fit collapses to a floor
 * below which everything must be finished, which asks for more and is therefore safe. Immutable.
 *
 * @param xids kept apart, in no order
 * @param floor the snapshot's xmin must be above it; 0 for none
 * @param shownAt the begin sequence number at which a snapshot that passes had arrived, or -1 (rule 4)
 */
record XidFence(long[] xids, long floor, long shownAt) {
    static final XidFence NONE = new XidFence(new long[0], 0, -1);

    static XidFence floorOf(long xid) {
        return new XidFence(NONE.xids, xid, -1);
    }

    boolean isNone() {
        return xids.length == 0 && floor == 0;
    }

    /** Rule 3. */
    boolean passes(Snapshot snapshot) {
        if (floor >= snapshot.xmin()) {
            return false;
        }
        for (long xid : xids) {
            if (!snapshot.sees(xid)) {
                return false;
            }
        }
        return true;
    }

    /** This fence and one more xid, which no snapshot has shown finished yet. */
    XidFence with(long xid, int limit) {
        if (xids.length < limit) {
            long[] more = Arrays.copyOf(xids, xids.length + 1);
            more[xids.length] = xid;
            return new XidFence(more, floor, -1);
        }
        long highest = Math.max(floor, xid);
        for (long x : xids) {
            highest = Math.max(highest, x);
        }
        return floorOf(highest);
    }

    /** Remembers that a snapshot which arrived at this sequence number passes. */
    XidFence shown(long sequence) {
        return new XidFence(xids, floor, sequence);
    }
}
