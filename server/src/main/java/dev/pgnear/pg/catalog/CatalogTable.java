package dev.pgnear.pg.catalog;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the catalog says of one attached table, in one snapshot.
 *
 * @param key empty if there is no primary key of usable types
 * @param problem why its rows may not be cached, or null
 * @param publicationMark changes whenever the table left the publication, however shortly
 */
record CatalogTable(
        int oid,
        String schema,
        String table,
        @Nullable String alias,
        boolean writable,
        List<KeyColumn> key,
        @Nullable String problem,
        String publicationMark) {}
