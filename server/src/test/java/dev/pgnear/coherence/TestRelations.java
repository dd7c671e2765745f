package dev.pgnear.coherence;

/** Relations for tests that need no rules. */
public final class TestRelations {
    private TestRelations() {}

    public static Relation relation(int id) {
        return new Relation(id, "test" + id, id);
    }
}
