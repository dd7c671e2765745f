package dev.pgnear.pg.wire;

/** The other side broke protocol 3: its bytes cannot be trusted any more and the connection has to be closed. */
public final class PgProtocolException extends RuntimeException {
    public PgProtocolException(String message) {
        super(message);
    }

    public PgProtocolException(String message, Throwable cause) {
        super(message, cause);
    }
}
