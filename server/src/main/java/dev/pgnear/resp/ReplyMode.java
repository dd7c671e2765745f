package dev.pgnear.resp;

/** CLIENT REPLY of one connection: which replies are not sent. */
final class ReplyMode {
    private boolean off;
    private boolean skipNext;
    private boolean skipThis;

    /** A command begins. */
    void begin() {
        skipThis = skipNext;
        skipNext = false;
    }

    /** The command will begin again. */
    void again() {
        skipNext = skipThis;
    }

    /** Whether the current command's reply is dropped; CLIENT REPLY OFF and SKIP have none themselves. */
    boolean isMuted() {
        return off || skipThis || skipNext;
    }

    void off(boolean isOff) {
        off = isOff;
    }

    void skipNext() {
        skipNext = !off;
    }

    void reset() {
        off = false;
        skipNext = false;
    }
}
