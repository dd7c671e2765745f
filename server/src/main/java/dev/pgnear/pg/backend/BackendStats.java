package dev.pgnear.pg.backend;

import java.util.concurrent.atomic.LongAdder;

/** Counters of all pools together; any thread may read them. */
public final class BackendStats {
    /** Executions asked for. */
    public final LongAdder queries = new LongAdder();

    /** Executions that ended in {@link ResultHandler#failed}, for whatever reason. */
    public final LongAdder failures = new LongAdder();

    /** Of those, by a deadline. */
    public final LongAdder timeouts = new LongAdder();

    /** Executions sent a second time, on another connection or after a prepared statement was lost. */
    public final LongAdder resent = new LongAdder();

    /** Connections that reached PostgreSQL and logged in. */
    public final LongAdder connects = new LongAdder();

    /** Attempts that failed. */
    public final LongAdder connectFailures = new LongAdder();

    /** Working connections that broke or were given up. */
    public final LongAdder lostConnections = new LongAdder();
}
