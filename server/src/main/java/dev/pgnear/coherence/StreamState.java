package dev.pgnear.coherence;

import dev.pgnear.coherence.CoherenceStatus.State;
import org.jspecify.annotations.Nullable;

/**
 * The stream's state, replaced as a whole by the stream's thread.
 *
 * <pre>
 *   DOWN --slotReady--> CATCHING_UP --catchUpTo, applied up to there--> READY
 *    ^                        |                                           |
 *    +---------- down --------+------------------- down ------------------+
 * </pre>
 *
 * @param generation one more with every {@code down}
 * @param server whose WAL is streamed, or was before the stream was lost; null before the first
 * @param sinceNanos when the slot was ready
 * @param target no hits before this position is applied
 * @param reason why the stream is down
 */
record StreamState(
        long generation, State state, @Nullable ServerIdentity server, long sinceNanos, long target, String reason) {

    StreamState withTarget(long lsn) {
        return new StreamState(generation, state, server, sinceNanos, lsn, reason);
    }

    StreamState ready() {
        return new StreamState(generation, State.READY, server, sinceNanos, target, reason);
    }

    boolean isReady() {
        return state == State.READY;
    }

    boolean isDown() {
        return state == State.DOWN;
    }
}
