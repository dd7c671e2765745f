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

    /** Bytes of a canonical key that is admitted to the cache: beyond what PostgreSQL's indexes hold uncompressed. */
    public static final int CACHED_KEY_BYTES = 4096;

    /** Smallest memory budget in bytes: each partition has an index page, and a few size classes have slabs. */
    public static final long MIN_MEMORY_BUDGET_BYTES = 4L << 20;

    /** Bytes waiting in one client's output before its requests are no longer read. */
    public static final int OUTPUT_BYTES = 64 << 20;

    /** Clients of the RESP door. */
    public static final int CLIENTS = 10_000;

    /** Failed logins of one connection before it is closed. */
    public static final int AUTH_FAILURES = 5;

    private Limits() {}
}
