package dev.pgnear.pg.catalog;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Immutable: all attached tables as this node knows them at one moment, by oid, by name and by alias. */
public final class MappingSet {
    /** No tables. */
    public static final MappingSet EMPTY = new MappingSet(List.of());

    private final Map<Integer, TableMapping> byOid;
    private final Map<String, TableMapping> byName;
    private final ByteTable<TableMapping> plainNames;
    private final ByteTable<TableMapping> aliases;

    /** Of these mappings, whose oids, names and aliases differ. */
    public MappingSet(Collection<TableMapping> mappings) {
        Map<Integer, TableMapping> oids = new HashMap<>();
        Map<String, TableMapping> names = new HashMap<>();
        Map<String, TableMapping> plain = new HashMap<>();
        Map<String, TableMapping> short1 = new HashMap<>();
        for (TableMapping m : mappings) {
            oids.put(m.oid(), m);
            names.put(m.schema() + '\0' + m.table(), m);
            if (isPlain(m.schema()) && isPlain(m.table())) {
                plain.put(m.schema() + '.' + m.table(), m);
            }
            if (m.alias() != null) {
                short1.put(m.alias(), m);
            }
        }
        byOid = Collections.unmodifiableMap(oids);
        byName = names;
        plainNames = new ByteTable<>(plain);
        aliases = new ByteTable<>(short1);
    }

    /** Whether row keys may hold the name without quotes: it has no dot, colon or double quote. */
    public static boolean isPlain(String name) {
        return name.indexOf('.') < 0 && name.indexOf(':') < 0 && name.indexOf('"') < 0;
    }

    /** All mappings. */
    public Collection<TableMapping> all() {
        return byOid.values();
    }

    /** By pg_class.oid. */
    public @Nullable TableMapping byOid(int oid) {
        return byOid.get(oid);
    }

    /** By the table's names as they stand in the catalog. */
    public @Nullable TableMapping byName(String schema, String table) {
        return byName.get(schema + '\0' + table);
    }

    /** By {@code schema.table} in UTF-8, both {@linkplain #isPlain plain}. */
    public @Nullable TableMapping byPlainName(byte[] source, int offset, int length) {
        return plainNames.get(source, offset, length);
    }

    /** By alias, in UTF-8. */
    public @Nullable TableMapping byAlias(byte[] source, int offset, int length) {
        return aliases.get(source, offset, length);
    }
}
