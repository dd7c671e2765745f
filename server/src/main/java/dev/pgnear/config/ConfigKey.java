package dev.pgnear.config;

import java.util.Locale;
import java.util.Optional;

/**
 * Every configuration key: its name in the TOML file and as a flag ({@code --name}), as an environment variable ({@code PGNEAR_NAME}), its
 * default, how its text is checked and what it is for. The documentation is generated from this table.
 */
public enum ConfigKey {
    POSTGRES("", Kind.TEXT, "postgresql://user:password@host:5432/database of the PostgreSQL to serve from"),
    BIND("127.0.0.1", Kind.TEXT, "address that the doors listen on"),
    RESP_PORT("6380", Kind.PORT, "port of the Redis protocol door; 0 takes a free one"),
    HTTP_PORT("8380", Kind.PORT, "port of the HTTP door (metrics, health); 0 takes a free one"),
    NO_RESP("false", Kind.SWITCH, "closes the Redis protocol door"),
    NO_HTTP("false", Kind.SWITCH, "closes the HTTP door"),
    MEMORY_BUDGET("384MiB", Kind.BYTES, "off-heap memory of the cache, index included; at least 16MiB"),
    THREADS("0", Kind.COUNT, "event loops; 0 means one for each core"),
    TRANSPORT("auto", Kind.TRANSPORT, "auto, io_uring, epoll or nio"),
    COHERENCE("tracked", Kind.COHERENCE, "fenced (every COMMIT waits for this node) or tracked"),
    NODE_NAME(
            "pgnear1", Kind.NAME, "name of this node: its application_name, and what synchronous_standby_names lists"),
    MAX_STALENESS(
            "1s", Kind.DURATION, "hits are served only while the stream is proven to be this fresh; 100ms to 60s"),
    STATEMENT_TIMEOUT("2s", Kind.DURATION, "deadline of one command, and PostgreSQL's statement_timeout for it"),
    LOCK_TIMEOUT("250ms", Kind.DURATION, "PostgreSQL's lock_timeout for reads"),
    CLIENTS("10000", Kind.COUNT, "clients of the RESP door at most"),
    IDLE_TIMEOUT("300s", Kind.DURATION, "a client that does not read its replies for this long is dropped"),
    AUTH_TOKEN_FILE("", Kind.TEXT, "file with the token that clients must send by AUTH; mode 0600 or 0400");

    /** How a key's text is checked and read. */
    enum Kind {
        TEXT,
        PORT,
        SWITCH,
        BYTES,
        COUNT,
        DURATION,
        COHERENCE,
        TRANSPORT,
        NAME
    }

    private final String defaultText;
    private final Kind kind;
    private final String purpose;

    ConfigKey(String defaultText, Kind kind, String purpose) {
        this.defaultText = defaultText;
        this.kind = kind;
        this.purpose = purpose;
    }

    /** Name in the file and, behind {@code --}, on the command line. */
    public String key() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Name of the environment variable. */
    public String environment() {
        return "PGNEAR_" + name();
    }

    /** Text of the default; empty means none. */
    public String defaultText() {
        return defaultText;
    }

    Kind kind() {
        return kind;
    }

    /** What the key is for, with its range. */
    public String purpose() {
        return purpose;
    }

    /** Whether the value may hold a password, which is never printed. */
    public boolean secret() {
        return this == POSTGRES;
    }

    /** The key of this name, if there is one. */
    public static Optional<ConfigKey> byName(String name) {
        for (ConfigKey k : values()) {
            if (k.key().equals(name)) {
                return Optional.of(k);
            }
        }
        return Optional.empty();
    }
}
