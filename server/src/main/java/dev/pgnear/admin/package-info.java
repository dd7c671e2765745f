/** The HTTP door: metrics, health, readiness. */
@NullMarked
package dev.pgnear.admin;

import org.jspecify.annotations.NullMarked;
