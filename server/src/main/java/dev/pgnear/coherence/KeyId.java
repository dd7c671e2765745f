package dev.pgnear.coherence;

import java.util.Arrays;

/** A key of a relation, as the fence table's map knows it. The bytes are shared with the caller and never changed. */
record KeyId(int relation, long hash, byte[] bytes) {
    @Override
    public boolean equals(Object o) {
        return o instanceof KeyId k && hash == k.hash && relation == k.relation && Arrays.equals(bytes, k.bytes);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(hash);
    }
}
