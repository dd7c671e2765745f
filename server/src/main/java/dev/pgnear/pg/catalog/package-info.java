/** Tables, keys, mappings and privileges: set-up, preflight, attaching, sampling. */
@NullMarked
package dev.pgnear.pg.catalog;

import org.jspecify.annotations.NullMarked;
