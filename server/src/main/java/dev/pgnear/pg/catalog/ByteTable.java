package dev.pgnear.pg.catalog;

import dev.pgnear.base.KeyHash;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Immutable map from UTF-8 names to values that is asked with a range of a byte array and allocates nothing: open addressing, half full. */
final class ByteTable<V> {
    private final byte[] @Nullable [] names;
    private final @Nullable Object[] values;

    ByteTable(Map<String, V> entries) {
        int size = Integer.highestOneBit(Math.max(entries.size(), 1)) * 4;
        names = new byte[size][];
        values = new Object[size];
        entries.forEach((name, value) -> {
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            int at = slot(bytes, 0, bytes.length);
            names[at] = bytes;
            values[at] = value;
        });
    }

    @SuppressWarnings("unchecked") // only the constructor fills it
    @Nullable
    V get(byte[] source, int offset, int length) {
        return (V) values[slot(source, offset, length)];
    }

    /** Where the name is, or would be. */
    private int slot(byte[] source, int offset, int length) {
        int at = (int) KeyHash.of(0, source, offset, length) & names.length - 1;
        for (; ; at = at + 1 & names.length - 1) {
            byte[] name = names[at];
            if (name == null || Arrays.equals(name, 0, name.length, source, offset, offset + length)) {
                return at;
            }
        }
    }
}
