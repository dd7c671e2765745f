package dev.pgnear.resp;

import dev.pgnear.metrics.Stat;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Ends the commands of one connection that have waited too long. They wait equally long, so the first one in the queue is always the next to end: one timer is enough. */
final class Deadlines implements Runnable {
    private static final long SHORTEST_NANOS = 1_000_000;

    private final Session session;
    private final Replies replies;
    private @Nullable Future<?> timer;

    Deadlines(Session session, Replies replies) {
        this.session = session;
        this.replies = replies;
    }

    void add(Waiting waiting) {
        if (timer == null) {
            schedule(waiting);
        }
    }

    private void schedule(Waiting waiting) {
        long left = waiting.deadlineNanos() - session.loop().clock().nanos();
        timer = session.context().executor().schedule(this, Math.max(left, SHORTEST_NANOS), TimeUnit.NANOSECONDS);
    }

    void stop() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }

    @Override
    public void run() {
        timer = null;
        long now = session.loop().clock().nanos();
        for (Waiting w : replies.waiting()) {
            if (!w.isDone() && w.deadlineNanos() - now > 0) {
                schedule(w);
                return;
            }
            if (!w.isDone()) {
                session.loop().counters().increment(Stat.COMMAND_DEADLINES);
                w.expire();
            }
        }
    }
}
