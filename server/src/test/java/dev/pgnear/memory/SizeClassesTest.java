package dev.pgnear.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SizeClassesTest {
    @Test
    void everySizeFitsWithAtMostAnEighthOfWaste() {
        for (int bytes = SizeClasses.MIN_CHUNK_BYTES; bytes <= SizeClasses.MAX_CHUNK_BYTES; bytes++) {
            int chunk = SizeClasses.chunkBytes(SizeClasses.of(bytes));
            assertThat(chunk).isGreaterThanOrEqualTo(bytes);
            int padded = (bytes + 7) & ~7;
            assertThat(chunk - padded).as("waste of " + bytes).isLessThanOrEqualTo(chunk / 8);
        }
    }

    @Test
    void chunksFillTheirSlab() {
        for (int sizeClass = 0; sizeClass < SizeClasses.COUNT; sizeClass++) {
            int chunk = SizeClasses.chunkBytes(sizeClass);
            assertThat(chunk % 8).isZero();
            int rest = SizeClasses.SLAB_BYTES - chunk * SizeClasses.chunksPerSlab(sizeClass);
            assertThat(rest).as("rest of class " + chunk).isLessThan(SizeClasses.SLAB_BYTES / 100);
        }
    }

    @Test
    void indexClassesAreMultiplesOfCacheLines() {
        assertThat(SizeClasses.chunkBytes(SizeClasses.INDEX_PAGE)).isEqualTo(4096);
        assertThat(SizeClasses.chunkBytes(SizeClasses.OVERFLOW_BUCKET)).isEqualTo(64);
    }
}
