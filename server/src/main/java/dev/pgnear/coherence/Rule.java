package dev.pgnear.coherence;

/**
 * The rules that {@link Coherence} keeps, with the names of the model. Tests switch them off one at a time to show that the simulator then
 * finds a wrong answer; the product never does.
 */
enum Rule {
    // fences
    FENCE,
    STORE_ATOMIC,
    FENCE_AT_STORE,
    RELATION_FENCE,
    FENCE_BEFORE_SWEEP,
    DRAIN,
    SEEN_FINISHED,
    SKIP_BELOW_XMIN,
    SKIP_STILL_FENCES,
    ABSENT_KEYS_FENCED,
    // multi-row answers
    AHEAD,
    NO_APPLY_BETWEEN,
    // cold start, reconnect, identity
    SLOT_COVER,
    SLOT_COVER_EXACT,
    NEW_GENERATION,
    CATCH_UP,
    FLUSH_BEFORE_STAND_IN,
    IDENTITY,
    SAMPLE_IDENTITY,
    // single flight
    FOLLOWERS_PASS,
    FOLLOWER_AGE,
    OVERLAP_ORDER,
    // own writes
    OWN_NOT_FOREIGN,
    OWN_AMONG_OWN,
    OWN_NOT_READ,
    OWN_SINCE_STREAM,
    OWN_SKIP_EXACT,
    OWN_FENCES,
    // freshness and lease
    SAMPLE_PASSED,
    CLAIM_BY_SAMPLE,
    GRACE
}
