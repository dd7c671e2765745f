package dev.pgnear.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.base.Check;
import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/** Checks everything that must hold of an allocator that nobody changes meanwhile. */
public final class SlabVerifier {
    private final SlabAllocator allocator;
    private final Memory memory;
    private final byte[] state;
    private final byte[] sizeClass;
    private final byte[] generation;
    private final short[] used;
    private final short[] cut;
    private final long[] freed;
    private final SlabList[] byAge;
    private final SlabList[] withRoom;

    private SlabVerifier(SlabAllocator allocator) throws ReflectiveOperationException {
        this.allocator = allocator;
        memory = field(allocator, "memory", Memory.class);
        state = field(allocator, "state", byte[].class);
        sizeClass = field(allocator, "sizeClass", byte[].class);
        generation = field(allocator, "generation", byte[].class);
        used = field(allocator, "used", short[].class);
        cut = field(allocator, "cut", short[].class);
        freed = field(allocator, "freed", long[].class);
        byAge = field(allocator, "byAge", SlabList[].class);
        withRoom = field(allocator, "withRoom", SlabList[].class);
    }

    /** Verifies the allocator and returns the addresses of all chunks in use. */
    public static Set<Long> verify(SlabAllocator allocator) {
        try {
            return new SlabVerifier(allocator).chunksInUse();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static <T> T field(SlabAllocator allocator, String name, Class<T> type)
            throws ReflectiveOperationException {
        Field field = SlabAllocator.class.getDeclaredField(name);
        field.setAccessible(true);
        return type.cast(field.get(allocator));
    }

    private final Map<SlabList, Set<Integer>> seen = new IdentityHashMap<>();

    private Set<Long> chunksInUse() throws ReflectiveOperationException {
        Set<Integer> free = members(field(allocator, "free", SlabList.class));
        Set<Integer> paused = members(field(allocator, "paused", SlabList.class));
        Set<Long> chunks = new HashSet<>();
        int freeSlabs = 0;
        for (int slab = 0; slab < allocator.slabs(); slab++) {
            switch (state[slab]) {
                case 0 -> freeSlabs++;
                case 1 -> verifyListed(slab);
                case 3 -> assertThat(paused).contains(slab);
                default -> throw new AssertionError("slab " + slab + " is left in state " + state[slab]);
            }
            assertThat(state[slab] == 0 || !free.contains(slab)).isTrue();
            if (state[slab] != 0) {
                addChunks(slab, chunks);
            }
        }
        assertThat(allocator.freeSlabs()).isEqualTo(freeSlabs);
        return chunks;
    }

    private void verifyListed(int slab) {
        assertThat(membersOnce(byAge[generation[slab]])).contains(slab);
        boolean hasRoom = freed[slab] != 0 || cut[slab] < SizeClasses.chunksPerSlab(sizeClass[slab]);
        Set<Integer> room = membersOnce(withRoom[generation[slab] * SizeClasses.COUNT + sizeClass[slab]]);
        assertThat(room.contains(slab)).isEqualTo(hasRoom);
    }

    private void addChunks(int slab, Set<Long> chunks) {
        Set<Long> free = new HashSet<>();
        for (long chunk = freed[slab]; chunk != 0; chunk = memory.getLong(chunk + 8)) {
            Check.that(free.add(chunk), "free list has a cycle");
            Check.that(memory.getLong(chunk) == 0, "header of a free chunk");
        }
        int usedChunks = 0;
        for (int i = 0; i < cut[slab]; i++) {
            long chunk = allocator.chunk(slab, i);
            if (!free.remove(chunk)) {
                chunks.add(chunk);
                usedChunks++;
            }
        }
        assertThat(free).as("free chunks that are no chunks").isEmpty();
        assertThat(usedChunks).as("chunks in use of slab " + slab).isEqualTo(used[slab]);
        assertThat(usedChunks).as("a slab in use has chunks in use").isPositive();
    }

    private Set<Integer> membersOnce(SlabList list) {
        return seen.computeIfAbsent(list, SlabVerifier::members);
    }

    private static Set<Integer> members(SlabList list) {
        Set<Integer> members = new HashSet<>();
        for (int slab = list.first(); slab != SlabAllocator.NO_SLAB; slab = list.next(slab)) {
            assertThat(members.add(slab)).isTrue();
        }
        assertThat(members).hasSize(list.size());
        return members;
    }
}
