package dev.pgnear.pg.backend;

import org.jspecify.annotations.Nullable;

/** There is no usable connection to PostgreSQL, or the connection broke before the answer was complete. One sentence for the user. */
public final class BackendUnavailable extends RuntimeException {
    private final boolean sent;

    BackendUnavailable(String message, boolean sent, @Nullable Throwable cause) {
        super(message, cause, false, false);
        this.sent = sent;
    }

    /** Whether the statement was sent: then its outcome is unknown, and only a read may be tried again. */
    public boolean sent() {
        return sent;
    }
}
