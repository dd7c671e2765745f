package dev.pgnear.pg.catalog;

import dev.pgnear.coherence.Snapshot;
import java.util.Map;

/**
 * All attached tables in one snapshot of the catalog.
 *
 * @param snapshot of the statement that read them
 * @param tables by pg_class.oid; attached tables that no longer exist are missing
 */
record CatalogView(Snapshot snapshot, Map<Integer, CatalogTable> tables) {}
