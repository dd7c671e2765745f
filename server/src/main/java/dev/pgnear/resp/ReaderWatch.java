package dev.pgnear.resp;

import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Drops a client that has read nothing of its full output for the idle timeout. Looks eight times in that time, only while output is full. */
final class ReaderWatch implements Runnable {
    private static final int LOOKS = 8;

    private final Session session;
    private @Nullable Future<?> timer;
    private long unsent;
    private int idleLooks;

    ReaderWatch(Session session) {
        this.session = session;
    }

    void start() {
        idleLooks = 0;
        unsent = session.unsent();
        if (timer == null) {
            schedule();
        }
    }

    void stop() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }

    private void schedule() {
        long period = Math.max(session.door().settings().idleTimeoutMillis() / LOOKS, 1);
        timer = session.context().executor().schedule(this, period, TimeUnit.MILLISECONDS);
    }

    @Override
    public void run() {
        timer = null;
        if (!session.isWaitingForReader()) {
            return;
        }
        long now = session.unsent();
        idleLooks = now < unsent ? 0 : idleLooks + 1;
        unsent = now;
        if (idleLooks >= LOOKS) {
            session.drop();
        } else {
            schedule();
        }
    }
}
