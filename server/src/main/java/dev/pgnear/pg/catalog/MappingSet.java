package dev.pgnear.pg.catalog;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Immutable: all attached tables as this node knows them at one moment, by oid, by name and by alias. */
public final class MappingSet {
    /** No tables. */
    public static final MappingSet EMPTY = new MappingSet(List.of());

    private final Map<Integer, TableMapping> byOid = new HashMap<>();

    /** Of these mappings. */
    public MappingSet(Collection<TableMapping> mappings) {
        mappings.forEach(m -> byOid.put(m.oid(), m));
    }

    /** All mappings. */
    public Collection<TableMapping> all() {
        return byOid.values();
    }

    /** By pg_class.oid. */
    public @Nullable TableMapping byOid(int oid) {
        return byOid.get(oid);
    }
}
