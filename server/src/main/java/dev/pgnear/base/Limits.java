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

    /** Arguments that one request may announce, as in Redis; the request's bytes bound what is really kept. */
    public static final int MULTIBULK_COUNT = 1 << 20;

    /** Bytes of an inline command or of a length line, as in Redis. */
    public static final int INLINE_BYTES = 64 << 10;

    /** Arguments of a request before authentication, as in Redis. */
    public static final int UNAUTHENTICATED_ARGUMENTS = 10;

    /** Bytes of one argument before authentication, as in Redis. */
    public static final int UNAUTHENTICATED_BULK_BYTES = 16 << 10;

    /** Received bytes of one client that wait to be executed; beyond them its socket is not read. One whole request always fits. */
    public static final int INPUT_BYTES = REQUEST_BYTES + (64 << 10);

    /** Unsent reply bytes of one client at which its next command is not begun: enough to keep a socket busy, small enough for 10 000 clients. */
    public static final int OUTPUT_PAUSE_BYTES = 1 << 20;

    /** Reply bytes that are collected before they are handed to the channel within a burst. */
    public static final int OUTPUT_CHUNK_BYTES = 64 << 10;

    /** Commands of one client that wait for PostgreSQL at one time. */
    public static final int WAITING_COMMANDS = 256;

    /** Commands that one client may run before the other clients of its loop get their turn. */
    public static final int TURN_COMMANDS = 256;

    /** How long a slow reader may make no progress, in seconds. */
    public static final int IDLE_TIMEOUT_SECONDS = 300;

    /** How long a command waits for PostgreSQL, in milliseconds. */
    public static final int COMMAND_TIMEOUT_MILLIS = 2000;

    /** Bytes of an access token for an address that others can reach. */
    public static final int TOKEN_BYTES = 32;

    /** SCRAM iterations of a login to PostgreSQL: its default is 4096, and each costs CPU on our side. */
    public static final int SCRAM_ITERATIONS = 10_000_000;

    /** Bytes of one message from PostgreSQL. */
    public static final int BACKEND_MESSAGE_BYTES = 64 << 20;

    private Limits() {}
}
