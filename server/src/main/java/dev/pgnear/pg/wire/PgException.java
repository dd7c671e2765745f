package dev.pgnear.pg.wire;

import org.jspecify.annotations.Nullable;

/**
 * An ErrorResponse (or NoticeResponse) of PostgreSQL. Has no stack trace: it tells what the server said, not where it was read.
 */
public final class PgException extends RuntimeException {
    private final String severity;
    private final String sqlState;
    private final @Nullable String detail;
    private final @Nullable String hint;

    /**
     * @param severity not translated: ERROR, FATAL, PANIC, WARNING, ...
     * @param sqlState five characters
     */
    public PgException(
            String severity, String sqlState, String message, @Nullable String detail, @Nullable String hint) {
        super(message, null, false, false);
        this.severity = severity;
        this.sqlState = sqlState;
        this.detail = detail;
        this.hint = hint;
    }

    /** ERROR, FATAL, PANIC and so on, never translated. */
    public String severity() {
        return severity;
    }

    /** The five-character code, see "PostgreSQL Error Codes". */
    public String sqlState() {
        return sqlState;
    }

    public @Nullable String detail() {
        return detail;
    }

    public @Nullable String hint() {
        return hint;
    }

    /** Whether the server ends the session with this error. */
    public boolean fatal() {
        return severity.equals("FATAL") || severity.equals("PANIC");
    }

    /** {@code message (SQLSTATE)}, for logs and messages. */
    public String summary() {
        return getMessage() + " (" + sqlState + ")";
    }
}
