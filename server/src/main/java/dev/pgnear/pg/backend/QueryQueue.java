package dev.pgnear.pg.backend;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Queries that are not in flight, first in, first out. Those whose deadline passes are settled and fall out. */
final class QueryQueue {
    private final ArrayDeque<Query> queries = new ArrayDeque<>();
    private long earliestNanos;

    int size() {
        return queries.size();
    }

    boolean isEmpty() {
        return queries.isEmpty();
    }

    void add(Query q) {
        if (queries.isEmpty() || q.deadlineNanos - earliestNanos < 0) {
            earliestNanos = q.deadlineNanos;
        }
        queries.add(q);
    }

    @Nullable
    Query poll() {
        return queries.poll();
    }

    /** Removes and gives back all queries whose deadline has passed, or null if there are none. */
    @Nullable
    ArrayDeque<Query> takeExpired(long now) {
        if (queries.isEmpty() || now - earliestNanos < 0) {
            return null;
        }
        ArrayDeque<Query> expired = new ArrayDeque<>();
        for (int n = queries.size(); n > 0; n--) {
            Query q = queries.remove();
            if (q.expired(now)) {
                expired.add(q);
            } else {
                add(q);
            }
        }
        return expired;
    }
}
