package dev.pgnear.pg.replication;

import dev.pgnear.base.Limits;
import dev.pgnear.coherence.CommittedTransaction;
import dev.pgnear.coherence.Relation;
import dev.pgnear.pg.catalog.StreamTables;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A transaction whose commit has not come yet, in parts by subtransaction, because a streamed one can lose parts by ROLLBACK TO SAVEPOINT. (One
 * that is sent at its commit has the single part 0.)
 *
 * <p>Bound: the keys of all parts together, and the parts. Beyond it everything so far is collapsed to its relations, which a later rollback of
 * a part no longer takes back: a change too many costs a miss, a change too few would cost a stale row. Not thread-safe.
 */
final class OpenTransaction {
    private record Note(int part, String content) {}

    private final long xid;
    private final long finalLsn;
    private final int maxKeys;
    private final Map<Integer, CommittedTransaction> parts = new LinkedHashMap<>();
    /** Keeps no key: the first one of a relation already stands for all of it. */
    private final CommittedTransaction collapsed = new CommittedTransaction(0, 0);

    private final Set<Relation> covered = new HashSet<>();

    private final List<Note> notes = new ArrayList<>();
    /** Shapes sent inside this transaction; they hold for all once it has committed. */
    private final Map<Integer, KnownRelation> shapes = new HashMap<>();

    private int keys;
    private boolean everything;

    /**
     * @param xid top-level, 64 bits
     * @param finalLsn where the commit record begins, or -1 (the highest position) while it is not known
     */
    OpenTransaction(long xid, long finalLsn, int maxKeys) {
        this.xid = xid;
        this.finalLsn = finalLsn;
        this.maxKeys = maxKeys;
    }

    long finalLsn() {
        return finalLsn;
    }

    /** Keys held now. */
    int keys() {
        return keys;
    }

    /** Whether the relation is already known to be changed as a whole. */
    boolean covers(Relation relation) {
        return covered.contains(relation);
    }

    void key(int part, Relation relation, byte[] key) {
        if (covers(relation)) {
            return;
        }
        CommittedTransaction p = part(part);
        int before = size(p, relation);
        p.key(relation, key);
        keys += size(p, relation) - before;
        collapseBeyond(maxKeys);
    }

    void relation(int part, Relation relation) {
        if (covers(relation)) {
            return;
        }
        CommittedTransaction p = part(part);
        keys -= size(p, relation);
        p.relation(relation);
        collapseBeyond(maxKeys);
    }

    private CommittedTransaction part(int part) {
        return parts.computeIfAbsent(part, x -> new CommittedTransaction(xid, Integer.MAX_VALUE));
    }

    private static int size(CommittedTransaction p, Relation relation) {
        Set<CommittedTransaction.Key> s = p.keys().get(relation);
        return s == null ? 0 : s.size();
    }

    private void collapseBeyond(int max) {
        if (keys > max || parts.size() > max) {
            collapse();
        }
    }

    /** Forgets the keys in favour of their relations. */
    void collapse() {
        for (CommittedTransaction p : parts.values()) {
            p.relations().forEach(collapsed::relation);
            p.keys().forEach((r, ks) -> collapsed.key(r, ks.iterator().next().bytes()));
        }
        covered.addAll(collapsed.relations());
        parts.clear();
        keys = 0;
    }

    /**
     * @param content null if it was too long to be kept
     */
    void message(int part, @Nullable String content) {
        if (content == null || notes.size() >= Limits.STREAM_MESSAGES) {
            everything = true;
        } else {
            notes.add(new Note(part, content));
        }
    }

    Map<Integer, KnownRelation> shapes() {
        return shapes;
    }

    /** The subtransaction rolled back. PostgreSQL sends shapes again after that. */
    void drop(int part) {
        CommittedTransaction p = parts.remove(part);
        if (p != null) {
            keys -= p.keys().values().stream().mapToInt(Set::size).sum();
        }
        notes.removeIf(n -> n.part == part);
        shapes.clear();
    }

    /** What the transaction changed, after the mappings have seen its messages. */
    CommittedTransaction commit(StreamTables tables) {
        CommittedTransaction t = merged();
        notes.forEach(n -> tables.message(n.content, t));
        if (everything) {
            t.everything();
            tables.message("ddl 0 overflow", t);
        }
        return t;
    }

    /** Most transactions have one part and are that part. */
    private CommittedTransaction merged() {
        if (parts.size() == 1 && covered.isEmpty()) {
            return parts.values().iterator().next();
        }
        CommittedTransaction t = new CommittedTransaction(xid, maxKeys);
        parts.values().forEach(t::addAll);
        t.addAll(collapsed);
        return t;
    }
}
