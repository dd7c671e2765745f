package dev.pgnear.coherence;

import dev.pgnear.base.KeyHash;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A model of what PostgreSQL does with transactions: a top-level xid at the first write, row locks until the transaction is out of the list of
 * running ones, a commit record in WAL order, visibility later and in any order, then the answer to the client. A crash keeps the flushed
 * part of the WAL; a failover a part of that.
 */
final class SimPostgres {
    enum TxState {
        RUNNING,
        RECORD,
        VISIBLE,
        RETURNED,
        RECOVERED,
        ABORTED,
        LOST
    }

    /** How a transaction waits at its commit. */
    enum Commit {
        /** For its flush and for the standbys. */
        SYNC,
        /** For its flush. */
        LOCAL,
        /** For nothing: synchronous_commit = off. */
        ASYNC
    }

    static final class Key {
        final int relation;
        final int number;
        final byte[] bytes;
        final List<Version> chain = new ArrayList<>();
        /** Versions that a crash or a failover took back. */
        final List<Version> lost = new ArrayList<>();

        Key(int relation, int number) {
            this.relation = relation;
            this.number = number;
            this.bytes = new byte[] {(byte) ('a' + number)};
        }

        long hash(int relationId) {
            return KeyHash.of(relationId, bytes, 0, bytes.length);
        }

        @Override
        public String toString() {
            return "" + relation + (char) ('a' + number);
        }
    }

    static final class Version {
        final int id;
        final @Nullable Tx tx;
        final boolean absent;
        long visibleAt = -1;
        long lostAt = -1;

        Version(int id, @Nullable Tx tx, boolean absent) {
            this.id = id;
            this.tx = tx;
            this.absent = absent;
        }

        byte @Nullable [] value() {
            return absent ? null : ByteBuffer.allocate(4).putInt(id).array();
        }

        @Override
        public String toString() {
            return "v" + id + (absent ? "-" : "");
        }
    }

    static final class Tx {
        final int number;
        final Commit commit;
        final boolean bulk;
        final boolean endless;
        long xid;
        long lastXid;
        TxState state = TxState.RUNNING;
        long lsn;
        long recordAt;
        boolean cancelled;
        int truncated = -1;
        final Map<Key, Version> writes = new LinkedHashMap<>();
        final Set<Key> published = new LinkedHashSet<>();

        Tx(int number, Commit commit, boolean bulk, boolean endless) {
            this.number = number;
            this.commit = commit;
            this.bulk = bulk;
            this.endless = endless;
        }

        boolean running() {
            return state == TxState.RUNNING || state == TxState.RECORD;
        }

        boolean finished() {
            return state == TxState.VISIBLE
                    || state == TxState.RETURNED
                    || state == TxState.RECOVERED
                    || state == TxState.ABORTED;
        }

        @Override
        public String toString() {
            return "T" + number + "(" + xid + " " + state + ")";
        }
    }

    /** What a server showed when it was replaced: connections to it may live on for a while. */
    record Frozen(ServerIdentity identity, Snapshot snapshot, Map<Key, Version> rows, long insertLsn) {}

    private static final long PAGE = 8192;

    final List<Key> keys = new ArrayList<>();
    final List<Tx> txs = new ArrayList<>();
    /** Commit records in WAL order. */
    final List<Tx> wal = new ArrayList<>();
    /** What all keys showed after each change of visibility. */
    final List<Version[]> history = new ArrayList<>();

    final boolean[] published;
    ServerIdentity identity = new ServerIdentity(42, 1, 1000);

    @Nullable
    Frozen frozen;

    long walEnd = 5 * PAGE;
    long flushed = walEnd;
    private long nextXid = 100;
    private long latestCompleted = 99;
    private int versions;

    SimPostgres(int[] keysOfRelation) {
        published = new boolean[keysOfRelation.length];
        for (int r = 0; r < keysOfRelation.length; r++) {
            for (int k = 0; k < keysOfRelation[r]; k++) {
                Key key = new Key(r, k);
                Version first = new Version(versions++, null, k % 3 == 2);
                first.visibleAt = Long.MIN_VALUE / 2;
                key.chain.add(first);
                keys.add(key);
            }
        }
        remember();
    }

    Key key(int relation, int number) {
        return keys.stream()
                .filter(k -> k.relation == relation && k.number == number)
                .findFirst()
                .orElseThrow();
    }

    // ---- writing

    /** Whether nobody else holds the row's lock, or that of its relation. */
    boolean free(Key key, @Nullable Tx self) {
        for (Tx t : txs) {
            if (t != self && t.running() && (t.truncated == key.relation || t.writes.containsKey(key))) {
                return false;
            }
        }
        return true;
    }

    boolean truncateRunning(int relation) {
        return txs.stream().anyMatch(t -> t.running() && t.truncated == relation);
    }

