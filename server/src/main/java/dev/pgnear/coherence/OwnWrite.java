package dev.pgnear.coherence;

import dev.pgnear.base.Check;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A write of this node (RESP SET, DEL, key space) from before its statement is sent until its COMMIT has returned.
 *
 * <pre>
 *   key()*  sent()  ...  wrote(from, xid)  ...  committed(...) | unknown() | rolledBack()
 * </pre>
 *
 * <p>All calls come from one thread. {@link #fencedBy} and {@link #answeredMeanwhile} alone are called by others, under the partition lock
 * of one of the keys, so the fields that they change have their own monitor, which is the innermost lock.
 */
public final class OwnWrite {
    /** A key that is written, with the space of its relation when the write began. */
    record Target(Relation relation, KeyId key, int space) {}

    private final OwnWrites rules;
    final long generation;
    private final List<Target> targets = new ArrayList<>(1);
    private boolean sent;
    private boolean over;
    private long xid;
    private @Nullable ServerIdentity server;

    /** First xid that fenced a key since the write began; 0 for none. It may be our own, whose event can come before its reply. */
    private long firstXid;

    private boolean severalXids;
    private boolean answered;

    OwnWrite(OwnWrites rules, long generation) {
        this.rules = rules;
        this.generation = generation;
    }

    /** The write may change this key. To be called for all keys before {@link #sent}. */
    public void key(Relation relation, long hash, byte[] key) {
        Check.that(!sent && !over, "the keys of an own write are named before it is sent");
        Target target = new Target(relation, new KeyId(relation.id(), hash, key), relation.space());
        for (Target t : targets) {
            if (t.key.equals(target.key)) {
                return;
            }
        }
        targets.add(target);
        rules.begin(this, target);
    }

    /** The statement is about to be written to the connection. */
    public void sent() {
        sent = true;
    }

    /**
     * The top-level xid, learnt from the statement's own answer.
     *
     * @param from the server that the connection was opened to
     * @param topLevelXid 64 bits
     */
    public void wrote(ServerIdentity from, long topLevelXid) {
        server = from;
        xid = topLevelXid;
    }

    /**
     * COMMIT has returned. Fences the keys, and installs the values if the rules let it; must be called before the client gets its reply.
     *
     * @param lsnAfterCommit pg_current_wal_insert_lsn() sampled after COMMIT returned (rule OWN_LSN_AFTER_COMMIT); not used if nothing may be installed
     * @param values in the order of the keys named, null for an absent row; not used if nothing may be installed
     * @param mayInstall whether the values are known to be the committed rows (F28)
     */
    public void committed(long lsnAfterCommit, byte[] @Nullable [] values, boolean mayInstall) {
        Check.that(xid != 0, "the xid of an own write is known before its COMMIT returns");
        Check.that(!mayInstall || values.length == targets.size(), "one value for each key");
        end();
        rules.committed(this, lsnAfterCommit, values, mayInstall);
    }

    /** Nobody knows whether the write was committed: drops the entries, fences the keys if the xid is known. */
    public void unknown() {
        end();
        rules.unknown(this);
    }

    /** The transaction is known to have been rolled back. */
    public void rolledBack() {
        end();
        rules.rolledBack(this);
    }

    private void end() {
        Check.that(!over, "an own write ends once");
        over = true;
    }

    long xid() {
        return xid;
    }

    /** Whose xid it is; null as long as that is not known. */
    @Nullable
    ServerIdentity server() {
        return server;
    }

    List<Target> targets() {
        return targets;
    }

    /** A transaction fenced one of the keys, by its event or by the reply of an own write; 0 for one with an unknown xid. */
    synchronized void fencedBy(long other) {
        severalXids |= other == 0 || firstXid != 0 && firstXid != other;
        firstXid = other;
    }

    /** A fill of one of the keys was answered: it may have shown a later writer, whose event is still to come. */
    synchronized void answeredMeanwhile() {
        answered = true;
    }

    /** Rule OWN_NOT_READ. */
    synchronized boolean wasAnsweredMeanwhile() {
        return answered;
    }

    /** Rule OWN_NOT_FOREIGN. */
    synchronized boolean fencedByAnother() {
        return severalXids || firstXid != 0 && firstXid != xid;
    }

    /** Whether the stream has already applied this write. */
    synchronized boolean wasApplied() {
        return firstXid != 0 && firstXid == xid && !severalXids;
    }
}
