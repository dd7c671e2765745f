package dev.pgnear.pg.replication;

import dev.pgnear.coherence.CommittedTransaction;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** What a stream has done. Written by its thread, read by any. */
final class StreamCounters {
    private final AtomicLong transactions = new AtomicLong();
    private final AtomicLong keys = new AtomicLong();
    private final AtomicLong relationEvents = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong keepalives = new AtomicLong();
    private final AtomicLong reconnects = new AtomicLong();
    private final AtomicLong collapsed = new AtomicLong();

    void applied(CommittedTransaction t) {
        transactions.incrementAndGet();
        for (Set<CommittedTransaction.Key> changed : t.keys().values()) {
            keys.addAndGet(changed.size());
        }
        relationEvents.addAndGet(t.relations().size());
        collapsed.addAndGet(t.isCollapsed() ? 1 : 0);
    }

    void message(int length) {
        bytes.addAndGet(length);
    }

    void keepalive() {
        keepalives.incrementAndGet();
    }

    void reconnect() {
        reconnects.incrementAndGet();
    }

    StreamStatus.Counters read() {
        return new StreamStatus.Counters(
                transactions.get(),
                keys.get(),
                relationEvents.get(),
                bytes.get(),
                keepalives.get(),
                reconnects.get(),
                collapsed.get());
    }
}
