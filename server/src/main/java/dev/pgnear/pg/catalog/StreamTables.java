package dev.pgnear.pg.catalog;

import dev.pgnear.coherence.CommittedTransaction;
import org.jspecify.annotations.Nullable;

/** What a stream asks of the mappings. All calls come from the stream's thread and never block. */
public interface StreamTables {
    /** The mapping of an attached table (also while it is suspended or bypassed), or null. */
    @Nullable
    TableMapping byOid(int oid);

    /** The stream showed columns or a replica identity that no longer let the key be read; the caller adds a relation event itself. */
    void unreadable(int oid, String reason);

    /**
     * A committed transactional message of prefix {@code pgnear}, in commit order. May add relation events to the transaction, which is applied
     * after this call. Contents: {@code mapping <oid>}, {@code ddl <oid> <tag>} (oid 0: any), {@code invalidate <scope>}, {@code beat}.
     */
    void message(String content, CommittedTransaction transaction);
}
