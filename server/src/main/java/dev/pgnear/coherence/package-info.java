/** Fences, fills, generations, positions: pure rules without I/O or threads (docs/COHERENCE.md). */
@NullMarked
package dev.pgnear.coherence;

import org.jspecify.annotations.NullMarked;
