package dev.pgnear.coherence;

import dev.pgnear.base.Limits;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One read of one key from PostgreSQL, under way for one or more readers. State belongs to {@link Coherence}: it is guarded by the key's
 * partition lock, and after the fill has left the table it belongs to the thread that took it out.
 */
public final class Fill {
    private final Relation relation;
    private final long hash;
    private final byte[] key;

    /** Of the stream when the fill was begun; it stores only in the same one (rule NEW_GENERATION). */
    final long generation;
    /** Of the relation when the fill was begun; it stores only there. */
    final int space;
    /** Place in the order in which fills were begun (rule DRAIN). */
    final long sequence;

    /** Readers that came before the query was sent: its answer is always a legal read for them. */
    final List<FillWaiter> leaders = new ArrayList<>(1);
    /** Readers that came later (rule FOLLOWERS_PASS). */
    final List<FillWaiter> followers = new ArrayList<>(0);

    boolean sent;
    long sentNanos;
    boolean over;

    /** Answers of this key that were delivered while this fill was under way; only those that no other one covers. */
    private List<Delivered> delivered = List.of();

    private boolean tooMany;

    /** Only with rule FENCE_AT_STORE switched off: the fences as they were when the fill was begun. */
    @Nullable
    XidFence early;

    private record Delivered(ServerIdentity from, Snapshot snapshot) {}

    Fill(Relation relation, long hash, byte[] key, long generation, int space, long sequence) {
        this.relation = relation;
        this.hash = hash;
        this.key = key;
        this.generation = generation;
        this.space = space;
        this.sequence = sequence;
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

    /** An overlapping fill of the same key was delivered. */
    void deliveredMeanwhile(ServerIdentity from, Snapshot snapshot) {
        List<Delivered> kept = new ArrayList<>(delivered.size() + 1);
        for (Delivered d : delivered) {
            if (!(d.from.equals(from) && snapshot.covers(d.snapshot))) {
                kept.add(d);
            }
        }
        kept.add(new Delivered(from, snapshot));
        tooMany |= kept.size() > Limits.OVERLAPPING_ANSWERS;
        delivered = tooMany ? List.of() : kept;
    }

    /** Rule OVERLAP_ORDER: whether the snapshot shows everything finished that an answer delivered meanwhile showed. */
    boolean inOrder(ServerIdentity from, Snapshot snapshot) {
        if (tooMany) {
            return false;
        }
        for (Delivered d : delivered) {
            if (!d.from.equals(from) || !snapshot.covers(d.snapshot)) {
                return false;
            }
        }
        return true;
    }
}
