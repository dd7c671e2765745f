package dev.pgnear.pg.catalog;

import dev.pgnear.coherence.Relation;
import org.jspecify.annotations.Nullable;

/**
 * One attached table as this node knows it now. Immutable; a change of the catalog makes a new one.
 *
 * @param oid pg_class.oid
 * @param alias short key prefix, or null
 * @param writable whether SET and DEL are allowed
 * @param key the primary key
 * @param relation the table's side in the coherence rules
 * @param bypassReason why rows are not cached at present, or null
 */
public record TableMapping(
        int oid,
        String schema,
        String table,
        @Nullable String alias,
        boolean writable,
        KeyCodec key,
        Relation relation,
        @Nullable String bypassReason) {

    /** {@link #bypassReason} of a table whose rows may not be read by key, because what a role sees depends on the row. */
    public static final String ROW_SECURITY = "row security is enabled on the table";

    /** Whether reads by key are refused. */
    public boolean refused() {
        return ROW_SECURITY.equals(bypassReason);
    }

    /** As in {@code public.items}, for messages. */
    public String displayName() {
        return schema + "." + table;
    }
}
