package dev.pgnear.coherence;

import java.util.EnumSet;

/** Which rules hold: all of them, save in tests. Never changed after construction, so any thread may read it. */
final class RuleSet {
    private final EnumSet<Rule> off;

    RuleSet(EnumSet<Rule> off) {
        this.off = EnumSet.copyOf(off);
    }

    boolean on(Rule rule) {
        return !off.contains(rule);
    }
}
