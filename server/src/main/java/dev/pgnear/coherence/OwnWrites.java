package dev.pgnear.coherence;

import dev.pgnear.cache.Cache;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rules of this node's own writes. While a write is under way each of its keys knows of it, so that events, other replies and answered
 * fills can tell it. Its reply fences the keys and installs the value, or drops the entry, in one step under each key's lock.
 */
final class OwnWrites {
    /** Of a write that began before the slot: the events since then are not all known. */
    private static final long NO_GENERATION = -1;

    private final Coherence coherence;
    private final Cache cache;
    private final KeyTable table;
    private final Counters counters;
    private final RuleSet rules;

    OwnWrites(Coherence coherence, Cache cache, KeyTable table, Counters counters, RuleSet rules) {
        this.coherence = coherence;
        this.cache = cache;
        this.table = table;
        this.counters = counters;
        this.rules = rules;
    }

    /** A write of this node begins. */
    OwnWrite begin() {
        StreamState now = coherence.stream();
        return new OwnWrite(this, now.isDown() ? NO_GENERATION : now.generation());
    }

    void begin(OwnWrite write, OwnWrite.Target target) {
        table.onKey(target.key(), (partition, state) -> state.begin(write));
    }

    void committed(OwnWrite write, long lsnAfterCommit, byte[] @Nullable [] values, boolean mayInstall) {
        meetServerOf(write);
        for (int i = 0; i < write.targets().size(); i++) {
            OwnWrite.Target target = write.targets().get(i);
            byte @Nullable [] value = mayInstall ? values[i] : null;
            table.onKey(target.key(), (partition, state) -> {
                state.end(write);
                boolean install = mayInstall && mayInstall(write, target);
                fenceOwn(partition, state, write);
                if (install) {
                    install(write, target, state, value, lsnAfterCommit);
                } else {
                    counters.add(Counter.OWN_INVALIDATIONS);
                    dropOwn(target, state);
                }
            });
        }
    }

    /** All OWN rules. Space first: it changes after the generation and after a relation fence. */
    private boolean mayInstall(OwnWrite write, OwnWrite.Target target) {
        boolean sameSpace = target.space() == target.relation().space() || !rules.on(Rule.OWN_SINCE_STREAM);
        StreamState now = coherence.stream();
        boolean sameStream = write.generation == now.generation() && Objects.equals(write.server(), now.server())
                || !rules.on(Rule.OWN_SINCE_STREAM);
        boolean alone = !write.fencedByAnother() || !rules.on(Rule.OWN_NOT_FOREIGN);
        boolean unread = !write.wasAnsweredMeanwhile() || !rules.on(Rule.OWN_NOT_READ);
        return sameSpace
                && sameStream
                && alone
                && unread
                && !now.isDown()
                && target.relation().caching();
    }

    private void install(
            OwnWrite write, OwnWrite.Target target, KeyState state, byte @Nullable [] value, long lsnAfterCommit) {
        KeyId key = target.key();
        int space = rules.on(Rule.OWN_SINCE_STREAM)
                ? target.space()
                : target.relation().space();
        Cache.Put put = cache.put(space, key.hash(), key.bytes(), value, 0, lsnAfterCommit);
        if (put != Cache.Put.STORED) {
            dropOwn(target, state);
            return;
        }
        counters.add(Counter.OWN_INSTALLS);
        state.installedXid = write.wasApplied() ? 0 : write.xid();
    }

    private void meetServerOf(OwnWrite write) {
        ServerIdentity from = write.server();
        if (from != null) {
            coherence.meet(from);
        }
    }

    /** An xid of a server that is gone would never be seen finished; what it wrote is in the new slot's snapshot, or lost. */
    private void fenceOwn(Partition partition, KeyState state, OwnWrite write) {
        if (rules.on(Rule.OWN_AMONG_OWN)) {
            state.foreign(write.xid());
        }
        ServerIdentity from = write.server();
        if (rules.on(Rule.OWN_FENCES) && from != null && from.equals(coherence.newest())) {
            partition.belongTo(from);
            table.lay(partition, state, write.xid(), true);
        }
    }

    private void dropOwn(OwnWrite.Target target, KeyState state) {
        if (rules.on(Rule.OWN_FENCES)) {
            state.installedXid = 0;
            table.drop(target.relation().space(), target.key());
        }
    }

    void unknown(OwnWrite write) {
        meetServerOf(write);
        for (OwnWrite.Target target : write.targets()) {
            table.onKey(target.key(), (partition, state) -> {
                state.end(write);
                fenceOwn(partition, state, write);
                counters.add(Counter.OWN_INVALIDATIONS);
                dropOwn(target, state);
            });
        }
    }

    void rolledBack(OwnWrite write) {
        for (OwnWrite.Target target : write.targets()) {
            table.onKey(target.key(), (partition, state) -> state.end(write));
        }
    }
}
