package dev.pgnear.cache;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A live space's entry counts, and whether it was dropped, in one word: so that an entry is counted either before the drop, which then counts
 * it as dead, or not at all.
 */
final class Space {
    private static final long DROPPED = Long.MIN_VALUE;
    private static final long ONE_POSITIVE = 1;
    private static final long ONE_NEGATIVE = 1L << 32;

    private final AtomicLong state = new AtomicLong();

    /** Counts an entry; false if the space was dropped. */
    boolean add(boolean positive) {
        return change(positive ? ONE_POSITIVE : ONE_NEGATIVE);
    }

    /** Discounts an entry; false if the space was dropped, which has already counted the entry as dead. */
    boolean remove(boolean positive) {
        return change(positive ? -ONE_POSITIVE : -ONE_NEGATIVE);
    }

    /**
     * Drops the space.
     *
     * @return how many entries it held
     */
    long drop() {
        long last = state.getAndUpdate(s -> s | DROPPED);
        return last < 0 ? 0 : positive(last) + negative(last);
    }

    long positive() {
        return positive(state.get());
    }

    long negative() {
        return negative(state.get());
    }

    private boolean change(long by) {
        long now = state.get();
        while (now >= 0) {
            long seen = state.compareAndExchange(now, now + by);
            if (seen == now) {
                return true;
            }
            now = seen;
        }
        return false;
    }

    private static long positive(long state) {
        return state & 0xFFFFFFFFL;
    }

    private static long negative(long state) {
        return state >>> 32 & 0x7FFFFFFFL;
    }
}
