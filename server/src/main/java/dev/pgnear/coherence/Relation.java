package dev.pgnear.coherence;

/**
 * One attached table as the rules see it: an id that is never used again, the space of its entries (a new one after every whole-relation
 * event), and whether its rows may be cached at present. Space, caching and suspensions change under this object's monitor; they are read
 * without it.
 */
public final class Relation {
    private final int id;
    private final String name;
    private volatile int space;
    private volatile boolean caching;
    private volatile long suspensions;

    /** Xids of whole-relation events (rule RELATION_FENCE). */
    final FenceCell fence = new FenceCell();

    Relation(int id, String name, int space) {
        this.id = id;
        this.name = name;
        this.space = space;
    }

    /** Number mixed into {@link dev.pgnear.base.KeyHash}. */
    public int id() {
        return id;
    }

    /** For messages only. */
    public String name() {
        return name;
    }

    /** Space of the entries now. */
    public int space() {
        return space;
    }

    /** Whether fills may be stored and hits served; false while attaching, suspended or bypassed. */
    public boolean caching() {
        return caching;
    }

    void space(int newSpace) {
        space = newSpace;
    }

    void caching(boolean on) {
        caching = on;
    }

    long suspensions() {
        return suspensions;
    }

    void suspensions(long n) {
        suspensions = n;
    }
}
