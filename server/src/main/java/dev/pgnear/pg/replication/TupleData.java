package dev.pgnear.pg.replication;

/**
 * Where the columns of one row lie in the message that is being decoded (TupleData in "Logical Replication Message Formats"). Reused; valid
 * until the next message.
 */
final class TupleData {
    /** MaxTupleAttributeNumber of PostgreSQL. */
    private static final int MAX_COLUMNS = 1664;

    static final byte NULL = 'n';
    static final byte UNCHANGED = 'u';
    static final byte TEXT = 't';
    static final byte BINARY = 'b';

    private final byte[] kinds = new byte[MAX_COLUMNS];
    private final int[] offsets = new int[MAX_COLUMNS];
    private final int[] lengths = new int[MAX_COLUMNS];
    private byte[] bytes = new byte[0];
    private int columns;

    TupleData read(MessageReader in) throws StreamProtocolException {
        bytes = in.bytes();
        columns = in.u16();
        if (columns > MAX_COLUMNS) {
            throw new StreamProtocolException("a row with " + columns + " columns");
        }
        for (int i = 0; i < columns; i++) {
            column(i, in);
        }
        return this;
    }

    private void column(int i, MessageReader in) throws StreamProtocolException {
        byte kind = (byte) in.u8();
        kinds[i] = kind;
        switch (kind) {
            case NULL, UNCHANGED -> lengths[i] = 0;
            case TEXT, BINARY -> {
                lengths[i] = in.i32();
                offsets[i] = in.take(lengths[i]);
            }
            default -> throw new StreamProtocolException("a column value of unknown kind " + kind);
        }
    }

    int columns() {
        return columns;
    }

    byte kind(int column) {
        return kinds[column];
    }

    byte[] bytes() {
        return bytes;
    }

    int offset(int column) {
        return offsets[column];
    }

    int length(int column) {
        return lengths[column];
    }
}
