package dev.pgnear.pg.catalog;

import java.util.List;

/** Canonical bytes of a table's keys: equal bytes exactly where PostgreSQL's {@code =} calls keys equal. */
public final class KeyCodec {
    private final List<KeyColumn> columns;

    /** For the columns of one primary key, in key order. */
    public KeyCodec(List<KeyColumn> columns) {
        this.columns = List.copyOf(columns);
    }

    /** Columns in key order. */
    public List<KeyColumn> columns() {
        return columns;
    }

    /** Appends a value in PostgreSQL's binary send format (as pgoutput with {@code binary} and binary results have it). */
    public void appendBinary(int column, byte[] source, int offset, int length, KeyBuffer out) {
        throw new UnsupportedOperationException();
    }

    /**
     * Appends a value given as text.
     *
     * @return false if only PostgreSQL can tell what this spelling means; nothing was appended then
     */
    public boolean appendText(int column, byte[] utf8, int offset, int length, KeyBuffer out) {
        throw new UnsupportedOperationException();
    }
}
