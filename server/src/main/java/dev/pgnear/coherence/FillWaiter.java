package dev.pgnear.coherence;

import org.jspecify.annotations.Nullable;

/** A reader that waits for a fill. Exactly one method is called, once, on the thread on which the fill ended; it must not block. */
public interface FillWaiter {
    /** The row's value, or null if it is absent. */
    void row(byte @Nullable [] value);

    /** This answer may not be given to this reader (it came after the fill was sent): read again from the start. */
    void again();

    /** The fill failed; the reader gets the error. */
    void failed(Throwable cause);
}
