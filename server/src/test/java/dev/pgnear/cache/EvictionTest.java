package dev.pgnear.cache;

import static dev.pgnear.cache.CacheDriver.key;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.base.Check;
import dev.pgnear.memory.SizeClasses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EvictionTest {
    private static final long BUDGET = 16 << 20;

    private final CacheDriver driver = new CacheDriver(BUDGET);
    private final OffHeapCache cache = driver.cache;
    private final int space = cache.newSpace();

    @AfterEach
    void structureIsSound() {
        CacheVerifier.verify(cache);
    }

    @Test
    void nothingIsEvictedWhileThereIsRoom() {
        int rows = (int) (BUDGET * 85 / 100 / (100 + 8 + 64));
        put(0, rows, 100);
        assertThat(cache.stats().evictions()).isZero();
        assertThat(hits(0, rows)).isEqualTo(rows);
    }

    @Test
    void aLargeBudgetTakesNoMemoryBeforeItIsUsed() throws IOException {
        long before = residentBytes();
        OffHeapCache large = new OffHeapCache(8L << 30);
        new CacheDriver(large).put(large.newSpace(), key(1), new byte[1000]);
        assertThat(residentBytes() - before).isLessThan(256 << 20);
        CacheVerifier.verify(large);
    }

    /** Resident memory of this process: the second field of {@code /proc/self/statm}, in pages. */
    private static long residentBytes() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ", -1)[1]) * 4096;
    }

    @Test
    void overheadIsAtMost64BytesPerEntry() {
        for (int bytes : new int[] {20, 100, 150, 271, 1000}) {
            CacheDriver other = new CacheDriver(64 << 20);
            int s = other.cache.newSpace();
            int rows = 40_000;
            for (int i = 0; i < rows; i++) {
                other.put(s, key(i), new byte[bytes]);
            }
            long overhead = other.cache.stats().usedBytes() / rows - bytes - 8;
            assertThat(other.cache.stats().evictions()).isZero();
            assertThat(overhead).as("overhead of rows of " + bytes).isLessThanOrEqualTo(64 + bytes / 8);
        }
    }

    @Test
    void churnAtFourTimesTheBudgetStaysWithinItAndNeverRefuses() {
        Random random = new Random(3);
        int rows = (int) (4 * BUDGET / 200);
        long most = 0;
        for (int i = 0; i < 3 * rows; i++) {
            store(random.nextInt(rows), random.nextInt(400));
            most = Math.max(most, cache.stats().usedBytes());
        }
        assertThat(most).isLessThanOrEqualTo(BUDGET);
        assertThat(cache.stats().usedBytes()).isGreaterThan(BUDGET * 9 / 10);
        assertThat(cache.stats().positiveEntries() * 208)
                .as("keys and values, with some dozens of classes in a small budget")
                .isGreaterThan(BUDGET * 60 / 100);
    }

    @Test
    void theBudgetFollowsFromSmallRowsToLargeOnes() {
        int small = (int) (2 * BUDGET / 150);
        put(0, small, 100);
        int large = (int) (3 * BUDGET / 2048);
        put(small, small + large, 2048);
        assertThat(cache.stats().usedBytes()).isGreaterThan(BUDGET * 95 / 100);
        long useful = hits(small, small + large) * chunkBytes(2048);
        assertThat(useful).as("bytes of large rows").isGreaterThan(BUDGET * 90 / 100);
    }

    @Test
    void theBudgetFollowsFromLargeRowsToSmallOnes() {
        put(0, (int) (2 * BUDGET / 2048), 2048);
        int small = (int) (3 * BUDGET / 150);
        put(1_000_000, 1_000_000 + small, 100);
        assertThat(cache.stats().usedBytes()).isGreaterThan(BUDGET * 95 / 100);
        long useful = hits(1_000_000, 1_000_000 + small) * (chunkBytes(100) + 15);
        assertThat(useful).as("bytes of small rows and their index").isGreaterThan(BUDGET * 90 / 100);
    }

    @Test
    void hotRowsSurviveAScan() {
        int hot = 10_000;
        put(0, hot, 100);
        for (int round = 0; round < 20; round++) {
            int from = 1_000_000 * (round + 1);
            for (int i = 0; i < 20_000; i++) {
                driver.put(space, key(from + i), new byte[100]);
                int read = driver.probe(space, key(i % hot));
            }
        }
        assertThat(hits(0, hot)).isGreaterThan(hot * 99 / 100);
    }

    @Test
    void valuesOfManyChunksComeAndGo() {
        Random random = new Random(4);
        int stored = 0;
        for (int i = 0; i < 2000; i++) {
            byte[] value = new byte[random.nextInt(200_000)];
            value[value.length / 2] = 1;
            if (driver.put(space, key(random.nextInt(300)), value) == Cache.Put.STORED) {
                stored++;
            }
            byte[] read = driver.get(space, key(random.nextInt(300)));
            assertThat(read == null || read[read.length / 2] == 1).isTrue();
        }
        assertThat(stored).isEqualTo(2000);
        assertThat(cache.stats().evictions()).isPositive();
    }

    @Test
    void aFullMegabyteFitsAmongSmallRows() {
        put(0, (int) (2 * BUDGET / 150), 100);
        int stored = 0;
        for (int i = 0; i < 20; i++) {
            stored += driver.put(space, key(-i - 1), new byte[1 << 20]) == Cache.Put.STORED ? 1 : 0;
        }
        assertThat(stored).isGreaterThan(10);
    }

    @Test
    void deadEntriesMakeRoomWithoutEvictingTheLiving() {
        int half = (int) (BUDGET * 40 / 100 / 160);
        int dead = cache.newSpace();
        for (int i = 0; i < half; i++) {
            driver.put(dead, key(i), new byte[100]);
        }
        put(0, half, 100);
        cache.dropSpace(dead);
        driver.reclaimAll();
        put(half, 2 * half, 100);
        assertThat(cache.stats().evictions()).isZero();
        assertThat(hits(0, 2 * half)).isEqualTo(2 * half);
    }

    private void put(int from, int to, int bytes) {
        for (int i = from; i < to; i++) {
            store(i, bytes);
        }
    }

    private void store(int key, int bytes) {
        Check.that(driver.put(space, key(key), new byte[bytes]) == Cache.Put.STORED, "not stored");
    }

    private int hits(int from, int to) {
        int hits = 0;
        for (int i = from; i < to; i++) {
            hits += driver.probe(space, key(i)) >= 0 ? 1 : 0;
        }
        return hits;
    }

    private static long chunkBytes(int valueBytes) {
        return SizeClasses.chunkBytes(SizeClasses.of(Entries.HEAD_BYTES + 8 + valueBytes));
    }
}
