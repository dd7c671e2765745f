package dev.pgnear.pg.replication;

import java.io.IOException;

/** PostgreSQL sent bytes that are not understood. Nothing can be said about what changed, so the stream must start again. */
final class StreamProtocolException extends IOException {
    private static final long serialVersionUID = 1L;

    StreamProtocolException(String message) {
        super(message);
    }
}
