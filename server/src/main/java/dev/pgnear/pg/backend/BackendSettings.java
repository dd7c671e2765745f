package dev.pgnear.pg.backend;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the sessions of a pool are told at start-up, and nothing else: row text must stay what a plain session of the role prints (SURFACE
 * 6.8), and fills need READ COMMITTED whatever the server's or the role's default is (COHERENCE, "Fill queries"). The planner's settings change no text.
 *
 * @param applicationName as pg_stat_activity shows it
 * @param statementTimeoutMillis the server's own end of a statement; 0 for none
 * @param lockTimeoutMillis the longest wait for one lock; 0 for none
 */
public record BackendSettings(String applicationName, int statementTimeoutMillis, int lockTimeoutMillis) {
    /** statement_timeout unless told otherwise. */
    public static final int DEFAULT_STATEMENT_TIMEOUT_MILLIS = 2000;

    /** lock_timeout unless told otherwise. */
    public static final int DEFAULT_LOCK_TIMEOUT_MILLIS = 250;

    /** The defaults under that name. */
    public static BackendSettings named(String applicationName) {
        return new BackendSettings(applicationName, DEFAULT_STATEMENT_TIMEOUT_MILLIS, DEFAULT_LOCK_TIMEOUT_MILLIS);
    }

    /** As parameters of the StartupMessage: they become the session's defaults, so no RESET undoes them. */
    Map<String, String> parameters() {
        Map<String, String> p = new LinkedHashMap<>();
        p.put("application_name", applicationName);
        p.put("client_encoding", "UTF8");
        p.put("default_transaction_isolation", "read committed");
        p.put("statement_timeout", Integer.toString(statementTimeoutMillis));
        p.put("lock_timeout", Integer.toString(lockTimeoutMillis));
        // a generic plan made while the table was small must not outlive its growth, and a fill is never worth
        // compiling
        p.put("enable_seqscan", "off");
        p.put("jit", "off");
        // rows that a policy would hide are an error, not an absence
        p.put("row_security", "off");
        return p;
    }
}
