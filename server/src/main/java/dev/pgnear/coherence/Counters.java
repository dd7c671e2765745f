package dev.pgnear.coherence;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counters of the rules, striped so that loops do not meet on them. */
public final class Counters {
    private final Map<Counter, LongAdder> adders = new EnumMap<>(Counter.class);

    Counters() {
        for (Counter c : Counter.values()) {
            adders.put(c, new LongAdder());
        }
    }

    void add(Counter counter) {
        add(counter, 1);
    }

    void add(Counter counter, long n) {
        LongAdder adder = adders.get(counter);
        if (adder != null) {
            adder.add(n);
        }
    }

    /** The count since start. */
    public long get(Counter counter) {
        LongAdder adder = adders.get(counter);
        return adder == null ? 0 : adder.sum();
    }
}
