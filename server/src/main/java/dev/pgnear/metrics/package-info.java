/** Counters and their names in STATS and Prometheus. */
@NullMarked
package dev.pgnear.metrics;

import org.jspecify.annotations.NullMarked;
