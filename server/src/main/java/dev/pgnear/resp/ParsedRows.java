package dev.pgnear.resp;

import dev.pgnear.base.Limits;
import dev.pgnear.base.ValueSink;
import dev.pgnear.rows.KeyParser;
import dev.pgnear.rows.RowReads;
import dev.pgnear.rows.RowResult;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The attached tables: keys are parsed into reusable slots, made when a command first needs so many. */
public final class ParsedRows implements RowSource {
    /** A key that is no row's, as long as there is nowhere else to look. */
    static final String NO_KEY_SPACE =
            "ERR no key space is configured; only keys of rows exist: CRUD:<database>.<schema>.<table>:{\"<key column>\":<value>} or <alias>:<value>";

    private final KeyParser parser;
    private final RowReads reads;
    private KeyParser.Key[] keys = {new KeyParser.Key()};

    /** Of one loop's parser and reads. */
    public ParsedRows(KeyParser parser, RowReads reads) {
        this.parser = parser;
        this.reads = reads;
    }

    @Override
    public @Nullable String parse(int slot, byte[] bytes, int offset, int length) {
        KeyParser.Key key = key(slot);
        return switch (parser.parse(bytes, offset, length, key)) {
            case ROW, NEEDS_POSTGRES -> null;
            case NOT_A_ROW -> NO_KEY_SPACE;
            case ERROR -> key.error();
        };
    }

    private KeyParser.Key key(int slot) {
        if (slot >= keys.length) {
            int old = keys.length;
            keys = Arrays.copyOf(keys, Math.min(Math.max(2 * old, slot + 1), Limits.MGET_KEYS));
            Arrays.setAll(keys, i -> i < old ? keys[i] : new KeyParser.Key());
        }
        return keys[slot];
    }

    @Override
    public long identity(int slot) {
        return keys[slot].hash();
    }

    @Override
    public int read(int slot, ValueSink sink) {
        return reads.read(keys[slot], sink);
    }

    @Override
    public void load(int slot, long deadlineNanos, RowResult result) {
        reads.load(keys[slot], deadlineNanos, result);
    }

    @Override
    public void flush() {
        reads.flush();
    }
}
