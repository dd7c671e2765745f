package dev.pgnear.cache;

import dev.pgnear.base.Check;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The live spaces by number. Readers use an immutable open-addressing table, published as a whole; making and dropping a space copies it
 * (as many elements as there are live spaces, not entries). A number that is not in the table belongs to a dropped space.
 */
final class Spaces {
    private final AtomicLong dead = new AtomicLong();
    private volatile Table table = new Table(8);
    private int last;

    /** A new space's number, 1 or more, never used before. */
    synchronized int create() {
        Check.that(last < Integer.MAX_VALUE, "space numbers are used up");
        last++;
        table = table.with(last, new Space());
        return last;
    }

    /**
     * Drops a space.
     *
     * @return how many entries it held; 0 if it was dropped before
     */
    synchronized long drop(int number) {
        Space space = table.find(number);
        if (space == null) {
            return 0;
        }
        long entries = space.drop();
        dead.addAndGet(entries);
        table = table.without(number);
        return entries;
    }

    /** The space with that number, or null if it was dropped. */
    @Nullable
    Space find(int number) {
        return table.find(number);
    }

    /** Discounts an entry that was just removed from the index. */
    void forget(int number, boolean positive) {
        Space space = find(number);
        if (space == null || !space.remove(positive)) {
            dead.decrementAndGet();
        }
    }

    /** Entries of dropped spaces that still take memory. */
    long dead() {
        return dead.get();
    }

    long positive() {
        long sum = 0;
        for (Space space : table.spaces) {
            sum += space == null ? 0 : space.positive();
        }
        return sum;
    }

    long negative() {
        long sum = 0;
        for (Space space : table.spaces) {
            sum += space == null ? 0 : space.negative();
        }
        return sum;
    }

    /** Open addressing with linear probing, at most half full; 0 is no number. */
    private static final class Table {
        private final int[] numbers;
        private final @Nullable Space[] spaces;
        private int size;

        private Table(int capacity) {
            numbers = new int[capacity];
            spaces = new Space[capacity];
        }

        @Nullable
        Space find(int number) {
            int mask = numbers.length - 1;
            for (int i = number & mask; numbers[i] != 0; i = i + 1 & mask) {
                if (numbers[i] == number) {
                    return spaces[i];
                }
            }
            return null;
        }

        Table with(int number, Space space) {
            Table copy = copyWithout(0);
            copy.put(number, space);
            return copy;
        }

        Table without(int number) {
            return copyWithout(number);
        }

        private Table copyWithout(int number) {
            Table copy = new Table(Math.max(8, Integer.highestOneBit(size + 1) * 4));
            for (int i = 0; i < numbers.length; i++) {
                Space space = spaces[i];
                if (space != null && numbers[i] != number) {
                    copy.put(numbers[i], space);
                }
            }
            return copy;
        }

        private void put(int number, Space space) {
            int mask = numbers.length - 1;
            int i = number & mask;
            while (numbers[i] != 0) {
                i = i + 1 & mask;
            }
            numbers[i] = number;
            spaces[i] = space;
            size++;
        }
    }
}
