package dev.pgnear.pg.catalog;

import dev.pgnear.coherence.CommittedTransaction;

/** Knows which tables and keys a scope of {@code local_cache.invalidate} names. */
@FunctionalInterface
public interface InvalidationScopes {
    /** Adds what the scope names to the transaction; nothing if it names nothing here. Called by the stream's thread, must not block. */
    void addTo(CommittedTransaction transaction, String scope, MappingSet set);
}
