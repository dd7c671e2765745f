package dev.pgnear.pg.replication;

import dev.pgnear.base.Lsn;
import dev.pgnear.base.NanoClock;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A physical walsender without a slot that takes the node's place while the node makes its slot: commits that wait for the node would otherwise
 * wait for the slot, and the slot waits for them (F15). It acknowledges at once whatever comes. That is sound because the node has dropped all
 * entries before, and serves no hit until everything acknowledged here is applied (rule CATCH_UP).
 *
 * <p>Runs on a thread of its own; when it fails it calls {@code failed}, so that the slot is not waited for in vain.
 */
final class StandIn implements AutoCloseable {
    private final WalConnection connection;
    private final Runnable failed;
    private final String threadName;
    private final WalLink link;
    private final Thread thread;
    private volatile boolean stopping;
    private volatile @Nullable IOException failure;

    /**
     * Starts streaming at the flush position.
     *
     * @param connection open, under the node's name
     */
    StandIn(
            WalConnection connection,
            StreamOptions options,
            Duration statusInterval,
            NanoClock clock,
            StreamCounters counters,
            String threadName,
            Runnable failed)
            throws IOException {
        this.connection = connection;
        this.failed = failed;
        this.threadName = threadName;
        String flushed =
                Objects.requireNonNull(connection.query("IDENTIFY_SYSTEM").get(0)[2]);
        connection.startCopyBoth("START_REPLICATION PHYSICAL " + flushed);
        this.link = new WalLink(connection, Lsn.parse(flushed), options, statusInterval, clock, counters);
        this.thread = Thread.ofPlatform().daemon().name(threadName).start(this::run);
    }

    private void run() {
        try {
            link.run(new Acknowledge(), threadName + "-heartbeat");
        } catch (IOException e) {
            end(e);
        } catch (RuntimeException e) {
            end(new IOException("the stand-in walsender ended: " + e.getMessage(), e));
        }
    }

    private void end(IOException e) {
        if (!stopping) {
            failure = e;
            failed.run();
        }
    }

    int processId() {
        return connection.processId();
    }

    /** Why it ended by itself, or null. */
    @Nullable
    IOException failure() {
        return failure;
    }

    /** Ends it, and returns the highest position that it can have acknowledged. */
    long stop() {
        close();
        return link.received();
    }

    @Override
    public void close() {
        stopping = true;
        link.close();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private final class Acknowledge implements WalLink.Messages {
        @Override
        public void data(byte[] buffer, int from, int to, boolean cut, long walStart) {
            link.arrived(walStart + (to - from));
        }

        @Override
        public void keepalive(long walEnd) {
            link.arrived(walEnd);
        }

        @Override
        public boolean unfinished() {
            return false;
        }
    }
}
