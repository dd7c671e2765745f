package dev.pgnear.metrics;

/**
 * Figures of one attached table.
 *
 * @param table schema-qualified name
 * @param hits keys answered from the cache
 * @param misses keys read from PostgreSQL
 * @param entries entries now
 * @param bytes bytes of the entries now
 */
public record TableFigures(String table, long hits, long misses, long entries, long bytes) {}
