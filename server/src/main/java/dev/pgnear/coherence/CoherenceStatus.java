package dev.pgnear.coherence;

/**
 * What users see of the rules' state.
 *
 * @param mode as promised now
 * @param reason why the mode is not the one asked for, or why hits are not served; empty if all is well
 * @param state of the stream
 * @param appliedLsn everything up to it was applied
 * @param freshnessNanos age of the newest passed sample, or Long.MAX_VALUE
 * @param hitsAllowed whether hits are served now
 * @param fences fences held now
 * @param fillsInFlight fills not yet answered
 */
public record CoherenceStatus(
        Mode mode,
        String reason,
        State state,
        long appliedLsn,
        long freshnessNanos,
        boolean hitsAllowed,
        long fences,
        long fillsInFlight) {

    /** The promise (DESIGN section 1). */
    public enum Mode {
        FENCED,
        TRACKED,
        DEGRADED
    }

    /** The stream. */
    public enum State {
        DOWN,
        CATCHING_UP,
        READY
    }
}
