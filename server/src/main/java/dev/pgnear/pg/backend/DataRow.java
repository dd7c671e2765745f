package dev.pgnear.pg.backend;

import dev.pgnear.pg.wire.PgProtocolException;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * Cursor over one DataRow message, read in place. One object per connection, pointed at row after row: valid only during
 * {@link ResultHandler#row}. Columns count from 0; a wrong column number or a length that does not fit the asked type is a programmer's
 * error (IllegalArgumentException). Source: PostgreSQL documentation, "Message Formats", DataRow.
 */
public final class DataRow {
    private static final ByteBuf NONE = io.netty.buffer.Unpooled.EMPTY_BUFFER;

    private ByteBuf in = NONE;
    private int columns;
    private int[] starts = new int[16];
    private int[] lengths = new int[16];

    DataRow() {}

    /**
     * @throws PgProtocolException if the columns do not fill the body exactly
     */
    void point(ByteBuf buffer, int index, int length) {
        int end = index + length;
        int i = index + 2;
        int n = length < 2 ? -1 : buffer.getUnsignedShort(index);
        if (n < 0 || (long) n * 4 > length - 2) {
            throw malformed();
        }
        reserve(n);
        for (int c = 0; c < n; c++) {
            int bytes = i > end - 4 ? Integer.MIN_VALUE : buffer.getInt(i);
            if (bytes < -1 || bytes > end - i - 4) {
                throw malformed();
            }
            starts[c] = i + 4;
            lengths[c] = bytes;
            i += 4 + Math.max(bytes, 0);
        }
        if (i != end) {
            throw malformed();
        }
        in = buffer;
        columns = n;
    }

    private static PgProtocolException malformed() {
        return new PgProtocolException("the columns of a DataRow do not add up to its length");
    }

    private void reserve(int n) {
        if (n > starts.length) {
            starts = new int[n];
            lengths = new int[n];
        }
    }

    void release() {
        in = NONE;
        columns = 0;
    }

    /** Number of columns. */
    public int columns() {
        return columns;
    }

    public boolean isNull(int column) {
        return lengths[checked(column)] < 0;
    }

    /** Bytes of the value; -1 for NULL. */
    public int length(int column) {
        return lengths[checked(column)];
    }

    /** {@code bool}. */
    public boolean getBoolean(int column) {
        return in.getByte(fixed(column, 1)) != 0;
    }

    /** {@code int2}. */
    public short getShort(int column) {
        return in.getShort(fixed(column, 2));
    }

    /** {@code int4}, or an {@code oid} as its 32 bits. */
    public int getInt(int column) {
        return in.getInt(fixed(column, 4));
    }

    /** {@code int8}, {@code xid8}, {@code pg_lsn}. */
    public long getLong(int column) {
        return in.getLong(fixed(column, 8));
    }

    /** {@code text} and its like. */
    public String getString(int column) {
        return in.toString(starts[column], present(column), StandardCharsets.UTF_8);
    }

    /** A copy of the value. */
    public byte[] getBytes(int column) {
        byte[] copy = new byte[present(column)];
        in.getBytes(starts[column], copy);
        return copy;
    }

    /** Copies the whole value to {@code to} from {@code offset} on. */
    public void getBytes(int column, byte[] to, int offset) {
        in.getBytes(starts[column], to, offset, present(column));
    }

    /** Appends the whole value to {@code to}. */
    public void getBytes(int column, ByteBuf to) {
        to.writeBytes(in, starts[column], present(column));
    }

    /** The buffer with the row, to be read by index from {@link #index} on and never kept. */
    public ByteBuf buffer() {
        return in;
    }

    /** Where the value begins in {@link #buffer}. */
    public int index(int column) {
        return starts[checked(column)];
    }

    private int fixed(int column, int bytes) {
        if (lengths[checked(column)] != bytes) {
            throw new IllegalArgumentException(
                    "column " + column + " has " + lengths[column] + " bytes where " + bytes + " were asked for");
        }
        return starts[column];
    }

    private int present(int column) {
        int bytes = lengths[checked(column)];
        if (bytes < 0) {
            throw new IllegalArgumentException("column " + column + " is NULL");
        }
        return bytes;
    }

    private int checked(int column) {
        if (column < 0 || column >= columns) {
            throw new IllegalArgumentException("column " + column + " of " + columns);
        }
        return column;
    }
}
