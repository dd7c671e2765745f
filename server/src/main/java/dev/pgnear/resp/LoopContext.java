package dev.pgnear.resp;

import dev.pgnear.base.Limits;
import dev.pgnear.base.NanoClock;
import dev.pgnear.metrics.LoopCounters;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the connections of one event loop share; only that loop touches it. */
public final class LoopContext implements Runnable {
    private static final int INITIAL_BYTES = 4096;
    private static final int KEPT_BYTES = 4 * Limits.OUTPUT_CHUNK_BYTES;

    private final EventExecutor executor;
    private final RowSource rows;
    private final LoopCounters counters;
    private final NanoClock clock;
    private final ByteBufAllocator allocator;
    private @Nullable ByteBuf spare;
    private List<Session> completed = new ArrayList<>();
    private List<Session> resuming = new ArrayList<>();

    LoopContext(
            EventExecutor executor,
            RowSource rows,
            LoopCounters counters,
            NanoClock clock,
            ByteBufAllocator allocator) {
        this.executor = executor;
        this.rows = rows;
        this.counters = counters;
        this.clock = clock;
        this.allocator = allocator;
    }

    /** Rows for this loop. */
    public RowSource rows() {
        return rows;
    }

    /** This loop's counters. */
    public LoopCounters counters() {
        return counters;
    }

    /** The node's clock. */
    public NanoClock clock() {
        return clock;
    }

    ByteBuf newBuffer() {
        return allocator.directBuffer(INITIAL_BYTES);
    }

    /** An outbound buffer for one burst, usually the one that the burst before gave back. */
    ByteBuf takeBuffer() {
        ByteBuf buffer = spare;
        spare = null;
        return buffer == null ? newBuffer() : buffer;
    }

    /** Keeps the buffer if the channel has already sent all of it. */
    void giveBuffer(ByteBuf buffer) {
        if (spare == null && buffer.refCnt() == 1 && buffer.capacity() <= KEPT_BYTES) {
            spare = buffer.clear();
        } else {
            buffer.release();
        }
    }

    /** The session goes on when the loop has handled its current events: results of one burst of PostgreSQL's are sent together. */
    void resumeSoon(Session session) {
        if (completed.isEmpty()) {
            executor.execute(this);
        }
        completed.add(session);
    }

    @Override
    public void run() {
        List<Session> now = completed;
        completed = resuming;
        resuming = now;
        now.forEach(Session::resume);
        rows.flush();
        now.forEach(Session::flush);
        now.clear();
    }
}
