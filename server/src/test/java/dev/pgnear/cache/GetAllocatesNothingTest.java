package dev.pgnear.cache;

import static dev.pgnear.cache.CacheDriver.hash;
import static dev.pgnear.cache.CacheDriver.key;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class GetAllocatesNothingTest {
    private static final int KEYS = 1000;

    private final CacheDriver driver = new CacheDriver(16 << 20);
    private final int space = driver.cache.newSpace();
    private final BytesSink sink = new BytesSink();
    private final byte[][] keys = new byte[2 * KEYS][];
    private final long[] hashes = new long[2 * KEYS];

    @Test
    void hitsAbsencesAndMissesAllocateNothing() {
        for (int i = 0; i < 2 * KEYS; i++) {
            keys[i] = key(i);
            hashes[i] = hash(keys[i]);
        }
        for (int i = 0; i < KEYS; i++) {
            driver.put(space, key(i), i % 3 == 0 ? null : new byte[i % 50 == 1 ? 20_000 : i]);
        }
        long read = 0;
        for (int i = 0; i < 50; i++) {
            read += readAll();
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 50; i++) {
            read += readAll();
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(read).isPositive();
        assertThat(allocated).as("bytes allocated by 100 000 reads").isLessThan(1000);
        CacheVerifier.verify(driver.cache);
    }

    private long readAll() {
        long read = 0;
        for (int i = 0; i < 2 * KEYS; i++) {
            read += driver.cache.get(space, hashes[i], keys[i], 0, 8, sink);
            read += driver.cache.lsn(space, hashes[i], keys[i], 0, 8);
            sink.reset();
        }
        return read;
    }
}
