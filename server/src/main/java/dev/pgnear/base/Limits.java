package dev.pgnear.base;

/** Every bound of the product, with its reason. Reaching one has a defined answer and a counter. */
public final class Limits {
    /** Partitions of the cache and of the fence table: enough that loops and the stream seldom meet on one lock. */
    public static final int PARTITIONS = 64;

    /** Changed keys of one transaction that are kept; beyond it the relation is fenced as a whole. */
    public static final int DIRTY_KEYS_PER_TRANSACTION = 4096;

    /** Keys of one MGET. */
    public static final int MGET_KEYS = 1024;

    /** Keys of one fill query: one MGET's worth. */
    public static final int FILL_KEYS = 1024;

    /** Bytes of rows that one fill query is expected to bring, by the largest row of the table seen so far; keeps one answer's memory small. */
    public static final int FILL_BYTES = 16 << 20;

    /** How often one read joins a fill whose answer it then may not have, before it gets a query of its own. */
    public static final int READ_TRIES = 4;

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

    private Limits() {}
}
