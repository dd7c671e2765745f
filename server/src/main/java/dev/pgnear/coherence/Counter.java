package dev.pgnear.coherence;

/** What the rules count; names as in STATS and /metrics. */
public enum Counter {
    /** Entries dropped by an event, an own write or an administrator. */
    INVALIDATIONS("invalidations"),
    /** Fills that were answered but not stored, because a rule forbade it. */
    FILLS_REFUSED("fills_refused"),
    /** Fills begun. */
    SINGLEFLIGHT_LEADERS("singleflight_leaders"),
    /** Readers that joined a fill of another one. */
    SINGLEFLIGHT_WAITERS("singleflight_waiters"),
    /** Readers that were sent back to read again. */
    SINGLEFLIGHT_AGAIN("singleflight_again"),
    /** Transactions with so many keys that their relations were fenced instead. */
    DIRTY_KEY_LIMIT_FALLBACKS("dirty_key_limit_fallbacks"),
    /** Fences laid on keys. */
    KEY_FENCES("key_fences"),
    /** Fences laid on relations. */
    RELATION_FENCES("relation_fences"),
    /** Partitions whose key fences collapsed to a floor. */
    FENCE_LIMIT_FALLBACKS("fence_limit_fallbacks"),
    /** Own writes whose value was installed. */
    OWN_INSTALLS("own_installs"),
    /** Own writes that could only invalidate. */
    OWN_INVALIDATIONS("own_invalidations"),
    /** Samples that did not count: another server, too old, or too many waiting. */
    SAMPLES_REFUSED("samples_refused"),
    /** Everything dropped: the stream was lost. */
    FLUSHES_STREAM("flushes_stream"),
    /** Everything dropped: an event of which nothing is known. */
    FLUSHES_EVERYTHING("flushes_everything"),
    /** A relation dropped: TRUNCATE, DDL, too many keys. */
    FLUSHES_RELATION("flushes_relation"),
    /** A relation dropped: its caching was suspended. */
    FLUSHES_SUSPEND("flushes_suspend"),
    /** A relation dropped by an administrator. */
    FLUSHES_ADMIN("flushes_admin");

    private final String label;

    Counter(String label) {
        this.label = label;
    }

    /** Name in STATS and, with a prefix, in /metrics. */
    public String label() {
        return label;
    }
}
