package dev.pgnear.base;

/** Every bound of the product, with its reason. Reaching one has a defined answer and a counter. */
public final class Limits {
    /** Partitions of the cache and of the fence table: enough that loops and the stream seldom meet on one lock. */
    public static final int PARTITIONS = 64;

    /** Changed keys of one transaction that are kept; beyond it the relation is fenced as a whole. */
    public static final int DIRTY_KEYS_PER_TRANSACTION = 4096;

    /** Keys of one MGET. */
    public static final int MGET_KEYS = 1024;

    /** Columns of a primary key. */
    public static final int KEY_COLUMNS = 16;

    /** Attached tables. */
    public static final int MAPPINGS = 1024;

    /** Bytes of one request for row commands: 1024 composite keys fit. */
    public static final int REQUEST_BYTES = 1 << 20;

    /** Bytes of one command's reply: beyond it one error and no partial array. */
    public static final int REPLY_BYTES = 64 << 20;

    /** Bytes of a row's JSON that are served at all. */
    public static final int ROW_BYTES = 1 << 20;

    /** Bytes of a row's JSON that are admitted to the cache. */
    public static final int CACHED_ROW_BYTES = 1 << 20;

    /** Bytes waiting in one client's output before its requests are no longer read. */
    public static final int OUTPUT_BYTES = 64 << 20;

    /** Clients of the RESP door. */
    public static final int CLIENTS = 10_000;

    /** Failed logins of one connection before it is closed. */
    public static final int AUTH_FAILURES = 5;

    /** SCRAM iterations of a login to PostgreSQL: its default is 4096, and each costs CPU on our side. */
    public static final int SCRAM_ITERATIONS = 10_000_000;

    /** Bytes of one message from PostgreSQL. */
    public static final int BACKEND_MESSAGE_BYTES = 64 << 20;

    /** Milliseconds between two looks at the server: several within the shortest useful max-staleness of one second. */
    public static final long SAMPLE_INTERVAL_MILLIS = 250;

    /** Milliseconds that a sample may stay unpassed before a beat is sent: longer than a busy stream's usual lag. */
    public static final long BEAT_AFTER_MILLIS = 250;

    /** Milliseconds between two beats at least: they are commits, and must stay few. */
    public static final long BEAT_INTERVAL_MILLIS = 500;

    /** Milliseconds before the first attempt to reconnect a side connection; each further pause is twice as long. */
    public static final long RETRY_MIN_MILLIS = 100;

    /** Milliseconds between attempts to reconnect a side connection at most: service must be back within 5 s of PostgreSQL. */
    public static final long RETRY_MAX_MILLIS = 1000;

    private Limits() {}
}
