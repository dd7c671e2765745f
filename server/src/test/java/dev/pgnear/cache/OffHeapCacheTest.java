package dev.pgnear.cache;

import static dev.pgnear.cache.CacheDriver.hash;
import static dev.pgnear.cache.CacheDriver.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgnear.base.Limits;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OffHeapCacheTest {
    private static final long BUDGET = 16 << 20;

    private final CacheDriver driver = new CacheDriver(BUDGET);
    private final OffHeapCache cache = driver.cache;
    private final int space = cache.newSpace();
    private final Random random = new Random(1);

    @AfterEach
    void structureIsSound() {
        CacheVerifier.verify(cache);
    }

    @Test
    void unknownKeysMiss() {
        assertThat(driver.probe(space, key("a"))).isEqualTo(Cache.MISS);
        assertThat(driver.probe(space + 1, key("a"))).isEqualTo(Cache.MISS);
        assertThat(driver.xmin(space, key("a"))).isEqualTo(-1);
        assertThat(driver.lsn(space, key("a"))).isEqualTo(-1);
        assertThat(driver.remove(space, key("a"))).isFalse();
    }

    @Test
    void storesReplacesAndRemoves() {
        assertThat(driver.put(space, key("a"), key("one"), 5, 6)).isEqualTo(Cache.Put.STORED);
        assertThat(driver.get(space, key("a"))).isEqualTo(key("one"));
        assertThat(driver.xmin(space, key("a"))).isEqualTo(5);
        assertThat(driver.lsn(space, key("a"))).isEqualTo(6);
        driver.put(space, key("a"), key("another value"), 7, 8);
        assertThat(driver.get(space, key("a"))).isEqualTo(key("another value"));
        assertThat(driver.xmin(space, key("a"))).isEqualTo(7);
        assertThat(driver.lsn(space, key("a"))).isEqualTo(8);
        assertThat(driver.remove(space, key("a"))).isTrue();
        assertThat(driver.probe(space, key("a"))).isEqualTo(Cache.MISS);
        assertThat(cache.stats().positiveEntries()).isZero();
    }

    @Test
    void keepsProvenAbsences() {
        driver.put(space, key("a"), null, 3, 4);
        assertThat(driver.probe(space, key("a"))).isEqualTo(Cache.ABSENT);
        assertThat(cache.stats().negativeEntries()).isEqualTo(1);
        driver.put(space, key("a"), new byte[0]);
        assertThat(driver.probe(space, key("a"))).isZero();
        assertThat(cache.stats().negativeEntries()).isZero();
        assertThat(cache.stats().positiveEntries()).isEqualTo(1);
        driver.put(space, key("a"), null);
        assertThat(driver.probe(space, key("a"))).isEqualTo(Cache.ABSENT);
    }

    @Test
    void keysAreApartInSpacesAndByEveryByte() {
        int other = cache.newSpace();
        driver.put(space, key("same key"), key("1"));
        driver.put(other, key("same key"), key("2"));
        assertThat(driver.get(space, key("same key"))).isEqualTo(key("1"));
        assertThat(driver.get(other, key("same key"))).isEqualTo(key("2"));
        long hash = hash(key("same key"));
        for (String different : new String[] {"same kez", "tame key", "same ke", "same keyy"}) {
            byte[] k = key(different);
            assertThat(cache.get(space, hash, k, 0, k.length, new BytesSink())).isEqualTo(Cache.MISS);
        }
    }

    @Test
    void equalHashesAreToldApartAndMayBeMany() {
        long hash = 42;
        cache.lock(hash);
        for (int i = 0; i < 500; i++) {
            assertThat(cache.put(space, hash, key(i), key("v" + i), 0, i)).isEqualTo(Cache.Put.STORED);
        }
        cache.unlock(hash);
        for (int i = 0; i < 500; i++) {
            assertThat(cache.lsn(space, hash, key(i), 0, 8)).isEqualTo(i);
            assertThat(cache.get(space, hash, key(i), 0, 8, new BytesSink())).isEqualTo(("v" + i).length());
        }
        assertThat(cache.get(space, hash, key(500), 0, 8, new BytesSink())).isEqualTo(Cache.MISS);
        cache.lock(hash);
        for (int i = 0; i < 500; i += 2) {
            assertThat(cache.remove(space, hash, key(i))).isTrue();
        }
        cache.unlock(hash);
    }

    @Test
    void keysAreReadInPlace() {
        driver.put(space, key("key"), key("value"));
        byte[] frame = key("GET key\r\n");
        assertThat(cache.get(space, hash(key("key")), frame, 4, 3, new BytesSink()))
                .isEqualTo(5);
        assertThat(cache.lsn(space, hash(key("key")), frame, 4, 3)).isZero();
    }

    @Test
    void valuesOfEverySizeComeBackWhole() {
        int[] sizes = {0, 1, 7, 8, 100, 2000, 8000, 8151, 8152, 8153, 16_000, 65_536, 500_000, Limits.CACHED_ROW_BYTES};
        for (int keyLength : new int[] {1, 8, 13, 300, Limits.CACHED_KEY_BYTES}) {
            for (int size : sizes) {
                byte[] key = bytes(keyLength);
                byte[] value = bytes(size);
                assertThat(driver.put(space, key, value)).isEqualTo(Cache.Put.STORED);
                assertThat(driver.get(space, key)).isEqualTo(value);
            }
        }
        for (int size = 8000; size < 8400; size++) {
            byte[] value = bytes(size);
            driver.put(space, key("k"), value);
            assertThat(driver.get(space, key("k"))).isEqualTo(value);
        }
    }

    @Test
    void tooLargeIsCountedAndLeavesNothing() {
        driver.put(space, key("a"), key("old"));
        assertThat(driver.put(space, key("a"), new byte[Limits.CACHED_ROW_BYTES + 1]))
                .isEqualTo(Cache.Put.TOO_LARGE);
        assertThat(driver.probe(space, key("a"))).isEqualTo(Cache.MISS);
        assertThat(driver.put(space, new byte[Limits.CACHED_KEY_BYTES + 1], null))
                .isEqualTo(Cache.Put.TOO_LARGE);
        assertThat(cache.stats().admissionRejections()).isEqualTo(2);
    }

    @Test
    void aDroppedSpaceIsEmptyAtOnceAndItsMemoryComesBack() {
        int other = cache.newSpace();
        for (int i = 0; i < 10_000; i++) {
            driver.put(space, key(i), i % 3 == 0 ? null : bytes(100));
        }
        driver.put(other, key(1), key("stays"));
        long used = cache.stats().usedBytes();
        assertThat(cache.dropSpace(space)).isEqualTo(10_000);
        assertThat(cache.dropSpace(space)).isZero();
        assertThat(driver.probe(space, key(1))).isEqualTo(Cache.MISS);
        assertThat(driver.xmin(space, key(1))).isEqualTo(-1);
        assertThat(driver.lsn(space, key(1))).isEqualTo(-1);
        assertThat(driver.put(space, key(1), key("late"))).isEqualTo(Cache.Put.DROPPED_SPACE);
        assertThat(cache.stats().positiveEntries()).isEqualTo(1);
        assertThat(cache.stats().negativeEntries()).isZero();
        CacheVerifier.verify(cache);
        driver.reclaimAll();
        assertThat(cache.spaces.dead()).isZero();
        assertThat(cache.stats().usedBytes()).isLessThan(used / 2);
        assertThat(driver.get(other, key(1))).isEqualTo(key("stays"));
        assertThat(cache.newSpace()).isGreaterThan(other);
    }

    @Test
    void reclaimWorksInSmallSteps() {
        for (int i = 0; i < 5000; i++) {
            driver.put(space, key(i), null);
        }
        cache.dropSpace(space);
        int steps = 0;
        long before = cache.spaces.dead();
        while (cache.reclaim(100)) {
            assertThat(before - cache.spaces.dead()).isLessThanOrEqualTo(112);
            before = cache.spaces.dead();
            steps++;
        }
        assertThat(steps).isGreaterThan(40);
    }

    @Test
    void theIndexGrowsAndShrinksWithTheEntries() {
        for (int i = 0; i < 60_000; i++) {
            driver.put(space, key(i), null);
        }
        assertThat(cache.partitions[0].index.buckets()).isGreaterThan(150);
        CacheVerifier.verify(cache);
        for (int i = 0; i < 60_000; i++) {
            assertThat(driver.probe(space, key(i))).isEqualTo(Cache.ABSENT);
        }
        for (int i = 0; i < 60_000; i++) {
            assertThat(driver.remove(space, key(i))).isTrue();
        }
        assertThat(cache.partitions[0].index.buckets()).isEqualTo(Index.PAGE_BUCKETS);
    }

    @Test
    void changesNeedTheLock() {
        assertThatThrownBy(() -> cache.put(space, 1, key("a"), null, 0, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> cache.remove(space, 1, key("a"))).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> cache.xmin(space, 1, key("a"))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aTinyBudgetIsRefused() {
        assertThatThrownBy(() -> new OffHeapCache(Limits.MIN_MEMORY_BUDGET_BYTES - 1))
                .hasMessageContaining("at least");
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
