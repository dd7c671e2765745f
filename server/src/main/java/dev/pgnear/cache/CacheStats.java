package dev.pgnear.cache;

/**
 * Figures of a cache at one moment.
 *
 * @param positiveEntries entries with a value, of live spaces
 * @param negativeEntries proven absences, of live spaces
 * @param usedBytes bytes of slabs in use, index included
 * @param budgetBytes the bound
 * @param evictions entries removed to make room, since start
 * @param admissionRejections values not admitted (too large or no room), since start
 */
public record CacheStats(
        long positiveEntries,
        long negativeEntries,
        long usedBytes,
        long budgetBytes,
        long evictions,
        long admissionRejections) {}
