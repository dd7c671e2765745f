package dev.pgnear.coherence;

/** One read of one key from PostgreSQL, under way for one or more readers. State belongs to {@link Coherence}. */
public final class Fill {
    private final Relation relation;
    private final long hash;
    private final byte[] key;

    Fill(Relation relation, long hash, byte[] key) {
        this.relation = relation;
        this.hash = hash;
        this.key = key;
    }

    /** The table. */
    public Relation relation() {
        return relation;
    }

    /** Hash of {@link #key}. */
    public long hash() {
        return hash;
    }

    /** Canonical key; not to be changed. */
    public byte[] key() {
        return key;
    }
}
