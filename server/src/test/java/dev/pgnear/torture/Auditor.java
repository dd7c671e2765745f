package dev.pgnear.torture;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Knows, for each key, which answers are legal. A key's changes are numbered by the database itself (a counter row locked until the end of the
 * transaction), so versions of one key are ordered as its commits are. A writer announces a version before it sends COMMIT, and confirms it
 * after COMMIT returned; only a confirmed version may be demanded of readers.
 */
public final class Auditor {
    private static final class Key {
        /** Versions at which the row was, or may have been, absent. Version 0: not inserted yet. */
        final ConcurrentSkipListSet<Long> absent = new ConcurrentSkipListSet<>();

        final AtomicLong floor = new AtomicLong(-1);
        /** Confirmation time to the highest version confirmed by then. */
        final ConcurrentSkipListMap<Long, Long> confirmed = new ConcurrentSkipListMap<>();

        final AtomicLong highestAnnounced = new AtomicLong();
    }

    private final Key[] keys;
    private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();
    private final AtomicLong checked = new AtomicLong();

    /** For keys 0 to count - 1, none of which exists yet. */
    public Auditor(int count) {
        keys = new Key[count];
        for (int i = 0; i < count; i++) {
            keys[i] = new Key();
            keys[i].absent.add(0L);
        }
    }

    void announce(int key, long version, boolean present) {
        if (!present) {
            keys[key].absent.add(version);
        }
        keys[key].highestAnnounced.accumulateAndGet(version, Math::max);
    }

    /** COMMIT returned; {@code demand} false if it was asynchronous, so that in fenced mode nothing may be demanded at once. */
    void confirm(int key, long version, boolean demand, long nowNanos) {
        Key k = keys[key];
        if (demand) {
            k.floor.accumulateAndGet(version, Math::max);
        }
        k.confirmed.merge(nowNanos, version, Math::max);
    }

    /** What a fenced reader that starts now must at least get. */
    long floor(int key) {
        return keys[key].floor.get();
    }

    /** What a tracked reader that starts now must at least get. */
    long floorBefore(int key, long nanos) {
        long best = -1;
        for (long v : keys[key].confirmed.headMap(nanos, false).values()) {
            best = Math.max(best, v);
        }
        Long oldest = keys[key].confirmed.isEmpty() ? null : keys[key].confirmed.firstKey();
        while (oldest != null && keys[key].confirmed.size() > 64) {
            // old confirmations only matter by their highest version: fold the two oldest
            var first = keys[key].confirmed.pollFirstEntry();
            if (first == null) {
                break;
            }
            var second = keys[key].confirmed.firstEntry();
            if (second != null) {
                keys[key].confirmed.merge(second.getKey(), first.getValue(), Math::max);
            }
            oldest = second == null ? null : second.getKey();
        }
        return best;
    }

    /**
     * Checks an answer.
     *
     * @param version of the row, or null if it was absent
     * @param floor taken before the read was sent
     * @param seen what this connection had seen of the key
     * @return what this connection has now seen
     */
    long check(String who, int key, @Nullable Long version, boolean rolledBack, long floor, long seen) {
        checked.incrementAndGet();
        Key k = keys[key];
        if (rolledBack) {
            violations.add(who + ": key " + key + " shows a value that was rolled back or never committed (version "
                    + version + ")");
            return seen;
        }
        long least = Math.max(floor, seen);
        if (version == null) {
            Long absent = k.absent.ceiling(Math.max(least, 0));
            if (absent == null) {
                violations.add(who + ": key " + key + " is absent, but version " + floor
                        + " had been committed before the read and version " + seen
                        + " was seen on this connection, and the row has not been absent since");
                return seen;
            }
            return Math.max(seen, absent);
        }
        if (version < floor) {
            violations.add(who + ": key " + key + " shows version " + version + ", but version " + floor
                    + " had to be visible when the read began");
        }
        if (version < seen) {
            violations.add(who + ": key " + key + " went backwards on one connection, from version " + seen + " to "
                    + version);
        }
        if (version > k.highestAnnounced.get()) {
            violations.add(who + ": key " + key + " shows version " + version + " which nobody was about to commit");
        }
        return Math.max(seen, version);
    }

    void violation(String text) {
        violations.add(text);
    }

    /** Answers checked so far. */
    public long checked() {
        return checked.get();
    }

    /** One sentence for each illegal answer. */
    public ConcurrentLinkedQueue<String> violations() {
        return violations;
    }
}
