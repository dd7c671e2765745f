package dev.pgnear.coherence;

/** Rules that those who call {@link Coherence} keep, with the model's names; the simulator plays the callers and can break them. */
enum Caller {
    TOP_LEVEL_XID,
    ACK_AFTER_APPLY,
    LSN_AFTER_SNAPSHOT,
    OWN_AFTER_COMMIT,
    OWN_LSN_AFTER_COMMIT,
    ATTACH_WAITS,
    ALL_NODES,
    RYW_AFTER,
    TIME_AT_SEND,
    INSERT_LSN,
    CLOCK_AFTER_REQUEST,
    RELEASE_ANNOUNCED,
    RELEASE_WAITS
}
