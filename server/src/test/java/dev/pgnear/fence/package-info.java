/** The fence against a second standby that is slow: the gap between commit record and visibility, made as long as a test likes. */
@NullMarked
package dev.pgnear.fence;

import org.jspecify.annotations.NullMarked;
