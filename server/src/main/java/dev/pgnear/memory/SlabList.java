package dev.pgnear.memory;

/** A doubly linked list of slab numbers in shared link arrays; a slab is in at most one list of the same arrays. Not thread-safe. */
final class SlabList {
    private static final int END = SlabAllocator.NO_SLAB;

    private final int[] next;
    private final int[] previous;
    private int first = END;
    private int last = END;
    private int size;

    SlabList(int[][] links) {
        next = links[0];
        previous = links[1];
    }

    int first() {
        return first;
    }

    int next(int slab) {
        return next[slab];
    }

    int size() {
        return size;
    }

    void addFirst(int slab) {
        previous[slab] = END;
        next[slab] = first;
        if (first == END) {
            last = slab;
        } else {
            previous[first] = slab;
        }
        first = slab;
        size++;
    }

    void addLast(int slab) {
        next[slab] = END;
        previous[slab] = last;
        if (last == END) {
            first = slab;
        } else {
            next[last] = slab;
        }
        last = slab;
        size++;
    }

    void remove(int slab) {
        if (previous[slab] == END) {
            first = next[slab];
        } else {
            next[previous[slab]] = next[slab];
        }
        if (next[slab] == END) {
            last = previous[slab];
        } else {
            previous[next[slab]] = previous[slab];
        }
        size--;
    }
}
