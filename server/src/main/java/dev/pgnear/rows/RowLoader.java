package dev.pgnear.rows;

import dev.pgnear.base.KeyHash;
import dev.pgnear.base.Limits;
import dev.pgnear.base.NanoClock;
import dev.pgnear.base.ValueSink;
import dev.pgnear.cache.Cache;
import dev.pgnear.coherence.Coherence;
import dev.pgnear.coherence.Fill;
import dev.pgnear.coherence.FillWaiter;
import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.coherence.Snapshot;
import dev.pgnear.pg.backend.BackendPool;
import dev.pgnear.pg.backend.BackendTimeout;
import dev.pgnear.pg.backend.DataRow;
import dev.pgnear.pg.backend.ResultHandler;
import dev.pgnear.pg.catalog.KeyBuffer;
import dev.pgnear.pg.catalog.MappingSet;
import dev.pgnear.pg.catalog.TableMapping;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Row reads of one event loop.
 *
 * <p>A hit is one call of {@link Coherence#read}. A miss joins the fill of its key that is under way, on whichever loop, or begins one; fills
 * begun in one read burst become one query per table ({@link FillQuery}), sent by {@link #flush}. Only then are they marked as sent, so every
 * reader of the burst counts as having come before the query. The answer goes to the coherence rules, which store it and tell the waiters;
 * those of other loops hop to theirs. A waiter that may not have the answer ("again") starts over until its deadline. It never gets a query
 * past the rules: that answer could be older than one its connection has already seen, or come from a server that is no longer the primary.
 *
 * <p>A query whose table was renamed under it is repeated with the new mapping a moment later, until the reader's deadline.
 *
 * <p>Everything here belongs to the loop; other threads only enter by {@link EventExecutor#execute}.
 */
public final class RowLoader implements RowReads {
    private static final long RENAME_RETRY_MILLIS = 25;
    private static final long PAUSE_MAX_MILLIS = 50;
    private static final String TRY_AGAIN =
            "ERR timeout: PostgreSQL gave no answer in time that is not older than one already given; try again";

    private final EventExecutor loop;
    private final Coherence coherence;
    private final BackendPool pool;
    private final Supplier<MappingSet> mappings;
    private final RowStats allStats;
    private final NanoClock clock;

    private TableStats[] stats = new TableStats[64];
    private final Map<Integer, Table> tables = new HashMap<>();
    private final List<Table> waiting = new ArrayList<>();
    private boolean flushScheduled;

    /**
     * @param loop the loop whose sessions read here
     * @param pool the loop's own connections
     * @param mappings the current set
     */
    public RowLoader(
            EventExecutor loop,
            Coherence coherence,
            BackendPool pool,
            Supplier<MappingSet> mappings,
            RowStats stats,
            NanoClock clock) {
        this.loop = loop;
        this.coherence = coherence;
        this.pool = pool;
        this.mappings = mappings;
        this.allStats = stats;
        this.clock = clock;
    }

    /** What is collected for one table's next query. */
    private static final class Table {
        FillQuery query;
        List<Fill> fills = new ArrayList<>();
        long deadlineNanos;

        Table(FillQuery query) {
            this.query = query;
        }
    }

    @Override
    public int read(KeyParser.Key key, ValueSink sink) {
        if (key.kind() != KeyParser.Kind.ROW) {
            return Cache.MISS;
        }
        TableMapping mapping = key.mapping();
        KeyBuffer canonical = key.canonical();
        int found = coherence.read(mapping.relation(), key.hash(), canonical.bytes(), 0, canonical.length(), sink);
        if (found != Cache.MISS) {
            TableStats counts = stats(mapping);
            counts.hits.increment();
            if (found == Cache.ABSENT) {
                counts.negativeHits.increment();
            }
        }
        return found;
    }

    @Override
    public void load(KeyParser.Key key, long deadlineNanos, RowResult result) {
        TableMapping mapping = key.mapping();
        stats(mapping).misses.increment();
        if (key.kind() == KeyParser.Kind.NEEDS_POSTGRES) {
            convert(mapping, key.texts(), deadlineNanos, result);
        } else {
            new Reader(mapping, key.hash(), key.canonical().toArray(), deadlineNanos, result).start();
        }
    }

    @Override
    public void flush() {
        flushScheduled = false;
        if (waiting.isEmpty()) {
            return;
        }
        List<Table> now = List.copyOf(waiting);
        waiting.clear();
        now.forEach(this::send);
    }

    /** PostgreSQL reads the key's texts; then the read goes on as usual. */
    private void convert(TableMapping mapping, byte[][] texts, long deadlineNanos, RowResult result) {
        KeyBuffer canonical = new KeyBuffer();
        pool.execute(table(mapping).query.convert(), texts, deadlineNanos, new ResultHandler() {
            @Override
            public void row(DataRow row) {
                for (int i = 0; i < texts.length; i++) {
                    byte[] value = row.getBytes(i);
                    mapping.key().appendBinary(i, value, 0, value.length, canonical);
                }
            }

            @Override
            public void complete(ServerIdentity server) {
                byte[] key = canonical.toArray();
                long hash = KeyHash.of(mapping.relation().id(), key, 0, key.length);
                new Reader(mapping, hash, key, deadlineNanos, result).start();
            }

            @Override
            public void failed(Throwable cause) {
                result.failed(RowErrors.line(cause));
            }
        });
    }

    private Table table(TableMapping mapping) {
        Table table = tables.get(mapping.oid());
        if (table == null) {
            table = new Table(new FillQuery(mapping));
            tables.put(mapping.oid(), table);
        } else if (!table.query.fits(mapping)) {
            send(table);
            table.query = new FillQuery(mapping);
        }
        return table;
    }

    private void enqueue(TableMapping mapping, Fill fill, long deadlineNanos) {
        Table table = table(mapping);
        if (table.fills.isEmpty()) {
            waiting.add(table);
            table.deadlineNanos = deadlineNanos;
        }
        table.fills.add(fill);
        if (deadlineNanos - table.deadlineNanos > 0) {
            table.deadlineNanos = deadlineNanos;
        }
        stats(mapping).reads.increment();
        if (table.fills.size() >= table.query.batch()) {
            waiting.remove(table);
            send(table);
        } else if (!flushScheduled) {
            flushScheduled = true;
            loop.execute(this::flush);
        }
    }

    private void send(Table table) {
        List<Fill> fills = table.fills;
        if (fills.isEmpty()) {
            return;
        }
        table.fills = new ArrayList<>();
        fills.forEach(coherence::sent);
        List<FillBatch.Item> items = new ArrayList<>(fills.size());
        fills.forEach(f -> items.add(new SharedFill(coherence, f)));
        send(table.query, items, table.deadlineNanos);
    }

    private void send(FillQuery query, List<FillBatch.Item> items, long deadlineNanos) {
        List<byte[]> keys = items.stream().map(FillBatch.Item::key).toList();
        FillBatch batch = new FillBatch(query, items, (q, part) -> send(q, part, deadlineNanos));
        try {
            pool.execute(query.rows(), query.parameters(keys), deadlineNanos, batch);
        } catch (RuntimeException e) {
            items.forEach(i -> i.failed(e)); // nobody may wait for a query that was never sent
        }
    }

    private TableStats stats(TableMapping mapping) {
        int id = mapping.relation().id();
        if (id >= stats.length) {
            stats = java.util.Arrays.copyOf(stats, id * 2);
        }
        TableStats counts = stats[id];
        if (counts == null) {
            counts = allStats.of(mapping.relation());
            stats[id] = counts;
        }
        return counts;
    }

    /** A fill of the coherence rules, as part of a batch. */
    private record SharedFill(Coherence coherence, Fill fill) implements FillBatch.Item {
        @Override
        public byte[] key() {
            return fill.key();
        }

        @Override
        public void arrived(ServerIdentity server, Snapshot snapshot, long lsn, byte @Nullable [] row) {
            coherence.arrived(fill, server, snapshot, lsn, row);
        }

        @Override
        public void failed(Throwable cause) {
            coherence.failed(fill, cause);
        }
    }

    /** One read that missed, until its result is told. */
    private final class Reader implements FillWaiter {
        private TableMapping mapping;
        private long hash;
        private final byte[] key;
        private final long deadlineNanos;
        private final RowResult result;
        private int tries;

        Reader(TableMapping mapping, long hash, byte[] key, long deadlineNanos, RowResult result) {
            this.mapping = mapping;
            this.hash = hash;
            this.key = key;
            this.deadlineNanos = deadlineNanos;
            this.result = result;
        }

        void start() {
            Fill fill = coherence.join(mapping.relation(), hash, key, this);
            if (fill != null) {
                enqueue(mapping, fill, deadlineNanos);
            }
        }

        @Override
        public void row(byte @Nullable [] value) {
            hop(() -> deliver(value));
        }

        @Override
        public void again() {
            // Not at once even on this loop: the rules are in the middle of a step.
            loop.execute(() -> startOver(TRY_AGAIN));
        }

        private void startOver(String otherwise) {
            tries++;
            if (clock.nanos() - deadlineNanos >= 0) {
                result.failed(otherwise);
            } else if (tries <= Limits.READ_TRIES) {
                start();
            } else {
                loop.schedule(this::start, Math.min(tries, PAUSE_MAX_MILLIS), TimeUnit.MILLISECONDS);
            }
        }

        @Override
        public void failed(Throwable cause) {
            hop(() -> fail(cause));
        }

        private void deliver(byte @Nullable [] value) {
            if (value == null) {
                result.absent();
            } else {
                result.found(value);
            }
        }

        private void fail(Throwable cause) {
            boolean timeLeft = clock.nanos() - deadlineNanos < 0;
            if (timeLeft && cause instanceof BackendTimeout) {
                startOver(RowErrors.line(cause)); // it was the deadline of the reader whose fill this one had joined
            } else if (timeLeft && RowErrors.isStaleMapping(cause)) {
                loop.schedule(() -> retry(cause), RENAME_RETRY_MILLIS, TimeUnit.MILLISECONDS);
            } else {
                result.failed(RowErrors.line(cause));
            }
        }

        /** With the table's new mapping, if it has one with the same key. */
        private void retry(Throwable cause) {
            TableMapping now = mappings.get().byOid(mapping.oid());
            if (now == null || !now.key().columns().equals(mapping.key().columns())) {
                result.failed(RowErrors.line(cause));
                return;
            }
            mapping = now;
            hash = KeyHash.of(now.relation().id(), key, 0, key.length);
            start();
        }

        private void hop(Runnable step) {
            if (loop.inEventLoop()) {
                step.run();
            } else {
                loop.execute(step);
            }
        }
    }
}
