package dev.pgnear.memory;

import static dev.pgnear.memory.SlabAllocator.NONE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgnear.memory.SlabAllocator.Generation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SlabAllocatorTest {
    private static final int SLABS = 32;

    private final Memory memory = new Memory(4096 + SLABS * (long) SizeClasses.SLAB_BYTES);
    private final SlabAllocator allocator = new SlabAllocator(memory, 4096, SLABS);
    private final List<Long> held = new ArrayList<>();

    @AfterEach
    void structureIsSound() {
        assertThat(SlabVerifier.verify(allocator)).isEqualTo(new HashSet<>(held));
    }

    @Test
    void takesNoSlabBeforeItIsNeeded() {
        assertThat(allocator.freeSlabs()).isEqualTo(SLABS);
        take(100, false);
        assertThat(allocator.freeSlabs()).isEqualTo(SLABS - 1);
    }

    @Test
    void emptySlabsChangeClass() {
        fill(100);
        assertThat(allocator.freeSlabs()).isEqualTo(2);
        giveAllBack();
        assertThat(allocator.freeSlabs()).isEqualTo(SLABS);
        fill(2000);
        assertThat(allocator.freeSlabs()).isEqualTo(2);
    }

    @Test
    void theReserveIsForThoseWhoAskForIt() {
        fill(8000);
        assertThat(take(8000, false)).isEqualTo(NONE);
        assertThat(take(8000, true)).isNotEqualTo(NONE);
    }

    @Test
    void freeingTwiceIsNoticed() {
        long chunk = take(100, false);
        allocator.free(chunk);
        held.clear();
        assertThatThrownBy(() -> allocator.free(chunk)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aSweptSlabGivesOutNothingAndIsFreeWhenEmpty() {
        long first = take(8000, false);
        int slab = allocator.beginSweep();
        assertThat(allocator.sweepTo(slab)).isEqualTo(1);
        long second = take(8000, false);
        assertThat(second >>> 16).isNotEqualTo(first >>> 16);
        allocator.free(first);
        held.remove(first);
        allocator.endSweep(slab);
        assertThat(allocator.freeSlabs()).isEqualTo(SLABS - 1);
    }

    @Test
    void aPausedSweepGoesOnWhereItStopped() {
        take(8000, false);
        long second = take(8000, false);
        int slab = allocator.beginSweep();
        allocator.pauseSweep(slab, 1);
        assertThat(allocator.beginSweep()).isEqualTo(slab);
        assertThat(allocator.chunk(slab, allocator.sweepFrom(slab))).isEqualTo(second);
        allocator.endSweep(slab);
        assertThat(allocator.freeSlabs()).isEqualTo(SLABS - 1);
    }

    @Test
    void randomUseKeepsTheBooks() {
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            if (held.isEmpty() || random.nextInt(100) < 55) {
                take(
                        1 + random.nextInt(random.nextBoolean() ? 200 : SizeClasses.MAX_CHUNK_BYTES),
                        random.nextBoolean());
            } else {
                int at = random.nextInt(held.size());
                allocator.free(held.get(at));
                held.set(at, held.getLast());
                held.removeLast();
            }
        }
    }

    private long take(int bytes, boolean fromReserve) {
        long chunk = allocator.allocate(SizeClasses.of(bytes), Generation.PROBATION, fromReserve);
        if (chunk != NONE) {
            assertThat(memory.getLong(chunk)).isZero();
            held.add(chunk);
        }
        return chunk;
    }

    private void fill(int bytes) {
        while (take(bytes, false) != NONE) {
            memory.putLong(held.getLast(), 1);
        }
    }

    private void giveAllBack() {
        held.forEach(allocator::free);
        held.clear();
    }
}
