package dev.pgnear.rows;

import dev.pgnear.coherence.Relation;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Figures of all tables, by {@link Relation#id}. Shared by all loops. */
public final class RowStats {
    private final Map<Integer, TableStats> tables = new ConcurrentHashMap<>();

    /** Of one table; made when first asked for. */
    public TableStats of(Relation relation) {
        return tables.computeIfAbsent(relation.id(), id -> new TableStats());
    }

    /** The sum over all tables, those detached meanwhile included. */
    public TableStats total() {
        TableStats sum = new TableStats();
        for (TableStats t : tables.values()) {
            sum.hits.add(t.hits());
            sum.misses.add(t.misses());
            sum.negativeHits.add(t.negativeHits());
            sum.reads.add(t.databaseReads());
        }
        return sum;
    }
}
