/** Long runs of many writers and readers over several nodes, with an auditor that knows every legal answer. */
@NullMarked
package dev.pgnear.torture;

import org.jspecify.annotations.NullMarked;
