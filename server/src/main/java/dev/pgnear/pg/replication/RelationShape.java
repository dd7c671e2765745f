package dev.pgnear.pg.replication;

import java.util.List;

/**
 * A table as a Relation message shows it, valid for the row messages after it.
 *
 * @param identity pg_class.relreplident: d default, n nothing, f full, i index
 */
record RelationShape(int oid, String schema, String name, char identity, List<Column> columns) {

    /**
     * @param key whether the column is part of the replica identity
     * @param typeOid pg_attribute.atttypid, a domain's own oid included
     */
    record Column(String name, boolean key, int typeOid) {}

    /** Index of the column in row messages, or -1. */
    int indexOf(String column) {
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).name().equals(column)) {
                return i;
            }
        }
        return -1;
    }

    int keyColumns() {
        return (int) columns.stream().filter(Column::key).count();
    }
}
