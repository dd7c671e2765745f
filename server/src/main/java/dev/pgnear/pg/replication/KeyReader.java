package dev.pgnear.pg.replication;

import dev.pgnear.pg.catalog.KeyBuffer;
import dev.pgnear.pg.catalog.KeyColumn;
import dev.pgnear.pg.catalog.TableMapping;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the canonical key of one table from its row messages; made for one shape and one mapping.
 *
 * <p>A change of the key itself is seen only if the replica identity holds the whole key: then an UPDATE that moves a row carries the old key,
 * and a DELETE carries the key at all (F36). Anything else makes the table unreadable.
 */
final class KeyReader {
    /** Oids below it are those of PostgreSQL's own types (FirstNormalObjectId). */
    private static final int FIRST_USER_OID = 16384;

    private final TableMapping mapping;
    private final int[] columns;
    private final @Nullable String problem;

    KeyReader(RelationShape shape, TableMapping mapping) {
        this.mapping = mapping;
        List<KeyColumn> key = mapping.key().columns();
        this.columns = key.stream().mapToInt(c -> shape.indexOf(c.name())).toArray();
        this.problem = problem(shape, key);
    }

    private @Nullable String problem(RelationShape shape, List<KeyColumn> key) {
        if (shape.identity() == 'n') {
            return "its replica identity is NOTHING";
        }
        for (int i = 0; i < columns.length; i++) {
            String p = columns[i] < 0
                    ? "key column " + key.get(i).name() + " is not in the stream (renamed, dropped or generated)"
                    : problem(shape.columns().get(columns[i]), key.get(i));
            if (p != null) {
                return p;
            }
        }
        if (shape.identity() == 'd' && shape.keyColumns() != columns.length) {
            return "its primary key has other columns now";
        }
        return null;
    }

    private static @Nullable String problem(RelationShape.Column column, KeyColumn key) {
        if (!column.key()) {
            return "key column " + key.name() + " is not part of its replica identity";
        }
        boolean builtIn = Integer.compareUnsigned(column.typeOid(), FIRST_USER_OID) < 0;
        return builtIn && column.typeOid() != key.baseTypeOid()
                ? "key column " + key.name() + " has another type now"
                : null;
    }

    TableMapping mapping() {
        return mapping;
    }

    /** Why no key can be read, or null. */
    @Nullable
    String problem() {
        return problem;
    }

    /**
     * Appends the key of a row.
     *
     * @param before the old row of the same message, where the values are that the new row left out as unchanged
     * @return false if this row's key cannot be told; the contents of {@code out} are then undefined
     */
    boolean read(TupleData row, @Nullable TupleData before, KeyBuffer out) {
        for (int i = 0; i < columns.length; i++) {
            if (!append(i, row, before, out)) {
                return false;
            }
        }
        return true;
    }

    private boolean append(int i, TupleData row, @Nullable TupleData before, KeyBuffer out) {
        int c = columns[i];
        if (c >= row.columns()) {
            return false;
        }
        return switch (row.kind(c)) {
            case TupleData.BINARY -> appendBinary(i, row, c, out);
            case TupleData.TEXT -> mapping.key().appendText(i, row.bytes(), row.offset(c), row.length(c), out);
            case TupleData.UNCHANGED -> before != null && append(i, before, null, out);
            default -> false;
        };
    }

    /** A value that its type's codec does not understand is a key that cannot be told, not the end of the stream. */
    private boolean appendBinary(int i, TupleData row, int c, KeyBuffer out) {
        try {
            mapping.key().appendBinary(i, row.bytes(), row.offset(c), row.length(c), out);
            return true;
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            return false;
        }
    }
}
