package dev.pgnear.metrics;

import java.util.Locale;

/**
 * Every figure that users see, under one name on every surface: {@code STATS}, {@code INFO}, {@code local_cache.stats()} and, with prefix,
 * unit and {@code _total}, Prometheus. Names without a unit count things.
 */
public enum Stat {
    ENTRIES(Kind.GAUGE, "Entries in the cache"),
    POSITIVE_ENTRIES(Kind.GAUGE, "Entries that hold a row"),
    NEGATIVE_ENTRIES(Kind.GAUGE, "Entries that hold a proven absence"),
    CACHE_HITS(Kind.COUNTER, "Keys answered from the cache, absences included"),
    CACHE_MISSES(Kind.COUNTER, "Keys that had to be read from PostgreSQL"),
    NEGATIVE_HITS(Kind.COUNTER, "Keys answered as absent from the cache"),
    SQL_CACHE_HITS(Kind.COUNTER, "Keys answered from the cache at the SQL door"),
    SQL_CACHE_MISSES(Kind.COUNTER, "Keys of the SQL door that were not in the cache"),
    SQL_CACHE_FILLS(Kind.COUNTER, "Entries stored by the SQL door"),
    SQL_CACHE_BYPASSES(Kind.COUNTER, "Cacheable statements that were passed on to PostgreSQL"),
    DATABASE_READS(Kind.COUNTER, "Keys read from PostgreSQL"),
    DATABASE_WRITES(Kind.COUNTER, "Rows written to PostgreSQL"),
    INVALIDATIONS(Kind.COUNTER, "Keys and relations invalidated by committed transactions"),
    EVICTIONS(Kind.COUNTER, "Entries removed to make room"),
    SINGLEFLIGHT_LEADERS(Kind.COUNTER, "Fills begun"),
    SINGLEFLIGHT_WAITERS(Kind.COUNTER, "Readers that joined a fill under way"),
    ACTIVE_CLIENTS(Kind.GAUGE, "Clients connected to the RESP door"),
    PEAK_ACTIVE_CLIENTS(Kind.GAUGE, "Most clients connected at one time"),
    REJECTED_CONNECTIONS(Kind.COUNTER, "Connections refused at the client limit"),
    CONNECTIONS(Kind.COUNTER, "Connections accepted"),
    COMMANDS(Kind.COUNTER, "Commands executed"),
    AUTHENTICATION_FAILURES(Kind.COUNTER, "Wrong passwords"),
    PROTOCOL_ERRORS(Kind.COUNTER, "Connections closed for malformed frames"),
    OUTPUT_BACKPRESSURE_EVENTS(
            Kind.COUNTER, "Times that a client's requests were no longer read because its output was full"),
    SLOW_CLIENT_DROPS(Kind.COUNTER, "Clients dropped because they did not read their replies"),
    MEMORY_BUDGET_BYTES(Kind.GAUGE, "Bound of the cache's memory"),
    CACHE_MEMORY_CAPACITY_BYTES(Kind.GAUGE, "Bytes that the cache may use"),
    CACHE_MEMORY_USED_BYTES(Kind.GAUGE, "Bytes of slabs in use, index included"),
    CACHE_ADMISSION_REJECTIONS(Kind.COUNTER, "Rows served but not admitted"),
    DIRTY_KEY_LIMIT_FALLBACKS(Kind.COUNTER, "Transactions with too many keys, applied to the whole relation"),
    DEFERRED_MISSES_CURRENT(Kind.GAUGE, "Commands waiting for PostgreSQL"),
    DEFERRED_MISSES(Kind.COUNTER, "Commands that waited for PostgreSQL", "deferred_misses_total"),
    COMMAND_DEADLINES(Kind.COUNTER, "Commands that gave up waiting"),
    FAST_PATH_HITS(Kind.COUNTER, "Hits copied straight into the outbound buffer"),
    FAST_PATH_FALLBACKS_ORDERED(Kind.COUNTER, "Hits buffered behind an earlier miss of their connection"),
    COHERENCE(Kind.TEXT, "Coherence mode in force: fenced, tracked or degraded"),
    COHERENCE_REASON(Kind.TEXT, "Why the mode is not the one asked for, or why hits are not served"),
    STREAM_STATE(Kind.TEXT, "State of the stream: down, catching_up or ready"),
    HITS_ALLOWED(Kind.GAUGE, "1 if hits are served now"),
    FENCES_CURRENT(Kind.GAUGE, "Fences held"),
    FILLS_IN_FLIGHT(Kind.GAUGE, "Fills not yet answered"),
    FILLS_REFUSED(Kind.COUNTER, "Rows read but not stored because a fence forbade it"),
    STREAM_LAG_BYTES(Kind.GAUGE, "WAL between the server's and the applied position"),
    STREAM_LAG_MS(Kind.GAUGE, "Age of the newest moment that the stream is known to have reached, in milliseconds"),
    APPLIED_LSN(Kind.TEXT, "Everything up to this position was applied"),
    STREAM_RECONNECTS(Kind.COUNTER, "Times that the stream was opened again");

    /** How a figure behaves. */
    public enum Kind {
        /** Only grows. */
        COUNTER,
        /** Goes up and down. */
        GAUGE,
        /** A word. */
        TEXT
    }

    private final Kind kind;
    private final String help;
    private final String label;

    Stat(Kind kind, String help) {
        this.kind = kind;
        this.help = help;
        this.label = name().toLowerCase(Locale.ROOT);
    }

    Stat(Kind kind, String help, String label) {
        this.kind = kind;
        this.help = help;
        this.label = label;
    }

    /** Counter, gauge or text. */
    public Kind kind() {
        return kind;
    }

    /** One sentence for people. */
    public String help() {
        return help;
    }

    /** Name in STATS and INFO. */
    public String label() {
        return label;
    }

    /** Name in Prometheus: prefix, base unit, {@code _total} for counters. */
    public String prometheusName() {
        return switch (this) {
            case STREAM_LAG_MS -> "pgnear_stream_lag_seconds";
            default -> "pgnear_" + (kind == Kind.COUNTER && !label.endsWith("_total") ? label + "_total" : label);
        };
    }
}
