package dev.pgnear.base;

/** Every bound of the product, with its reason. Reaching one has a defined answer and a counter. */
public final class Limits {
    /** Partitions of the cache and of the fence table: enough that loops and the stream seldom meet on one lock. */
    public static final int PARTITIONS = 64;

    /** Changed keys of one transaction that are kept; beyond it the relation is fenced as a whole. */
    public static final int DIRTY_KEYS_PER_TRANSACTION = 4096;

    /** Key fences of one partition (65 536 in all); beyond it they collapse to one floor, which is stricter and costs refused fills. */
    public static final int FENCES_PER_PARTITION = 65_536 / PARTITIONS;

    /** Xids that the fence of a relation, or of everything, keeps apart; beyond it they collapse to a floor. */
    public static final int RELATION_FENCE_XIDS = 64;

    /** Keys that one sample looks at for fences that may go: keeps a sample's work at about a millisecond. */
    public static final int PURGE_KEYS_PER_SAMPLE = 16_384;

    /** Samples that wait for the stream to pass them; older ones than max-staleness are forgotten anyway. */
    public static final int PENDING_SAMPLES = 256;

    /** Answers that a fill remembers as delivered while it was under way; beyond it the fill is refused. */
    public static final int OVERLAPPING_ANSWERS = 8;

    /** How soon {@code degraded} shows after its cause at the latest, whatever max-staleness is. */
    public static final long CLAIM_LEASE_NANOS = 1_000_000_000L;

    /** Largest WAL segment that PostgreSQL can have; a multiple of it is a segment boundary on every server. */
    public static final long WAL_SEGMENT_BYTES_MAX = 1L << 30;
    /** Bytes of one replication message that are looked at; a longer row counts as a change of its whole table. */
    public static final int STREAM_FRAME_BYTES = 16 << 20;

    /** Keys held for all large transactions that are still open in a stream; beyond it the one that grows is collapsed to its relations. */
    public static final int STREAMED_KEYS = 1 << 16;

    /** Logical messages of pgnear kept for one transaction; beyond it everything counts as changed. */
    public static final int STREAM_MESSAGES = 1024;

    /** Bytes of one logical message of pgnear; a longer one counts as a change of everything (any role can send them). */
    public static final int STREAM_MESSAGE_BYTES = 4096;

    /** Relations whose columns a stream remembers; beyond it the stream is restarted. */
    public static final int STREAM_RELATIONS = 1 << 16;

    /** Keys of one MGET. */
    public static final int MGET_KEYS = 1024;

    /** Keys of one fill query: one MGET's worth. */
    public static final int FILL_KEYS = 1024;

    /** Bytes of rows that one fill query is expected to bring, by the largest row of the table seen so far; keeps one answer's memory small. */
    public static final int FILL_BYTES = 16 << 20;

    /** How often one read that may not have a fill's answer starts over at once; then it pauses a little longer each time, until its deadline. */
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

    /** SCRAM iterations of a login to PostgreSQL: its default is 4096, and each costs CPU on our side. */
    public static final int SCRAM_ITERATIONS = 10_000_000;

    /** Bytes of one message from PostgreSQL. */
    public static final int BACKEND_MESSAGE_BYTES = 64 << 20;
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

    /** Connections to PostgreSQL of one event loop: one carries everything, the others pass by statements that hang in a lock. */
    public static final int BACKEND_CONNECTIONS_PER_LOOP = 4;

    /** Unanswered executions on one connection to PostgreSQL. */
    public static final int BACKEND_PIPELINE = 1024;

    /** Executions of one event loop that wait for a connection or behind a lock. */
    public static final int BACKEND_WAITING = 16_384;

    /** Prepared statements of one connection; the one not used for longest is closed. */
    public static final int BACKEND_STATEMENTS = 256;

    /** A connection whose oldest execution has made no progress for this long gets no further ones. */
    public static final int BACKEND_STUCK_MILLIS = 20;

    /** A connection hung this long in an execution that nobody waits for any more is closed and replaced. */
    public static final int BACKEND_GIVE_UP_MILLIS = 100;

    /** From the first byte of a connection to PostgreSQL, address look-up included, to its being usable. */
    public static final int BACKEND_LOGIN_MILLIS = 5_000;

    /** First and longest pause between attempts to reach PostgreSQL; doubled in between. */
    public static final int BACKEND_BACKOFF_MIN_MILLIS = 50;

    public static final int BACKEND_BACKOFF_MAX_MILLIS = 1_000;

    /** Additional connections to PostgreSQL that were idle for so long are closed. */
    public static final int BACKEND_IDLE_SECONDS = 60;

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

    /** Steps of one turn of the reclaimer: some tens of microseconds. */
    public static final int RECLAIM_STEPS = 256;

    /** Milliseconds that the reclaimer rests when nothing is left to reclaim. */
    public static final long RECLAIM_PAUSE_MILLIS = 20;

    /** Milliseconds without an answer after which a control connection counts as lost. */
    public static final int CONTROL_SILENCE_MILLIS = 4000;

    private Limits() {}
}
