package dev.pgnear.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.base.KeyHash;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A cache as tests like to talk to it; for one thread. */
final class CacheDriver {
    final OffHeapCache cache;
    private final BytesSink sink = new BytesSink();

    CacheDriver(long budgetBytes) {
        this(new OffHeapCache(budgetBytes));
    }

    CacheDriver(OffHeapCache cache) {
        this.cache = cache;
    }

    static byte[] key(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static byte[] key(long number) {
        byte[] key = new byte[8];
        for (int i = 0; i < 8; i++) {
            key[i] = (byte) (number >>> 8 * i);
        }
        return key;
    }

    static long hash(byte[] key) {
        return KeyHash.of(1, key, 0, key.length);
    }

    Cache.Put put(int space, byte[] key, byte @Nullable [] value) {
        return put(space, key, value, 0, 0);
    }

    Cache.Put put(int space, byte[] key, byte @Nullable [] value, long xmin, long lsn) {
        long hash = hash(key);
        cache.lock(hash);
        try {
            return cache.put(space, hash, key, value, xmin, lsn);
        } finally {
            cache.unlock(hash);
        }
    }

    boolean remove(int space, byte[] key) {
        long hash = hash(key);
        cache.lock(hash);
        try {
            return cache.remove(space, hash, key);
        } finally {
            cache.unlock(hash);
        }
    }

    long xmin(int space, byte[] key) {
        long hash = hash(key);
        cache.lock(hash);
        try {
            return cache.xmin(space, hash, key);
        } finally {
            cache.unlock(hash);
        }
    }

    long lsn(int space, byte[] key) {
        return cache.lsn(space, hash(key), key, 0, key.length);
    }

    /** The result code; the value is dropped. */
    int probe(int space, byte[] key) {
        int result = cache.get(space, hash(key), key, 0, key.length, sink);
        sink.reset();
        return result;
    }

    /** The value, or null if there is none. */
    byte @Nullable [] get(int space, byte[] key) {
        int result = cache.get(space, hash(key), key, 0, key.length, sink);
        if (result < 0) {
            assertThat(sink.isUntouched()).isTrue();
            return null;
        }
        byte[] value = sink.take();
        assertThat(value).hasSize(result);
        return value;
    }

    void reclaimAll() {
        int steps = 0;
        while (cache.reclaim(1000)) {
            assertThat(++steps).as("reclaim comes to an end").isLessThan(100_000);
        }
    }
}
