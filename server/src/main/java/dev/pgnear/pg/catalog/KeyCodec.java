package dev.pgnear.pg.catalog;

import dev.pgnear.base.Check;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Canonical bytes of a table's keys: equal bytes exactly where PostgreSQL's {@code =} calls keys equal, for every spelling and for both of
 * PostgreSQL's formats. One key is its columns one after the other, in key order:
 *
 * <ul>
 *   <li>int2, int4, int8, date, timestamp, timestamptz, uuid: the binary send format (big-endian numbers, 16 bytes). It is unique per value.
 *   <li>text, varchar, bytea, enum: the bytes themselves (an enum's are its label's). A deterministic collation's {@code =} compares bytes.
 *   <li>bpchar: without trailing spaces, which {@code bpchareq} ignores.
 *   <li>numeric: see {@link NumericKeys}; the scale is no part of the value.
 * </ul>
 *
 * Values of variable length have their length before them ({@link KeyBuffer#appendLength}), except in the last column.
 *
 * <p>A value given as text is read as PostgreSQL's input function of the column's <em>base type</em> would read it, without the type modifier:
 * in {@code WHERE k = '1.234'} PostgreSQL does the same, the literal is not rounded to a {@code numeric(10,2)} column's scale, nor cut to the
 * length of {@code varchar(n)}, nor checked against a domain's constraints. Such a key simply finds no row.
 *
 * <p>Immutable; safe for any thread.
 */
public final class KeyCodec {
    private final List<KeyColumn> columns;
    private final byte[][] names;

    /** For the columns of one primary key, in key order. */
    public KeyCodec(List<KeyColumn> columns) {
        Check.that(!columns.isEmpty(), "a key has at least one column");
        this.columns = List.copyOf(columns);
        this.names = columns.stream()
                .map(c -> c.name().getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    /** Index of the column with this name in UTF-8, or -1. */
    public int column(byte[] source, int offset, int length) {
        for (int i = 0; i < names.length; i++) {
            if (Arrays.equals(names[i], 0, names[i].length, source, offset, offset + length)) {
                return i;
            }
        }
        return -1;
    }

    /** Columns in key order. */
    public List<KeyColumn> columns() {
        return columns;
    }

    /**
     * Appends a value in PostgreSQL's binary send format (as pgoutput with {@code binary} and binary results have it).
     *
     * @throws IllegalArgumentException if the bytes cannot be a value of the column's type
     */
    public void appendBinary(int column, byte[] source, int offset, int length, KeyBuffer out) {
        KeyType type = columns.get(column).type();
        if (type.width() != 0) {
            if (length != type.width()) {
                throw new IllegalArgumentException(type + " of " + length + " bytes");
            }
            out.append(source, offset, length);
        } else if (type == KeyType.NUMERIC) {
            NumericKeys.fromBinary(source, offset, length, out, isLast(column));
        } else {
            appendBytes(column, source, offset, length, out);
        }
    }

    /**
     * Appends a value given as text: exact for the usual spellings.
     *
     * @return false if only PostgreSQL can tell what this spelling means, or if it means nothing; nothing was appended then
     */
    public boolean appendText(int column, byte[] utf8, int offset, int length, KeyBuffer out) {
        KeyType type = columns.get(column).type();
        return switch (type) {
            case INT2, INT4, INT8 -> IntegerText.append(utf8, offset, length, type.width(), out);
            case UUID -> UuidText.append(utf8, offset, length, out);
            case NUMERIC -> NumericKeys.fromText(utf8, offset, length, out, isLast(column));
            case DATE -> DateTimeText.appendDate(utf8, offset, length, out);
            case TIMESTAMP -> DateTimeText.appendTimestamp(utf8, offset, length, out);
            case TIMESTAMPTZ -> DateTimeText.appendTimestampTz(utf8, offset, length, out);
            case BYTEA -> appendBytea(column, utf8, offset, length, out);
            case TEXT, VARCHAR, BPCHAR, ENUM ->
                Utf8.isText(utf8, offset, length) && appendBytes(column, utf8, offset, length, out);
        };
    }

    /**
     * The reverse: each column's value in PostgreSQL's binary format, fit for a parameter of the column's base type.
     *
     * @param key canonical bytes made by this codec
     */
    public byte[][] toBinary(byte[] key) {
        byte[][] values = new byte[columns.size()][];
        int at = 0;
        for (int i = 0; i < values.length; i++) {
            KeyType type = columns.get(i).type();
            int length = type.width();
            if (length == 0) {
                length = isLast(i) ? key.length - at : readLength(key, at);
                at += isLast(i) ? 0 : lengthBytes(length);
            }
            values[i] = type == KeyType.NUMERIC ? NumericKeys.toBinary(key, at, length) : slice(key, at, length);
            at += length;
        }
        Check.that(at == key.length, "a canonical key ends with its last column");
        return values;
    }

    private boolean isLast(int column) {
        return column == columns.size() - 1;
    }

    private boolean appendBytes(int column, byte[] source, int offset, int length, KeyBuffer out) {
        int n = length;
        if (columns.get(column).type() == KeyType.BPCHAR) {
            while (n > 0 && source[offset + n - 1] == ' ') {
                n--;
            }
        }
        if (!isLast(column)) {
            out.appendLength(n);
        }
        out.append(source, offset, n);
        return true;
    }

    /** Hex format, or escape format where it is plain ASCII without any escape; everything else is PostgreSQL's (datatype "Binary Data Types"). */
    private boolean appendBytea(int column, byte[] s, int offset, int length, KeyBuffer out) {
        if (length >= 2 && s[offset] == '\\' && s[offset + 1] == 'x') {
            return appendHex(column, s, offset + 2, length - 2, out);
        }
        for (int i = offset; i < offset + length; i++) {
            if (s[i] <= 0 || s[i] == '\\') {
                return false;
            }
        }
        return appendBytes(column, s, offset, length, out);
    }

    private boolean appendHex(int column, byte[] s, int offset, int length, KeyBuffer out) {
        if ((length & 1) != 0) {
            return false;
        }
        int before = out.length();
        if (!isLast(column)) {
            out.appendLength(length / 2);
        }
        for (int i = offset; i < offset + length; i += 2) {
            int b = UuidText.hexPair(s[i], s[i + 1]);
            if (b < 0) {
                out.truncate(before);
                return false;
            }
            out.append(b);
        }
        return true;
    }

    private static int readLength(byte[] key, int offset) {
        int value = 0;
        for (int i = offset, shift = 0; ; i++, shift += 7) {
            value |= (key[i] & 0x7F) << shift;
            if (key[i] >= 0) {
                return value;
            }
        }
    }

    private static int lengthBytes(int value) {
        return value == 0 ? 1 : (38 - Integer.numberOfLeadingZeros(value)) / 7;
    }

    private static byte[] slice(byte[] source, int offset, int length) {
        byte[] copy = new byte[length];
        System.arraycopy(source, offset, copy, 0, length);
        return copy;
    }
}
