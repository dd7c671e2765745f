package dev.pgnear.base;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;

/** The 64-bit hash of a relation's canonical key: XXH3 of the key bytes, mixed with the relation's id. */
public final class KeyHash {
    private static final Hasher64 XXH3 = Hashing.xxh3_64();

    private KeyHash() {}

    /** Hash of {@code length} bytes of {@code key} from {@code offset}, for the relation with the given id. */
    public static long of(int relationId, byte[] key, int offset, int length) {
        return mix(XXH3.hashBytesToLong(key, offset, length) ^ relationId * 0x9E3779B97F4A7C15L);
    }

    /** The partition of a hash: its top bits, so that the low ones are left for tables. */
    public static int partition(long hash) {
        return (int) (hash >>> (64 - Integer.numberOfTrailingZeros(Limits.PARTITIONS)));
    }

    /** Finaliser of SplitMix64 (Steele, Lea, Flood 2014), so that low and high bits are both usable. */
    private static long mix(long z) {
        long a = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        long b = (a ^ (a >>> 27)) * 0x94D049BB133111EBL;
        return b ^ (b >>> 31);
    }
}
