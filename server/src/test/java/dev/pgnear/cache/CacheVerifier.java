package dev.pgnear.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.base.Check;
import dev.pgnear.memory.SlabAllocator.Generation;
import dev.pgnear.memory.SlabVerifier;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Checks everything that must hold of a cache that nobody changes meanwhile: every entry is in its bucket and found by its key, every chunk in use
 * is reached exactly once, counts agree, memory is within the budget.
 */
final class CacheVerifier {
    private final OffHeapCache cache;
    private final Set<Long> reached = new HashSet<>();
    private final Map<Integer, long[]> counts = new HashMap<>();

    private CacheVerifier(OffHeapCache cache) {
        this.cache = cache;
    }

    static void verify(OffHeapCache cache) {
        new CacheVerifier(cache).verify();
    }

    private void verify() {
        for (Partition partition : cache.partitions) {
            verify(partition);
        }
        assertThat(reached).as("chunks reached").isEqualTo(SlabVerifier.verify(cache.allocator));
        verifyCounts();
        CacheStats stats = cache.stats();
        assertThat(stats.usedBytes()).isLessThanOrEqualTo(stats.budgetBytes());
        assertThat(cache.memory.bytes()).isLessThanOrEqualTo(stats.budgetBytes());
    }

    private void verify(Partition partition) {
        assertThat(partition.lock.isLocked()).isFalse();
        int size = 0;
        for (int number = 0; number < partition.index.buckets(); number++) {
            if (number % Index.PAGE_BUCKETS == 0) {
                reach(partition.index.bucketAt(number), Generation.INDEX);
            }
            size += verifyBucket(partition, number);
        }
        assertThat(partition.index.size()).isEqualTo(size);
    }

    private int verifyBucket(Partition partition, int number) {
        int size = 0;
        boolean ended = false;
        long first = partition.index.bucketAt(number);
        for (long bucket = first; bucket != 0; bucket = cache.memory.getLong(bucket + Index.OVERFLOW)) {
            if (bucket != first) {
                reach(bucket, Generation.INDEX);
                assertThat(cache.memory.getLong(bucket))
                        .as("empty overflow bucket")
                        .isNotZero();
            }
            for (int s = 0; s < Index.OVERFLOW; s += 8) {
                long slot = cache.memory.getLong(bucket + s);
                Check.that(!ended || slot == 0, "slot after the end");
                ended = slot == 0;
                if (slot != 0) {
                    verifyEntry(partition, Index.address(slot), slot >>> 40);
                    size++;
                }
            }
        }
        return size;
    }

    private void verifyEntry(Partition partition, long entry, long tag) {
        long word0 = cache.entries.word0(entry);
        Check.that(Entries.partition(word0) == partition.number, "entry of another partition");
        byte[] key = new byte[Entries.keyLength(word0)];
        for (int i = 0; i < key.length; i++) {
            long word = cache.memory.getLong((entry + Entries.headBytes(word0) + i) & ~7L);
            key[i] = (byte) (word >>> ((entry + Entries.headBytes(word0) + i) & 7) * 8);
        }
        long hash = (long) partition.number << 58 | tag << 34 | Entries.lowHash(word0) & 0xFFFFFFFFL;
        Check.that(partition.find(cache.entries.space(entry), hash, key) == entry, "entry is not found by its key");
        boolean positive = cache.entries.isPositive(entry);
        counts.computeIfAbsent(cache.entries.space(entry), s -> new long[2])[positive ? 0 : 1]++;
        verifyChunks(entry, key.length, Math.max(0, cache.entries.valueLength(entry)));
    }

    private void verifyChunks(long entry, int keyBytes, int valueBytes) {
        int i = 0;
        for (long chunk = entry; chunk != 0; chunk = cache.entries.next(chunk)) {
            Check.that(reached.add(chunk), "chunk reached twice");
            Check.that(cache.allocator.generation(chunk) != Generation.INDEX, "entry in an index slab");
            Check.that(
                    cache.allocator.chunkBytes(chunk) >= Entries.bytesOfChunk(i++, keyBytes, valueBytes),
                    "chunk too small");
            if (chunk != entry) {
                Check.that(cache.entries.headOf(chunk) == entry, "continuation of another entry");
            }
        }
        assertThat(Entries.bytesOfChunk(i, keyBytes, valueBytes))
                .as("missing chunk")
                .isZero();
    }

    private void verifyCounts() {
        long positive = 0;
        long negative = 0;
        long dead = 0;
        for (Map.Entry<Integer, long[]> space : counts.entrySet()) {
            Space live = cache.spaces.find(space.getKey());
            if (live == null) {
                dead += space.getValue()[0] + space.getValue()[1];
            } else {
                assertThat(live.positive()).isEqualTo(space.getValue()[0]);
                assertThat(live.negative()).isEqualTo(space.getValue()[1]);
                positive += live.positive();
                negative += live.negative();
            }
        }
        assertThat(cache.stats().positiveEntries()).isEqualTo(positive);
        assertThat(cache.stats().negativeEntries()).isEqualTo(negative);
        assertThat(cache.spaces.dead()).isEqualTo(dead);
    }

    private void reach(long chunk, Generation generation) {
        Check.that(reached.add(chunk), "chunk reached twice");
        Check.that(cache.allocator.generation(chunk) == generation, "chunk of another generation");
    }
}
