package dev.pgnear.pg.wire;

/** The login cannot go on, for a reason on our side of it; the message is one sentence for the user. */
public final class AuthenticationException extends RuntimeException {
    public AuthenticationException(String message) {
        super(message);
    }

    public AuthenticationException(String message, Throwable cause) {
        super(message, cause);
    }
}
