package dev.pgnear.coherence;

import dev.pgnear.base.KeyHash;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What one committed transaction changed, as any stream tells it: keys, whole relations, or everything. More than the given number of keys
 * collapses to their relations. Not thread-safe; built by the stream's thread.
 */
public final class CommittedTransaction {
    /** A changed key: canonical bytes and their hash. */
    public record Key(long hash, byte[] bytes) {
        @Override
        public boolean equals(Object o) {
            return o instanceof Key k && hash == k.hash && java.util.Arrays.equals(bytes, k.bytes);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(hash);
        }
    }

    private final long xid;
    private final int maxKeys;
    private final Map<Relation, Set<Key>> keys = new LinkedHashMap<>();
    private final Set<Relation> relations = new LinkedHashSet<>();
    private int count;
    private boolean everything;
    private boolean collapsed;

    /**
     * @param xid top-level, extended to 64 bits
     * @param maxKeys {@link dev.pgnear.base.Limits#DIRTY_KEYS_PER_TRANSACTION} in the product
     */
    public CommittedTransaction(long xid, int maxKeys) {
        this.xid = xid;
        this.maxKeys = maxKeys;
    }

    /** The row with this canonical key was inserted, updated or deleted. */
    public void key(Relation relation, byte[] key) {
        if (relations.contains(relation)) {
            return;
        }
        if (keys.computeIfAbsent(relation, r -> new LinkedHashSet<>())
                .add(new Key(KeyHash.of(relation.id(), key, 0, key.length), key))) {
            count++;
        }
        if (count > maxKeys) {
            collapsed = true;
            List.copyOf(keys.keySet()).forEach(this::relation);
        }
    }

    /** The relation changed as a whole (TRUNCATE, DDL, too many keys). */
    public void relation(Relation relation) {
        Set<Key> gone = keys.remove(relation);
        count -= gone == null ? 0 : gone.size();
        relations.add(relation);
    }

    /** Nothing can be said about what changed. */
    public void everything() {
        everything = true;
    }

    /** Adds what another part of the same transaction changed. */
    public void addAll(CommittedTransaction other) {
        other.relations.forEach(this::relation);
        other.keys.forEach((r, ks) -> ks.forEach(k -> key(r, k.bytes)));
        everything |= other.everything;
        collapsed |= other.collapsed;
    }

    /** Top-level xid, 64 bits. */
    public long xid() {
        return xid;
    }

    /** Changed keys by relation, without the relations in {@link #relations}. */
    public Map<Relation, Set<Key>> keys() {
        return keys;
    }

    /** Relations changed as a whole. */
    public List<Relation> relations() {
        return new ArrayList<>(relations);
    }

    /** Whether every relation counts as changed. */
    public boolean isEverything() {
        return everything;
    }

    /** Whether too many keys were collapsed to their relations. */
    public boolean isCollapsed() {
        return collapsed;
    }

    /** Whether nothing that is cached was changed. */
    public boolean isEmpty() {
        return keys.isEmpty() && relations.isEmpty() && !everything;
    }
}
