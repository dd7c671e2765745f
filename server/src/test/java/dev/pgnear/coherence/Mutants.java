package dev.pgnear.coherence;

import dev.pgnear.base.Limits;
import dev.pgnear.base.NanoClock;
import dev.pgnear.cache.Cache;
import java.util.EnumSet;

/** The product's rules with one switched off, for tests that show that they can fail. */
public final class Mutants {
    private Mutants() {}

    /** Rule 3 off: every answer of a fill is stored, whatever the fences say. */
    public static Coherence withoutFence(
            Cache cache, NanoClock clock, boolean wantFenced, long maxStalenessNanos, long graceNanos) {
        return new Coherence(
                cache,
                clock,
                wantFenced,
                maxStalenessNanos,
                graceNanos,
                EnumSet.of(Rule.FENCE),
                Limits.FENCES_PER_PARTITION);
    }
}
