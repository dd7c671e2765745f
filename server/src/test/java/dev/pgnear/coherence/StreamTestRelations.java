package dev.pgnear.coherence;

/** Relations for tests of streams, which have no cache behind them. */
public final class StreamTestRelations {
    private StreamTestRelations() {}

    /** A relation as {@link Coherence#newRelation} makes one. */
    public static Relation of(int id, String name) {
        return new Relation(id, name, id);
    }
}
