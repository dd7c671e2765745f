package dev.pgnear.cache;

import static dev.pgnear.cache.CacheDriver.hash;
import static dev.pgnear.cache.CacheDriver.key;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Readers against writers, removers, drops, eviction and reclaim. Each value describes itself: its key, its space, its own length and a seed that
 * makes every byte; a torn or foreign value cannot pass.
 */
class OffHeapCacheConcurrencyTest {
    private static final int SPACES = 3;
    private static final long NANOS = 3_000_000_000L;

    private final AtomicLong hits = new AtomicLong();
    private final AtomicBoolean stop = new AtomicBoolean();

    @ParameterizedTest
    @ValueSource(ints = {60, 3000})
    void readersSeeOnlyWholeValuesOfTheirKey(int keys) throws Exception {
        OffHeapCache cache = new OffHeapCache(4 << 20);
        AtomicIntegerArray spaces = new AtomicIntegerArray(SPACES);
        for (int i = 0; i < SPACES; i++) {
            spaces.set(i, cache.newSpace());
        }
        run(
                () -> write(cache, spaces, keys, 1),
                () -> write(cache, spaces, keys, 2),
                () -> read(cache, spaces, keys, 3),
                () -> read(cache, spaces, keys, 4),
                () -> read(cache, spaces, keys, 5),
                () -> drop(cache, spaces));
        assertThat(hits.get()).isGreaterThan(1000);
        CacheVerifier.verify(cache);
        while (cache.reclaim(1000)) {
            Thread.onSpinWait();
        }
        CacheVerifier.verify(cache);
        assertThat(cache.spaces.dead()).isZero();
    }

    @Test
    void whatWasRemovedOrReplacedIsNotSeenAfterwards() throws Exception {
        OffHeapCache cache = new OffHeapCache(8 << 20);
        int space = cache.newSpace();
        AtomicLong[] floors = new AtomicLong[200];
        for (int i = 0; i < floors.length; i++) {
            floors[i] = new AtomicLong();
        }
        run(
                () -> raise(cache, space, floors, 0),
                () -> raise(cache, space, floors, 1),
                () -> checkFloors(cache, space, floors, 7),
                () -> checkFloors(cache, space, floors, 8));
        assertThat(hits.get()).isGreaterThan(1000);
        CacheVerifier.verify(cache);
    }

