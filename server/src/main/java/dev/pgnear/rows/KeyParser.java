package dev.pgnear.rows;

import dev.pgnear.pg.catalog.MappingSet;
import java.util.function.Supplier;

/** Reads row keys in place. One per event loop; not thread-safe. */
public final class KeyParser {
    /** What a key turned out to be. */
    public enum Kind {
        /** A row; canonical bytes and hash are there. */
        ROW,
        /** A row, but only PostgreSQL can tell what the spelling of its key means: a miss. */
        NEEDS_POSTGRES,
        /** Neither {@code CRUD:} nor an alias: a key of the key space. */
        NOT_A_ROW,
        /** {@link Key#error} says what is wrong. */
        ERROR
    }

    /** One parsed key, to be used again and again by its owner. */
    public static final class Key {
        private Kind kind = Kind.NOT_A_ROW;
        private String error = "";

        /** What the last parse found. */
        public Kind kind() {
            return kind;
        }

        /** The complete Redis error line of kind {@link Kind#ERROR}. */
        public String error() {
            return error;
        }
    }

    private final String database;
    private final Supplier<MappingSet> mappings;

    /**
     * @param database the only database that {@code CRUD:} keys may name
     * @param mappings the current set
     */
    public KeyParser(String database, Supplier<MappingSet> mappings) {
        this.database = database;
        this.mappings = mappings;
    }

    /**
     * Parses one key.
     *
     * @param into gets the outcome; nothing in it refers to {@code bytes} afterwards
     * @return its kind
     */
    public Kind parse(byte[] bytes, int offset, int length, Key into) {
        throw new UnsupportedOperationException(database + mappings);
    }
}
