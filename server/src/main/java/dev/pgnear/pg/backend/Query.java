package dev.pgnear.pg.backend;

import dev.pgnear.coherence.ServerIdentity;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One execution that somebody waits for. Settled exactly once, wherever it is then: waiting, parked or in flight. */
final class Query {
    private static final Logger LOG = LoggerFactory.getLogger(Query.class);

    final Statement statement;
    final byte[] @Nullable [] parameters;
    final long deadlineNanos;
    private final ResultHandler handler;
    private final BackendStats stats;
    private boolean settled;

    /** Whether it is, or was, on its way to PostgreSQL. */
    boolean sent;

    /** Whether its second chance, on another connection, is used up. */
    boolean moved;

    /** Whether its second chance after a lost prepared statement is used up. */
    boolean prepared;

    /** The lane whose lock it tries, or null. */
    @Nullable
    Lane probe;

    Query(
            Statement statement,
            byte[] @Nullable [] parameters,
            long deadlineNanos,
            ResultHandler handler,
            BackendStats stats) {
        this.statement = statement;
        this.parameters = parameters;
        this.deadlineNanos = deadlineNanos;
        this.handler = handler;
        this.stats = stats;
    }

    boolean settled() {
        return settled;
    }

    boolean expired(long now) {
        return now - deadlineNanos >= 0;
    }

    /** Whether it may be sent to another connection although it is in flight on one. */
    boolean movable() {
        return statement.repeatable() && !moved;
    }

    void row(DataRow row) {
        handler.row(row);
    }

    void complete(ServerIdentity server) {
        if (settle()) {
            try {
                handler.complete(server);
            } catch (RuntimeException | AssertionError e) {
                LOG.error("A result handler failed", e);
            }
        }
    }

    void fail(Throwable cause) {
        if (settle()) {
            stats.failures.increment();
            try {
                handler.failed(cause);
            } catch (RuntimeException | AssertionError e) {
                LOG.error("A result handler failed", e);
            }
        }
    }

    void timeOut() {
        if (!settled) {
            stats.timeouts.increment();
            fail(new BackendTimeout("PostgreSQL did not answer within the deadline.", sent));
        }
    }

    private boolean settle() {
        boolean first = !settled;
        settled = true;
        return first;
    }
}
