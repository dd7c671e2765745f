package dev.pgnear.resp;

import dev.pgnear.base.ValueSink;
import dev.pgnear.cache.Cache;
import dev.pgnear.rows.RowResult;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rows in memory: a table that loads read from, and a cache that hits come from. Keys are {@code row:<name>}; {@code bad...} is malformed.
 * Loads are answered at {@link #flush}, or when the test says so.
 */
final class MemoryRows implements RowSource {
    private record Load(String key, RowResult result) {}

    private final Map<String, byte[]> table = new HashMap<>();
    private final Map<String, @Nullable MemorySegment> cache = new HashMap<>();
    private final Set<String> held = new HashSet<>();
    private final Deque<Load> loads = new ArrayDeque<>();
    private final List<String> slots = new ArrayList<>();
    private boolean tornOnce;
    private boolean answersAtOnce;
    private int reads;
    private int flushes;

    MemoryRows row(String key, String json) {
        table.put(key, json.getBytes(StandardCharsets.UTF_8));
        return this;
    }

    MemoryRows cached(String key, String json) {
        row(key, json);
        cache.put(key, segment(table.get(key)));
        return this;
    }

    private static MemorySegment segment(byte[] bytes) {
        MemorySegment segment = Arena.global().allocate(Math.max(bytes.length, 1));
        MemorySegment.copy(bytes, 0, segment, java.lang.foreign.ValueLayout.JAVA_BYTE, 0, bytes.length);
        return segment.asSlice(0, bytes.length);
    }

    /** Loads of this key wait for {@link #release}. */
    MemoryRows hold(String key) {
        held.add(key);
        return this;
    }

    /** The next hit is copied, found torn and copied again. */
    MemoryRows tearNextHit() {
        tornOnce = true;
        return this;
    }

    /** Loads call back before {@link #load} returns. */
    MemoryRows answerAtOnce() {
        answersAtOnce = true;
        return this;
    }

    void release(String key) {
        held.remove(key);
        answer();
    }

    void fail(String key, String error) {
        held.remove(key);
        loads.removeIf(l -> {
            boolean it = l.key().equals(key);
            if (it) {
                l.result().failed(error);
            }
            return it;
        });
    }

    int databaseReads() {
        return reads;
    }

    int flushes() {
        return flushes;
    }

    int waiting() {
        return loads.size();
    }

    @Override
    public @Nullable String parse(int slot, byte[] bytes, int offset, int length) {
        String key = new String(bytes, offset, length, StandardCharsets.UTF_8);
        while (slots.size() <= slot) {
            slots.add("");
        }
        slots.set(slot, key);
        return key.startsWith("row:")
                ? null
                : key.startsWith("bad") ? "ERR malformed row key" : ParsedRows.NO_KEY_SPACE;
    }

    @Override
    public long identity(int slot) {
        return slots.get(slot).hashCode();
    }

    @Override
    public int read(int slot, ValueSink sink) {
        String key = slots.get(slot);
        if (!cache.containsKey(key)) {
            return Cache.MISS;
        }
        MemorySegment value = cache.get(key);
        if (value == null) {
            return Cache.ABSENT;
        }
        if (tornOnce) {
            tornOnce = false;
            copy(MemorySegment.ofArray(new byte[(int) value.byteSize() + 7]), sink);
            sink.rollback();
        }
        copy(value, sink);
        return (int) value.byteSize();
    }

    /** In two chunks, as from two slabs. */
    private static void copy(MemorySegment value, ValueSink sink) {
        int length = (int) value.byteSize();
        sink.begin(length);
        if (length > 1) {
            sink.chunk(value, 0, length / 2);
        }
        if (length > 0) {
            int from = length > 1 ? length / 2 : 0;
            sink.chunk(value, from, length - from);
        }
    }

    @Override
    public void load(int slot, long deadlineNanos, RowResult result) {
        reads++;
        loads.add(new Load(slots.get(slot), result));
        if (answersAtOnce) {
            answer();
        }
    }

    @Override
    public void flush() {
        flushes++;
        answer();
    }

    private void answer() {
        List<Load> ready = loads.stream().filter(l -> !held.contains(l.key())).toList();
        loads.removeAll(ready);
        for (Load load : ready) {
            byte[] row = table.get(load.key());
            cache.put(load.key(), row == null ? null : segment(row));
            if (row == null) {
                load.result().absent();
            } else {
                load.result().found(row);
            }
        }
    }
}
