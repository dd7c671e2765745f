package dev.pgnear.coherence;

/** A wrong answer, found by the auditor. */
final class Violation extends AssertionError {
    private static final long serialVersionUID = 1;

    enum Kind {
        /** Older than a commit that had returned, on a node that claimed to be fenced. */
        FENCED,
        /** Older than max-staleness. */
        STALE,
        /** Older than what the same connection had seen. */
        BACKWARDS,
        /** Older than a write of the node that had been answered. */
        OWN,
        /** Uncommitted, rolled back, or lost for longer than max-staleness. */
        UNCOMMITTED,
        /** Several entries that never were one snapshot. */
        SEVERAL,
        /** A hit older than an event that was applied. */
        PERMANENT,
        /** Fences or fills are left over when all is quiet. */
        NOT_FORGOTTEN,
        /** When all is quiet there are no hits, or no claim. */
        NO_SERVICE
    }

    final Kind kind;

    Violation(Kind kind, String message) {
        super(kind + ": " + message);
        this.kind = kind;
    }
}
