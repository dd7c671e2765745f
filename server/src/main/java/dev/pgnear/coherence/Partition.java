package dev.pgnear.coherence;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Fences and fills of the keys of one partition, guarded by the cache's lock of that partition. The number of fenced keys is bounded: at the
 * bound all of them collapse to one floor.
 */
final class Partition {
    private final Map<KeyId, KeyState> keys = new HashMap<>();
    private final int limit;
    private final LongAdder fencesHeld;
    private int fenced;
    private XidFence floor = XidFence.NONE;
    private @Nullable ServerIdentity server;

    /**
     * @param limit most key fences
     * @param fencesHeld gauge over all partitions
     */
    Partition(int limit, LongAdder fencesHeld) {
        this.limit = limit;
        this.fencesHeld = fencesHeld;
    }

    @Nullable
    KeyState find(KeyId key) {
        return keys.get(key);
    }

    KeyState state(KeyId key) {
        return keys.computeIfAbsent(key, k -> new KeyState());
    }

    /** Forgets a key of which nothing is left to know. */
    void tidy(KeyId key, KeyState state) {
        if (state.isEmpty()) {
            keys.remove(key);
        }
    }

    /** Lays a fence on the key; true if the partition's fences had to collapse. */
    boolean fence(KeyState state, long xid, boolean own) {
        if (!state.fenced()) {
            fenced++;
            fencesHeld.increment();
        }
        if (own) {
            state.fenceOwn(xid);
        } else {
            state.fence(xid);
        }
        if (fenced <= limit) {
            return false;
        }
        collapse();
        return true;
    }

    void unfence(KeyState state) {
        if (state.fenced()) {
            fenced--;
            fencesHeld.decrement();
        }
        state.clearFence();
    }

    XidFence floor() {
        return floor;
    }

    private void collapse() {
        long highest = floor.floor();
        for (Iterator<KeyState> all = keys.values().iterator(); all.hasNext(); ) {
            KeyState state = all.next();
            highest = Math.max(highest, state.highestXid());
            unfence(state);
            if (state.isEmpty()) {
                all.remove();
            }
        }
        floor = XidFence.floorOf(highest);
    }

    /** A new generation: no fence of the old one means anything. */
    void clearFences() {
        for (Iterator<KeyState> all = keys.values().iterator(); all.hasNext(); ) {
            KeyState state = all.next();
            unfence(state);
            if (state.isEmpty()) {
                all.remove();
            }
        }
        floor = XidFence.NONE;
    }

    /** From now on the fences are this server's: xids of another one mean nothing here and would never be seen finished. */
    void belongTo(ServerIdentity owner) {
        if (!owner.equals(server)) {
            clearFences();
            server = owner;
        }
    }

    /** How many keys a purge has to look at. */
    int size() {
        return keys.size();
    }

    /**
     * Rule 4 for every key of the partition.
     *
     * @param sequence begin sequence number at which the snapshot had arrived
     */
    void purge(Snapshot snapshot, long sequence, long generation, boolean drain, boolean seenFinished) {
        for (Iterator<KeyState> all = keys.values().iterator(); all.hasNext(); ) {
            KeyState state = all.next();
            state.shown(snapshot, sequence);
            if (state.drained(generation) || !seenFinished || !drain && state.shownFinished()) {
                unfence(state);
            }
            if (state.isEmpty()) {
                all.remove();
            }
        }
        if (!floor.isNone() && floor.shownAt() < 0 && floor.passes(snapshot)) {
            floor = floor.shown(sequence);
        }
        if (floor.shownAt() >= 0 && oldest(generation) > floor.shownAt()) {
            floor = XidFence.NONE;
        }
    }

    /** Smallest begin sequence number of a fill in flight, or Long.MAX_VALUE. */
    private long oldest(long generation) {
        Map<Integer, Long> oldest = new HashMap<>();
        collectOldest(generation, oldest);
        return oldest.values().stream().mapToLong(Long::longValue).min().orElse(Long.MAX_VALUE);
    }

    /** Smallest begin sequence numbers of the fills in flight, by relation. */
    void collectOldest(long generation, Map<Integer, Long> oldest) {
        for (Map.Entry<KeyId, KeyState> e : keys.entrySet()) {
            for (Fill fill : e.getValue().fills) {
                if (fill.generation == generation) {
                    oldest.merge(e.getKey().relation(), fill.sequence, Math::min);
                }
            }
        }
    }
}
