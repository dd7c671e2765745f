package dev.pgnear.base;

/** Monotonic time, passed in by constructor so that the simulator can own it. */
@FunctionalInterface
public interface NanoClock {
    /** Nanoseconds from an arbitrary origin; compare only differences. */
    long nanos();
}
