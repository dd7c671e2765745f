package dev.pgnear.pg.replication;

import java.io.IOException;

/** The stream cannot be had as things are; the message is the whole sentence for the user. */
final class StreamRefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    StreamRefusedException(String sentence) {
        super(sentence);
    }
}