    @SafeVarargs
    private void run(Callable<Object>... tasks) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(tasks.length)) {
            List<Future<Object>> results = new ArrayList<>();
            for (Callable<Object> task : tasks) {
                results.add(threads.submit(() -> {
                    try {
                        return task.call();
                    } finally {
                        stop.set(true);
                    }
                }));
            }
            for (Future<Object> result : results) {
                Object done = result.get();
            }
        }
    }

    private Object write(OffHeapCache cache, AtomicIntegerArray spaces, int keys, long seed) {
        RandomGenerator random = random(seed);
        long end = System.nanoTime() + NANOS;
        while (!stop.get() && System.nanoTime() < end) {
            int space = spaces.get(random.nextInt(SPACES));
            byte[] key = key(random.nextInt(keys));
            long hash = hash(key);
            byte[] value = random.nextInt(10) == 0 ? null : value(space, key[0], key[1], random);
            cache.lock(hash);
            try {
                if (random.nextInt(5) == 0) {
                    boolean removed = cache.remove(space, hash, key);
                } else {
                    Cache.Put outcome = cache.put(space, hash, key, value, 0, 0);
                    assertThat(outcome).isNotEqualTo(Cache.Put.TOO_LARGE);
                }
            } finally {
                cache.unlock(hash);
            }
        }
        return true;
    }

    private Object read(OffHeapCache cache, AtomicIntegerArray spaces, int keys, long seed) {
        RandomGenerator random = random(seed);
        BytesSink sink = new BytesSink();
        while (!stop.get()) {
            int space = spaces.get(random.nextInt(SPACES));
            byte[] key = key(random.nextInt(keys));
            int length = cache.get(space, hash(key), key, 0, 8, sink);
            if (length >= 0) {
                validate(space, key, length, sink);
                hits.incrementAndGet();
                sink.reset();
            } else {
                assertThat(sink.isUntouched()).isTrue();
            }
        }
        return true;
    }

    private Object drop(OffHeapCache cache, AtomicIntegerArray spaces) {
        RandomGenerator random = random(9);
        while (!stop.get()) {
            int at = random.nextInt(SPACES);
            if (random.nextInt(2000) == 0) {
                long dropped = cache.dropSpace(spaces.get(at));
                assertThat(dropped).isNotNegative();
                spaces.set(at, cache.newSpace());
            }
            boolean more = cache.reclaim(64);
        }
        return true;
    }

    /** Puts ever higher numbers; the floor follows once the put has returned. Between them the entry is removed at times. */
    private Object raise(OffHeapCache cache, int space, AtomicLong[] floors, int half) {
        RandomGenerator random = random(half);
        long end = System.nanoTime() + NANOS;
        while (!stop.get() && System.nanoTime() < end) {
            int at = random.nextInt(floors.length / 2) * 2 + half;
            byte[] key = key(at);
            long hash = hash(key);
            byte[] value = new byte[8 + random.nextInt(random.nextInt(10) == 0 ? 30_000 : 300)];
            long next = floors[at].get() + 1;
            System.arraycopy(key(next), 0, value, 0, 8);
            cache.lock(hash);
            try {
                Cache.Put outcome = cache.put(space, hash, key, value, next, next);
                assertThat(outcome).isEqualTo(Cache.Put.STORED);
            } finally {
                cache.unlock(hash);
            }
            floors[at].set(next);
        }
        return true;
    }

    private Object checkFloors(OffHeapCache cache, int space, AtomicLong[] floors, long seed) {
        RandomGenerator random = random(seed);
        BytesSink sink = new BytesSink();
        while (!stop.get()) {
            int at = random.nextInt(floors.length);
            byte[] key = key(at);
            long floor = floors[at].get();
            int length = cache.get(space, hash(key), key, 0, 8, sink);
            if (length >= 0) {
                long seen = 0;
                for (int i = 7; i >= 0; i--) {
                    seen = seen << 8 | sink.buffer()[i] & 0xFF;
                }
                assertThat(seen).isGreaterThanOrEqualTo(floor);
                assertThat(cache.lsn(space, hash(key), key, 0, 8)).isGreaterThanOrEqualTo(seen);
                hits.incrementAndGet();
                sink.reset();
            }
        }
        return true;
    }

    private static byte[] value(int space, int key0, int key1, RandomGenerator random) {
        int length = 9
                + switch (random.nextInt(12)) {
                    case 0 -> random.nextInt(60_000);
                    case 1, 2 -> random.nextInt(9000);
                    default -> random.nextInt(400);
                };
        byte[] value = new byte[length];
        int seed = random.nextInt(256);
        for (int i = 9; i < length; i++) {
            value[i] = (byte) (seed + i * 7 + (i >>> 8));
        }
        value[0] = (byte) key0;
        value[1] = (byte) key1;
        putInt(value, 2, space);
        value[6] = (byte) length;
        value[7] = (byte) (length >>> 8);
        value[8] = (byte) seed;
        return value;
    }

    private static void validate(int space, byte[] key, int length, BytesSink sink) {
        byte[] value = sink.buffer();
        boolean good = sink.length() == length
                && value[0] == key[0]
                && value[1] == key[1]
                && getInt(value, 2) == space
                && value[6] == (byte) length
                && value[7] == (byte) (length >>> 8);
        for (int i = 9; good && i < length; i++) {
            good = value[i] == (byte) (value[8] + i * 7 + (i >>> 8));
        }
        assertThat(good).as("a whole value of its key").isTrue();
    }

    private static void putInt(byte[] bytes, int at, int value) {
        for (int i = 0; i < 4; i++) {
            bytes[at + i] = (byte) (value >>> 8 * i);
        }
    }

    private static int getInt(byte[] bytes, int at) {
        int value = 0;
        for (int i = 3; i >= 0; i--) {
            value = value << 8 | bytes[at + i] & 0xFF;
        }
        return value;
    }

    private static RandomGenerator random(long seed) {
        return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    }
}
