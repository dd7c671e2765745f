package dev.pgnear.pg.backend;

import org.jspecify.annotations.Nullable;

/** A statement's name on one connection. */
final class Prepared {
    final String name;
    boolean parsed;

    /** Why its Parse failed: executions that were sent behind it get that error instead of "does not exist". */
    @Nullable
    Throwable failure;

    Prepared(String name) {
        this.name = name;
    }
}
