package dev.pgnear.pg.backend;

/** The deadline of an execution passed. PostgreSQL may still be working at it, until its own {@code statement_timeout}. */
public final class BackendTimeout extends RuntimeException {
    private final boolean sent;

    BackendTimeout(String message, boolean sent) {
        super(message, null, false, false);
        this.sent = sent;
    }

    /** Whether the statement was sent: then its outcome is unknown. */
    public boolean sent() {
        return sent;
    }
}
