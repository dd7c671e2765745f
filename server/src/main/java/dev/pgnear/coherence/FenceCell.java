package dev.pgnear.coherence;

import dev.pgnear.base.Limits;

/**
 * The place of one {@link XidFence}: the stream adds, samples forget, both under this object's monitor; fills read the reference without a
 * lock (their relation's space tells them of an event that came meanwhile).
 */
final class FenceCell {
    private volatile XidFence fence = XidFence.NONE;

    XidFence get() {
        return fence;
    }

    synchronized void add(long xid) {
        fence = fence.with(xid, Limits.RELATION_FENCE_XIDS);
    }

    synchronized void clear() {
        fence = XidFence.NONE;
    }

    /** Rule 4, first half: a snapshot that passes has arrived at this begin sequence number. */
    synchronized void shown(Snapshot snapshot, long sequence) {
        if (!fence.isNone() && fence.shownAt() < 0 && fence.passes(snapshot)) {
            fence = fence.shown(sequence);
        }
    }

    /** Rule 4, second half: forgets the fence if every fill begun up to then is over. */
    synchronized void drained(long oldestInFlight) {
        if (fence.shownAt() >= 0 && oldestInFlight > fence.shownAt()) {
            fence = XidFence.NONE;
        }
    }

    /** Whether only fills in flight keep the fence. */
    boolean waitsForFills() {
        return fence.shownAt() >= 0;
    }
}
