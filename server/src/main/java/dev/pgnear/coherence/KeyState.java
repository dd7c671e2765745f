package dev.pgnear.coherence;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one key besides its entry: its fence, its fills in flight, own writes under way. Guarded by the key's partition lock.
 *
 * <p>The fence keeps the last xid that the stream applied to the key, and own xids whose event is still to come. That is enough: writers of
 * one key become visible one after the other (F10, F11), so a snapshot that shows the last one finished shows all before it.
 */
final class KeyState {
    private static final long[] NO_XIDS = {};

    /** Last xid that the stream applied to the key; 0 for none. */
    private long lastXid;

    private long[] ownXids = NO_XIDS;

    /** Begin sequence number at which a snapshot that shows the fence finished had arrived; -1 for none. */
    private long shownAt = -1;

    /** Xid of the own write that the entry holds and whose event is still to come; 0 for none. */
    long installedXid;

    final List<Fill> fills = new ArrayList<>(1);
    private @Nullable List<OwnWrite> ownWrites;

    boolean fenced() {
        return lastXid != 0 || ownXids.length > 0;
    }

    /** Rule 3 for this key. */
    boolean passes(Snapshot snapshot) {
        if (lastXid != 0 && !snapshot.sees(lastXid)) {
            return false;
        }
        for (long xid : ownXids) {
            if (!snapshot.sees(xid)) {
                return false;
            }
        }
        return true;
    }

    /** The stream applied this xid to the key. */
    void fence(long xid) {
        lastXid = xid;
        ownXids = without(ownXids, xid);
        shownAt = -1;
    }

    /** The reply of an own write has come. */
    void fenceOwn(long xid) {
        if (lastXid != xid) {
            long[] more = Arrays.copyOf(without(ownXids, xid), without(ownXids, xid).length + 1);
            more[more.length - 1] = xid;
            ownXids = more;
        }
        shownAt = -1;
    }

    /** Largest fencing xid, or 0. */
    long highestXid() {
        return Math.max(lastXid, Arrays.stream(ownXids).max().orElse(0));
    }

    void clearFence() {
        lastXid = 0;
        ownXids = NO_XIDS;
        shownAt = -1;
        installedXid = 0;
    }

    /** Rule 4, first half. */
    void shown(Snapshot snapshot, long sequence) {
        if (fenced() && shownAt < 0 && passes(snapshot)) {
            shownAt = sequence;
        }
    }

    /** Rule 4, second half: whether the fence may go, with the fills of this key that are still in flight. */
    boolean drained(long generation) {
        if (shownAt < 0) {
            return false;
        }
        for (Fill fill : fills) {
            if (fill.generation == generation && fill.sequence <= shownAt) {
                return false;
            }
        }
        return true;
    }

    boolean shownFinished() {
        return shownAt >= 0;
    }

    void begin(OwnWrite write) {
        if (ownWrites == null) {
            ownWrites = new ArrayList<>(1);
        }
        ownWrites.add(write);
    }

    void end(OwnWrite write) {
        if (ownWrites != null) {
            ownWrites.remove(write);
            if (ownWrites.isEmpty()) {
                ownWrites = null;
            }
        }
    }

    /** Tells own writes under way that this xid has fenced the key. */
    void foreign(long xid) {
        if (ownWrites != null) {
            for (OwnWrite w : ownWrites) {
                w.fencedBy(xid);
            }
        }
    }

    /** A fill of the key was answered: later arrivals must be in order with it, and own writes under way are no longer sure to be the newest. */
    void answered(ServerIdentity from, Snapshot snapshot) {
        fills.forEach(fill -> fill.deliveredMeanwhile(from, snapshot));
        if (ownWrites != null) {
            ownWrites.forEach(OwnWrite::answeredMeanwhile);
        }
    }

    boolean isEmpty() {
        return !fenced() && fills.isEmpty() && ownWrites == null && installedXid == 0;
    }

    private static long[] without(long[] xids, long xid) {
        return xids.length == 0
                ? xids
                : Arrays.stream(xids).filter(x -> x != xid).toArray();
    }
}
