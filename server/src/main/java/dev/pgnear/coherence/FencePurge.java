package dev.pgnear.coherence;

import dev.pgnear.base.Limits;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rule 4: which fences may go, as samples show transactions finished. A snapshot that arrived when the begin sequence stood at {@code c} is
 * older than that of every fill which draws a number above {@code c}. A fence whose xids it shows finished goes when no fill with a smaller
 * number is in flight any more: of the key, of the relation, of anything for the fence of everything and for the slot's cover.
 *
 * <p>Its callers see to it that one purge runs at a time, and none while the generation changes.
 */
final class FencePurge {
    private final KeyTable table;
    private final Collection<Relation> relations;
    private final FenceCell everything;
    private final boolean drain;
    private final boolean seenFinished;
    private int next;

    /** The slot's own snapshot; written under the callers' lock, read by every fill. */
    private volatile @Nullable Cover cover;

    FencePurge(KeyTable table, Collection<Relation> relations, FenceCell everything, RuleSet rules) {
        this.table = table;
        this.relations = relations;
        this.everything = everything;
        this.drain = rules.on(Rule.DRAIN);
        this.seenFinished = rules.on(Rule.SEEN_FINISHED);
    }

    @Nullable
    Cover cover() {
        return cover;
    }

    void cover(@Nullable Cover newCover) {
        cover = newCover;
    }

    /** A bounded number of keys, going round the partitions; then the relations' fences, the one of everything, and the cover. */
    void purge(Snapshot snapshot, long sequence, long generation) {
        int[] looked = {0};
        for (int i = 0; i < Limits.PARTITIONS && looked[0] < Limits.PURGE_KEYS_PER_SAMPLE; i++) {
            table.on(next, partition -> {
                looked[0] += partition.size();
                partition.purge(snapshot, sequence, generation, drain, seenFinished);
            });
            next = (next + 1) % Limits.PARTITIONS;
        }
        show(snapshot, sequence);
        if (waitsForFills()) {
            drain(generation);
        }
    }

    private void show(Snapshot snapshot, long sequence) {
        relations.forEach(r -> r.fence.shown(snapshot, sequence));
        everything.shown(snapshot, sequence);
        Cover c = cover;
        if (c != null && c.shownAt() < 0 && snapshot.covers(c.snapshot())) {
            cover = new Cover(c.snapshot(), sequence);
        }
    }

    private boolean waitsForFills() {
        Cover c = cover;
        return everything.waitsForFills()
                || c != null && c.shownAt() >= 0
                || relations.stream().anyMatch(r -> r.fence.waitsForFills());
    }

    private void drain(long generation) {
        Map<Integer, Long> oldest = new HashMap<>();
        if (drain) {
            table.onEach(partition -> partition.collectOldest(generation, oldest));
        }
        long oldestOfAll =
                oldest.values().stream().mapToLong(Long::longValue).min().orElse(Long.MAX_VALUE);
        relations.forEach(r -> r.fence.drained(oldest.getOrDefault(r.id(), Long.MAX_VALUE)));
        everything.drained(oldestOfAll);
        Cover c = cover;
        if (c != null && c.shownAt() >= 0 && oldestOfAll > c.shownAt()) {
            cover = null;
        }
    }

    /** Whether anything is remembered that a quiet node should have forgotten: for tests. */
    boolean remembers() {
        boolean[] keys = {false};
        table.onEach(p -> keys[0] |= p.size() > 0 || !p.floor().isNone());
        boolean fenced = relations.stream().anyMatch(r -> !r.fence.get().isNone());
        return keys[0] || fenced || !everything.get().isNone() || cover != null;
    }
}
