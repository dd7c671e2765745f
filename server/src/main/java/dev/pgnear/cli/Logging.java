package dev.pgnear.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.slf4j.LoggerFactory;

/** Levels of the log (standard error); the pattern is in logback.xml. */
final class Logging {
    private Logging() {}

    static void configure(boolean debug) {
        if (LoggerFactory.getLogger("dev.pgnear") instanceof Logger l && debug) {
            l.setLevel(Level.DEBUG);
        }
    }
}
