package dev.pgnear.rows;

import dev.pgnear.coherence.Coherence;
import dev.pgnear.coherence.CommittedTransaction;
import dev.pgnear.pg.catalog.InvalidationScopes;
import dev.pgnear.pg.catalog.MappingSet;
import dev.pgnear.pg.catalog.TableMapping;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

/** What the scopes of INVALIDATE mean, for a client's command on this node and for {@code local_cache.invalidate} in the stream. */
public final class RowScopes implements RowAdmin, InvalidationScopes {
    private final String database;
    private final Coherence coherence;
    private final Supplier<MappingSet> mappings;

    /** For the given database. */
    public RowScopes(String database, Coherence coherence, Supplier<MappingSet> mappings) {
        this.database = database;
        this.coherence = coherence;
        this.mappings = mappings;
    }

    /** Whole tables, or one key of one. */
    private record Scope(Collection<TableMapping> tables, KeyParser.Key key) {}

    @Override
    public long invalidate(String scope) {
        Scope found = find(scope, mappings.get());
        KeyParser.Key key = found.key;
        if (key.kind() == KeyParser.Kind.ROW) {
            return coherence.invalidate(
                            key.mapping().relation(),
                            key.hash(),
                            key.canonical().toArray())
                    ? 1
                    : 0;
        }
        long dropped = 0;
        for (TableMapping m : found.tables) {
            dropped += coherence.invalidate(m.relation());
        }
        return dropped;
    }

    @Override
    public void addTo(CommittedTransaction transaction, String scope, MappingSet set) {
        try {
            Scope found = find(scope, set);
            if (found.key.kind() == KeyParser.Kind.ROW) {
                transaction.key(
                        found.key.mapping().relation(), found.key.canonical().toArray());
            } else {
                found.tables.forEach(m -> transaction.relation(m.relation()));
            }
        } catch (ScopeException e) {
            // Another node's alias, or a table that is no longer attached: nothing here is cached under that name.
        }
    }

    private Scope find(String scope, MappingSet set) {
        KeyParser.Key key = new KeyParser.Key();
        if (scope.equals("CRUD") || scope.equals("CRUD:" + database)) {
            return new Scope(set.all(), key);
        }
        byte[] utf8 = scope.getBytes(StandardCharsets.UTF_8);
        if (scope.startsWith("CRUD:")) {
            RowName name = RowName.read(utf8, 5, utf8.length);
            if (name != null && name.end() == utf8.length) {
                return new Scope(table(name, set), key);
            }
        }
        return switch (new KeyParser(database, () -> set).parse(utf8, 0, utf8.length, key)) {
            case ROW -> new Scope(List.of(), key);
            // Which row is meant only PostgreSQL can tell: all of the table's entries go, its row among them.
            case NEEDS_POSTGRES -> new Scope(List.of(key.mapping()), key);
            case NOT_A_ROW ->
                throw new ScopeException(
                        "ERR invalid scope: expected CRUD, CRUD:<database>, CRUD:<database>.<schema>.<table> or the key of a row");
            case ERROR -> throw new ScopeException(key.error());
        };
    }

    private List<TableMapping> table(RowName name, MappingSet set) {
        List<String> parts = name.parts();
        if (!parts.get(0).equals(database)) {
            throw new ScopeException(RowErrors.oneLine(RowName.wrongDatabase(parts.get(0), database)));
        }
        if (parts.size() == 1) {
            return List.copyOf(set.all());
        }
        TableMapping mapping = parts.size() == 3 ? set.byName(parts.get(1), parts.get(2)) : null;
        if (mapping == null) {
            throw new ScopeException(RowErrors.oneLine(
                    parts.size() == 3
                            ? RowName.notAttached(parts.get(1), parts.get(2))
                            : "ERR invalid scope: expected CRUD, CRUD:<database> or CRUD:<database>.<schema>.<table>"));
        }
        return List.of(mapping);
    }
}
