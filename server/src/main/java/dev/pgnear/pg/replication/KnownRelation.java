package dev.pgnear.pg.replication;

import dev.pgnear.pg.catalog.StreamTables;
import dev.pgnear.pg.catalog.TableMapping;
import org.jspecify.annotations.Nullable;

/** A relation's shape with the reader made for its mapping. A mapping is immutable, so a new one asks for a new reader. */
final class KnownRelation {
    private final RelationShape shape;
    private @Nullable KeyReader reader;

    KnownRelation(RelationShape shape) {
        this.shape = shape;
    }

    /** The reader for this mapping; tells the tables, once for each, when the key cannot be read. */
    KeyReader reader(TableMapping mapping, StreamTables tables) {
        KeyReader r = reader;
        if (r == null || r.mapping() != mapping) {
            r = new KeyReader(shape, mapping);
            reader = r;
            if (r.problem() != null) {
                tables.unreadable(shape.oid(), r.problem());
            }
        }
        return r;
    }
}
