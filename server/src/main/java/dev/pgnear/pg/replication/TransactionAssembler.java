package dev.pgnear.pg.replication;

import dev.pgnear.base.Limits;
import dev.pgnear.coherence.CommittedTransaction;
import dev.pgnear.pg.catalog.KeyBuffer;
import dev.pgnear.pg.catalog.StreamTables;
import dev.pgnear.pg.catalog.TableMapping;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Puts transactions together from decoded messages and hands each one on at its commit, in commit order, never before.
 *
 * <p>Small transactions come in one piece between Begin and Commit. Large ones come in chunks while they run, interleaved with others; they are
 * kept by their top-level xid until Stream Commit, and parts of them go away by Stream Abort. A Relation message inside a chunk describes the
 * table as that transaction sees it, so it holds for others only once it has committed. One thread only.
 */
final class TransactionAssembler implements PgOutputHandler {
    /** Takes committed transactions; when it returns they are applied. */
    interface Sink {
        void committed(CommittedTransaction transaction, long endLsn);
    }

    private final StreamTables tables;
    private final XidEpoch xids;
    private final int maxKeys;
    private final Sink sink;
    private final Map<Integer, KnownRelation> relations = new HashMap<>();
    private final Map<Integer, OpenTransaction> streamed = new HashMap<>();
    private final KeyBuffer key = new KeyBuffer();
    private @Nullable OpenTransaction whole;
    private @Nullable OpenTransaction chunk;
    private int streamedKeys;

    /**
     * @param maxKeys {@link Limits#DIRTY_KEYS_PER_TRANSACTION} in the product
     */
    TransactionAssembler(StreamTables tables, XidEpoch xids, int maxKeys, Sink sink) {
        this.tables = tables;
        this.xids = xids;
        this.maxKeys = maxKeys;
        this.sink = sink;
    }

    /**
     * How much of a position that PostgreSQL names between messages may count as applied: not the commit of the transaction that is being sent.
     * (Of a streamed transaction no keepalive names the commit before Stream Commit was sent, F29.)
     */
    long applied(long lsn) {
        OpenTransaction t = whole;
        return t == null || Long.compareUnsigned(lsn, t.finalLsn()) <= 0 ? lsn : t.finalLsn();
    }

    /** Keys held for transactions in progress. */
    int streamedKeys() {
        return streamedKeys;
    }

    @Override
    public void begin(int xid, long finalLsn) throws StreamProtocolException {
        must(whole == null && chunk == null, "a transaction inside another one");
        whole = new OpenTransaction(xids.extend(xid), finalLsn, maxKeys);
    }

    @Override
    public void commit(long endLsn) throws StreamProtocolException {
        OpenTransaction t = whole;
        if (t == null) {
            throw new StreamProtocolException("a commit without its transaction");
        }
        whole = null;
        sink.committed(t.commit(tables), endLsn);
    }

    @Override
    public void relation(int xid, RelationShape shape) throws StreamProtocolException {
        OpenTransaction c = chunk;
        Map<Integer, KnownRelation> known = c == null ? relations : c.shapes();
        known.put(shape.oid(), new KnownRelation(shape));
        must(known.size() <= Limits.STREAM_RELATIONS, "more relations than a stream remembers");
    }

    @Override
    public void row(int xid, int oid, @Nullable TupleData oldRow, @Nullable TupleData newRow)
            throws StreamProtocolException {
        OpenTransaction t = open();
        TableMapping mapping = tables.byOid(oid);
        if (mapping == null || t.covers(mapping.relation())) {
            return;
        }
        int held = t.keys();
        keys(t, xid, known(t, oid).reader(mapping, tables), oldRow, newRow);
        hold(t, held);
    }

    private void keys(
            OpenTransaction t, int xid, KeyReader reader, @Nullable TupleData oldRow, @Nullable TupleData newRow) {
        if (reader.problem() != null) {
            t.relation(xid, reader.mapping().relation());
            return;
        }
        if (oldRow != null) {
            change(t, xid, reader, oldRow, null);
        }
        if (newRow != null) {
            change(t, xid, reader, newRow, oldRow);
        }
    }

    private void change(OpenTransaction t, int xid, KeyReader reader, TupleData row, @Nullable TupleData before) {
        key.clear();
        if (reader.read(row, before, key)) {
            t.key(xid, reader.mapping().relation(), key.toArray());
        } else {
            t.relation(xid, reader.mapping().relation());
        }
    }

    /** Counts what transactions in progress hold, and collapses the one that grows when all together hold too much. */
    private void hold(OpenTransaction t, int before) {
        if (t != chunk) {
            return;
        }
        streamedKeys += t.keys() - before;
        if (streamedKeys > Limits.STREAMED_KEYS) {
            streamedKeys -= t.keys();
            t.collapse();
        }
    }

    private KnownRelation known(OpenTransaction t, int oid) throws StreamProtocolException {
        KnownRelation k = t.shapes().get(oid);
        if (k == null) {
            k = relations.get(oid);
        }
        if (k == null) {
            throw new StreamProtocolException("a row of a relation that was not described");
        }
        return k;
    }

    @Override
    public void whole(int xid, int oid) throws StreamProtocolException {
        OpenTransaction t = open();
        TableMapping mapping = tables.byOid(oid);
        if (mapping != null) {
            int held = t.keys();
            t.relation(xid, mapping.relation());
            hold(t, held);
        }
    }

    @Override
    public void message(int xid, @Nullable String content) throws StreamProtocolException {
        open().message(xid, content);
    }

    /** Whether a transaction, or a piece of a streamed one, has begun and not ended. */
    boolean isOpen() {
        return whole != null || chunk != null;
    }

    private OpenTransaction open() throws StreamProtocolException {
        OpenTransaction t = chunk != null ? chunk : whole;
        if (t == null) {
            throw new StreamProtocolException("a change outside of any transaction");
        }
        return t;
    }

    @Override
    public void streamStart(int topXid) throws StreamProtocolException {
        must(whole == null && chunk == null, "a chunk inside a transaction");
        chunk = streamed.computeIfAbsent(topXid, x -> new OpenTransaction(xids.extend(x), -1, maxKeys));
    }

    @Override
    public void streamStop() throws StreamProtocolException {
        must(chunk != null, "the end of a chunk that did not begin");
        chunk = null;
    }

    @Override
    public void streamCommit(int topXid, long endLsn) throws StreamProtocolException {
        must(whole == null && chunk == null, "a commit inside a transaction");
        OpenTransaction t = streamed.remove(topXid);
        if (t == null) {
            throw new StreamProtocolException("a commit without its transaction");
        }
        streamedKeys -= t.keys();
        relations.putAll(t.shapes());
        sink.committed(t.commit(tables), endLsn);
    }

    @Override
    public void streamAbort(int topXid, int xid) throws StreamProtocolException {
        must(whole == null && chunk == null, "a rollback inside a transaction");
        OpenTransaction t = streamed.get(topXid);
        if (t == null) {
            return; // nothing of it was sent, so nothing is to be taken back
        }
        int held = t.keys();
        if (topXid == xid) {
            streamed.remove(topXid);
            streamedKeys -= held;
        } else {
            t.drop(xid);
            streamedKeys += t.keys() - held;
        }
    }

    private static void must(boolean condition, String otherwise) throws StreamProtocolException {
        if (!condition) {
            throw new StreamProtocolException("PostgreSQL sent " + otherwise);
        }
    }
}
