package dev.pgnear.coherence;

import dev.pgnear.base.Check;
import dev.pgnear.base.Limits;
import dev.pgnear.cache.Cache;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * The {@link Partition}s, each under the cache's lock of the same number, so that an entry, its fence and its fills change in one step. No two
 * of the locks are held at a time.
 */
final class KeyTable {
    /** Something done to one key under its partition's lock. */
    interface KeyAction {
        void run(Partition partition, KeyState state);
    }

    private final Cache cache;
    private final Counters counters;
    private final Partition[] partitions = new Partition[Limits.PARTITIONS];
    private final LongAdder fencesHeld = new LongAdder();

    /** One hash of each partition, to take its lock with. */
    private final long[] hashes;

    KeyTable(Cache cache, Counters counters, int fencesPerPartition) {
        this.cache = cache;
        this.counters = counters;
        this.hashes = hashes(cache);
        Arrays.setAll(partitions, i -> new Partition(fencesPerPartition, fencesHeld));
    }

    private static long[] hashes(Cache cache) {
        long[] hashes = new long[Limits.PARTITIONS];
        boolean[] found = new boolean[Limits.PARTITIONS];
        int missing = Limits.PARTITIONS;
        for (int i = 0; missing > 0; i++) {
            Check.that(i < 100_000, "the cache's partitions are evenly spread over the hashes");
            long hash = i * 0x9E3779B97F4A7C15L;
            int index = cache.partition(hash);
            missing -= found[index] ? 0 : 1;
            found[index] = true;
            hashes[index] = hash;
        }
        return hashes;
    }

    /** The partition of a hash; to be used under its lock. */
    Partition of(long hash) {
        return partitions[cache.partition(hash)];
    }

    void onKey(KeyId key, KeyAction action) {
        cache.lock(key.hash());
        try {
            Partition partition = of(key.hash());
            KeyState state = partition.state(key);
            action.run(partition, state);
            partition.tidy(key, state);
        } finally {
            cache.unlock(key.hash());
        }
    }

    /** One partition under its lock. */
    void on(int index, Consumer<Partition> action) {
        long hash = hashes[index];
        cache.lock(hash);
        try {
            action.accept(partitions[index]);
        } finally {
            cache.unlock(hash);
        }
    }

    /** Every partition, one after the other. */
    void onEach(Consumer<Partition> action) {
        for (int i = 0; i < partitions.length; i++) {
            on(i, action);
        }
    }

    /** Lays a fence on a key; under its lock. */
    void lay(Partition partition, KeyState state, long xid, boolean own) {
        counters.add(Counter.KEY_FENCES);
        if (partition.fence(state, xid, own)) {
            counters.add(Counter.FENCE_LIMIT_FALLBACKS);
        }
    }

    /** Drops a key's entry, if there is one; under its lock. */
    boolean drop(int space, KeyId key) {
        boolean had = cache.remove(space, key.hash(), key.bytes());
        if (had) {
            counters.add(Counter.INVALIDATIONS);
        }
        return had;
    }

    long fencesHeld() {
        return fencesHeld.sum();
    }
}