    void write(Tx t, Key key, boolean absent) {
        if (t.xid == 0) {
            t.xid = nextXid++;
            t.lastXid = nextXid++; // a subtransaction's, which no snapshot lists
            txs.add(t);
        }
        Version v = new Version(versions++, t, absent);
        key.chain.add(v);
        t.writes.put(key, v);
        if (published[key.relation]) {
            t.published.add(key);
        }
    }

    void abort(Tx t) {
        undo(t, -1);
        t.state = TxState.ABORTED;
        latestCompleted = Math.max(latestCompleted, t.lastXid);
    }

    private void undo(Tx t, long lostAt) {
        t.writes.forEach((key, v) -> {
            key.chain.remove(v);
            v.lostAt = lostAt;
            if (lostAt >= 0) {
                key.lost.add(v);
            }
        });
    }

    void record(Tx t, long now, boolean toPageEnd) {
        grow(toPageEnd);
        t.lsn = walEnd;
        t.recordAt = now;
        t.state = TxState.RECORD;
        wal.add(t);
    }

    /** One more record in the WAL. */
    void grow(boolean toPageEnd) {
        walEnd = toPageEnd ? (walEnd / PAGE + 1) * PAGE : walEnd + 64 + (walEnd % PAGE == 0 ? 24 : 0);
    }

    /** pg_current_wal_insert_lsn(): behind the next page's header when the last record ended on a page boundary. */
    long insertLsn() {
        return walEnd % PAGE == 0 ? walEnd + 24 : walEnd;
    }

    void flush(int records) {
        long to = walEnd;
        for (Tx t : wal) {
            if (t.lsn > flushed && records-- <= 1) {
                to = t.lsn;
                break;
            }
        }
        flushed = Math.max(flushed, to);
    }

    void makeVisible(Tx t, long now) {
        t.state = TxState.VISIBLE;
        latestCompleted = Math.max(latestCompleted, t.lastXid);
        t.writes.values().forEach(v -> v.visibleAt = now);
        remember();
    }

    private void remember() {
        Version[] state = new Version[keys.size()];
        Arrays.setAll(state, i -> current(keys.get(i)));
        history.add(state);
    }

    // ---- reading

    Version current(Key key) {
        for (int i = key.chain.size() - 1; i > 0; i--) {
            Tx t = key.chain.get(i).tx;
            if (t != null && t.finished()) {
                return key.chain.get(i);
            }
        }
        return key.chain.getFirst();
    }

    Snapshot snapshot() {
        return snapshot(Tx::running, latestCompleted);
    }

    /** The slot's own snapshot: by commit records, not by visibility. */
    Snapshot slotSnapshot() {
        long latest = latestCompleted;
        for (Tx t : txs) {
            latest = t.state == TxState.RECORD ? Math.max(latest, t.lastXid) : latest;
        }
        return snapshot(t -> t.state == TxState.RUNNING, latest);
    }

    private Snapshot snapshot(Predicate<Tx> running, long latest) {
        long xmax = latest + 1;
        long[] list = txs.stream()
                .filter(t -> running.test(t) && t.xid < xmax)
                .mapToLong(t -> t.xid)
                .sorted()
                .toArray();
        return new Snapshot(list.length == 0 ? xmax : list[0], xmax, list);
    }

    /** Newest version that was visible at a time. */
    Version asOf(Key key, long time) {
        for (int i = key.chain.size() - 1; i > 0; i--) {
            Version v = key.chain.get(i);
            if (v.visibleAt >= 0 && v.visibleAt <= time) {
                return v;
            }
        }
        return key.chain.getFirst();
    }

    // ---- crash and failover

    void crash(long now, long upTo, boolean failover) {
        Map<Key, Version> rows = new HashMap<>();
        keys.forEach(k -> rows.put(k, current(k)));
        frozen = failover ? new Frozen(identity, snapshot(), rows, insertLsn()) : null;
        identity = new ServerIdentity(
                identity.systemId(), identity.timeline() + (failover ? 1 : 0), identity.postmasterStartMicros() + 1);
        for (Tx t : txs) {
            recover(t, now, upTo);
        }
        wal.removeIf(t -> t.state == TxState.LOST);
        walEnd = upTo;
        flushed = upTo;
        latestCompleted = 99;
        for (Tx t : txs) {
            boolean known = t.lsn > 0 && t.lsn <= upTo;
            latestCompleted = known ? Math.max(latestCompleted, t.lastXid) : latestCompleted;
        }
        nextXid = latestCompleted + 1;
        remember();
    }

    private void recover(Tx t, long now, long upTo) {
        boolean over = t.state == TxState.ABORTED || t.state == TxState.LOST;
        if (over) {
            return;
        }
        if (t.lsn == 0 || t.lsn > upTo) {
            undo(t, now);
            t.state = TxState.LOST;
            t.lsn = 0;
        } else if (t.state == TxState.RECORD) {
            t.state = TxState.RECOVERED;
            t.writes.values().forEach(v -> v.visibleAt = now);
        }
    }
}
