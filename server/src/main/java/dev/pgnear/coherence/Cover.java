package dev.pgnear.coherence;

/**
 * The slot's own snapshot, which fills must cover (rule SLOT_COVER), as long as a fill could not.
 *
 * @param shownAt begin sequence number at which a snapshot that covers it had arrived, or -1
 */
record Cover(Snapshot snapshot, long shownAt) {}
