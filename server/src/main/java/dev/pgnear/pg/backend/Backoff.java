package dev.pgnear.pg.backend;

import dev.pgnear.base.Limits;
import java.util.SplittableRandom;

/** Pauses between attempts to connect: doubled up to a limit, and scattered by half so that the loops do not come all at once. */
final class Backoff {
    private final SplittableRandom random;
    private int millis = Limits.BACKEND_BACKOFF_MIN_MILLIS;

    Backoff(long seed) {
        random = new SplittableRandom(seed);
    }

    /** The next pause: between half of the current length and all of it. */
    long nextMillis() {
        int full = millis;
        millis = Math.min(2 * millis, Limits.BACKEND_BACKOFF_MAX_MILLIS);
        return random.nextInt(full / 2, full + 1);
    }

    void reset() {
        millis = Limits.BACKEND_BACKOFF_MIN_MILLIS;
    }
}
