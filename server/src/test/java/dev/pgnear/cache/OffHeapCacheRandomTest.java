package dev.pgnear.cache;

import static dev.pgnear.cache.CacheDriver.key;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random operations against a map; an entry of the map may be missing in the cache (evicted), never differ, and nothing else may be there. */
class OffHeapCacheRandomTest {
    private static final int OPERATIONS = 150_000;

    private record Id(int space, long key) {}

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void behavesLikeAMapThatForgets(long seed) {
        Random random = new Random(seed);
        CacheDriver driver = new CacheDriver((4L << 20) + random.nextInt(8 << 20));
        Map<Id, Optional<byte[]>> model = new HashMap<>();
        List<Integer> spaces = new ArrayList<>(List.of(driver.cache.newSpace(), driver.cache.newSpace()));
        int keys = 1000 << random.nextInt(5);
        int typicalBytes = 20 << random.nextInt(7);
        for (int i = 0; i < OPERATIONS; i++) {
            int space = spaces.get(random.nextInt(spaces.size()));
            Id id = new Id(space, random.nextInt(keys));
            switch (random.nextInt(20)) {
                case 0, 1 -> remove(driver, model, id);
                case 2 -> put(driver, model, id, null);
                case 3, 4, 5, 6, 7, 8, 9 -> put(driver, model, id, value(random, typicalBytes));
                default -> check(driver, model, id);
            }
            if (i % 20_000 == 7777) {
                int dropped = spaces.removeFirst();
                driver.cache.dropSpace(dropped);
                model.keySet().removeIf(m -> m.space == dropped);
                spaces.add(driver.cache.newSpace());
            }
            if (i % 10_000 == 0) {
                CacheVerifier.verify(driver.cache);
            }
            if (i % 100 == 0) {
                boolean more = driver.cache.reclaim(50);
            }
        }
        model.keySet().forEach(id -> check(driver, model, id));
        CacheStats stats = driver.cache.stats();
        assertThat(stats.positiveEntries() + stats.negativeEntries()).isLessThanOrEqualTo(model.size());
        if (stats.evictions() == 0) {
            assertThat(stats.positiveEntries() + stats.negativeEntries()).isEqualTo(model.size());
        }
        CacheVerifier.verify(driver.cache);
    }

    private static byte[] value(Random random, int typicalBytes) {
        int bytes = (int) (typicalBytes * Math.exp(random.nextGaussian()));
        byte[] value = new byte[random.nextInt(2000) == 0 ? random.nextInt(300_000) : bytes];
        random.nextBytes(value);
        return value;
    }

    private static void put(CacheDriver driver, Map<Id, Optional<byte[]>> model, Id id, byte @Nullable [] value) {
        long tag = value == null ? -7 : value.length;
        Cache.Put outcome = driver.put(id.space, key(id.key), value, tag, tag);
        if (outcome == Cache.Put.STORED) {
            model.put(id, Optional.ofNullable(value));
        } else {
            assertThat(outcome).isEqualTo(Cache.Put.NO_ROOM);
            model.remove(id);
        }
        check(driver, model, id);
    }

    private static void remove(CacheDriver driver, Map<Id, Optional<byte[]>> model, Id id) {
        boolean was = driver.remove(id.space, key(id.key));
        boolean shouldBe = model.remove(id) != null;
        assertThat(was && !shouldBe).isFalse();
        assertThat(driver.probe(id.space, key(id.key))).isEqualTo(Cache.MISS);
    }

    private static void check(CacheDriver driver, Map<Id, Optional<byte[]>> model, Id id) {
        int found = driver.probe(id.space, key(id.key));
        if (found == Cache.MISS) {
            assertThat(driver.cache.stats().evictions() > 0 || !model.containsKey(id))
                    .isTrue();
            return;
        }
        Optional<byte[]> known = model.get(id);
        assertThat(known).as("entry that nobody put").isNotNull();
        byte[] expected = known == null ? null : known.orElse(null);
        assertThat(found).isEqualTo(expected == null ? Cache.ABSENT : expected.length);
        assertThat(driver.get(id.space, key(id.key))).isEqualTo(expected);
        assertThat(driver.xmin(id.space, key(id.key))).isEqualTo(expected == null ? -7 : expected.length);
    }
}
