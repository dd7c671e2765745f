package dev.pgnear.resp;

import java.util.HashMap;
import java.util.Map;

/** Rows that commands of one connection wait for, by {@link RowSource#identity}, each with the number of its commands. Empty as long as all are hits. */
final class RowsBeingRead {
    private final Map<Long, Integer> readers = new HashMap<>(0);

    boolean contains(long identity) {
        return !readers.isEmpty() && readers.containsKey(identity);
    }

    void add(long identity) {
        readers.merge(identity, 1, Integer::sum);
    }

    void remove(long identity) {
        readers.computeIfPresent(identity, (id, n) -> n == 1 ? null : n - 1);
    }

    void clear() {
        readers.clear();
    }
}
