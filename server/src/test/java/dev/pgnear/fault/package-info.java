/** What happens when something dies, stops or is cut off, while writers and readers go on. */
@NullMarked
package dev.pgnear.fault;

import org.jspecify.annotations.NullMarked;
