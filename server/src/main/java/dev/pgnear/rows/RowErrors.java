package dev.pgnear.rows;

import dev.pgnear.pg.backend.BackendTimeout;
import dev.pgnear.pg.backend.BackendUnavailable;
import dev.pgnear.pg.wire.PgException;

/** What a failed read becomes on the Redis side: one table from causes to error lines. */
final class RowErrors {
    /** A row above {@link dev.pgnear.base.Limits#ROW_BYTES}. */
    static final class RowTooLarge extends RuntimeException {
        RowTooLarge() {
            super("ERR row too large", null, false, false);
        }
    }

    private RowErrors() {}

    /** The complete error line. */
    static String line(Throwable cause) {
        String text = switch (cause) {
            case PgException e -> "ERR PostgreSQL: " + e.sqlState() + " " + e.getMessage();
            case BackendTimeout e -> "ERR timeout: " + e.getMessage();
            case BackendUnavailable e -> "ERR PostgreSQL is not available: " + e.getMessage();
            case RowTooLarge e ->
                "ERR row too large: its JSON has more than " + dev.pgnear.base.Limits.ROW_BYTES
                        + " bytes; read it with SQL";
            default -> "ERR internal error: " + cause;
        };
        return oneLine(text);
    }

    /** Control characters would end the line early. */
    static String oneLine(String text) {
        return text.chars().anyMatch(c -> c < ' ') ? text.replaceAll("[\\x00-\\x1f]+", " ") : text;
    }

    /** Whether the data of some key is the cause, so that the others of the same query deserve another try without it. */
    static boolean isOfOneKey(Throwable cause) {
        return cause instanceof PgException e
                && !e.fatal()
                && (e.sqlState().startsWith("22")
                        || e.sqlState().startsWith("21")
                        || e.sqlState().startsWith("54")
                        || e.sqlState().startsWith("P0"));
    }

    /** Whether the table was renamed, dropped or altered since its mapping was read. */
    static boolean isStaleMapping(Throwable cause) {
        return cause instanceof PgException e
                && (e.sqlState().equals("42P01")
                        || e.sqlState().equals("3F000")
                        || e.sqlState().equals("42703")
                        || e.sqlState().equals("42883"));
    }
}
