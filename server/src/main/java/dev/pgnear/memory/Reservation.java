package dev.pgnear.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Locale;

/**
 * Address space without memory behind it yet: {@code mmap(2)} of private anonymous pages, which the kernel fills with zeros when they are
 * first written. {@link Arena#allocate} would do for the semantics, but it writes the zeros itself and so takes all memory at once; it is
 * the fallback where there is no {@code mmap}.
 */
final class Reservation {
    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_PRIVATE = 2;
    /** {@code MAP_ANONYMOUS | MAP_NORESERVE} of {@code <sys/mman.h>}. */
    private static final int LINUX_FLAGS = 0x20 | 0x4000;

    /** {@code MADV_HUGEPAGE}: random reads of a large cache miss the TLB much less. A wish; refusal changes nothing. */
    private static final int LINUX_HUGE_PAGES = 14;

    private static final int MAC_FLAGS = 0x1000 | 0x40;
    private static final long MAP_FAILED = -1;

    private Reservation() {}

    static MemorySegment reserve(long bytes, Arena arena) {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        if (system.contains("linux")) {
            MemorySegment mapped = map(bytes, MAP_PRIVATE | LINUX_FLAGS, arena);
            wishForHugePages(mapped);
            return mapped;
        }
        if (system.contains("mac")) {
            return map(bytes, MAP_PRIVATE | MAC_FLAGS, arena);
        }
        return arena.allocate(bytes, Long.BYTES);
    }

    @SuppressWarnings("restricted") // the size is the one that was mapped, and the mapping lives as long as the arena
    private static MemorySegment map(long bytes, int flags, Arena arena) {
        try {
            MemorySegment start =
                    (MemorySegment) mmap().invokeExact(MemorySegment.NULL, bytes, PROT_READ_WRITE, flags, -1, 0L);
            if (start.address() == MAP_FAILED) {
                throw new IllegalStateException(refusal(bytes));
            }
            MethodHandle munmap = munmap();
            return start.reinterpret(bytes, arena, mapped -> unmap(munmap, mapped, bytes));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(refusal(bytes), e);
        }
    }

    private static void wishForHugePages(MemorySegment mapped) {
        MethodHandle madvise = function(
                "madvise",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
        try {
            int ignored = (int) madvise.invokeExact(mapped, mapped.byteSize(), LINUX_HUGE_PAGES);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("madvise failed", e);
        }
    }

    private static String refusal(long bytes) {
        return "the operating system does not let pgnear reserve " + bytes
                + " bytes of address space for the memory budget; lower memory-budget or raise its limit (ulimit -v,"
                + " vm.overcommit_memory)";
    }

    private static void unmap(MethodHandle munmap, MemorySegment mapped, long bytes) {
        try {
            int result = (int) munmap.invokeExact(mapped, bytes);
            if (result != 0) {
                throw new IllegalStateException("munmap failed");
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("munmap failed", e);
        }
    }

    private static MethodHandle mmap() {
        return function(
                "mmap",
                FunctionDescriptor.of(
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG));
    }

    private static MethodHandle munmap() {
        return function(
                "munmap", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    }

    @SuppressWarnings("restricted") // the two signatures above are those of POSIX
    private static MethodHandle function(String name, FunctionDescriptor signature) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), signature);
    }
}
