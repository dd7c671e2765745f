package dev.pgnear.coherence;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimulatorTest {
    static @org.jspecify.annotations.Nullable Throwable run(
            long seed,
            EnumSet<Rule> off,
            EnumSet<Caller> broken,
            @org.jspecify.annotations.Nullable List<String> trace) {
        try {
            new Simulation(seed, off, broken, trace).run();
            return null;
        } catch (Violation | IllegalStateException e) {
            return e;
        }
    }

    @Test
    void seeds() {
        long n = Long.getLong("pgnear.sim.seeds", 10_000L);
        for (long seed = 1; seed <= n; seed++) {
            Throwable t = run(seed, EnumSet.noneOf(Rule.class), EnumSet.noneOf(Caller.class), null);
            if (t != null) {
                List<String> trace = new ArrayList<>();
                run(seed, EnumSet.noneOf(Rule.class), EnumSet.noneOf(Caller.class), trace);
                throw new AssertionError("seed " + seed + "\n" + String.join("\n", trace), t);
            }
        }
    }
}
