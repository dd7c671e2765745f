package dev.pgnear.pg.replication;

import dev.pgnear.coherence.CommittedTransaction;
import dev.pgnear.coherence.StreamTestRelations;
import dev.pgnear.pg.catalog.KeyCodec;
import dev.pgnear.pg.catalog.KeyColumn;
import dev.pgnear.pg.catalog.KeyType;
import dev.pgnear.pg.catalog.StreamTables;
import dev.pgnear.pg.catalog.TableMapping;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Mappings by oid, with int8 keys, and a record of what the stream said. */
final class TestTables implements StreamTables {
    final Map<Integer, TableMapping> mappings = new ConcurrentHashMap<>();
    final List<String> unreadable = new CopyOnWriteArrayList<>();
    final List<String> messages = new CopyOnWriteArrayList<>();
    private final AtomicInteger ids = new AtomicInteger();

    TableMapping add(int oid, String table, String... keyColumns) {
        List<KeyColumn> key = java.util.Arrays.stream(keyColumns)
                .map(c -> new KeyColumn(c, 1, "bigint", 20, KeyType.INT8))
                .toList();
        TableMapping m = new TableMapping(
                oid,
                "public",
                table,
                null,
                false,
                new KeyCodec(key),
                StreamTestRelations.of(ids.incrementAndGet(), table),
                null);
        mappings.put(oid, m);
        return m;
    }

    @Override
    public @Nullable TableMapping byOid(int oid) {
        return mappings.get(oid);
    }

    @Override
    public void unreadable(int oid, String reason) {
        unreadable.add(mappings.get(oid).table() + ": " + reason);
    }

    @Override
    public void message(String content, CommittedTransaction transaction) {
        messages.add(content);
        if (content.equals("invalidate all")) {
            mappings.values().forEach(m -> transaction.relation(m.relation()));
        }
    }
}
