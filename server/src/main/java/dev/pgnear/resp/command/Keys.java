package dev.pgnear.resp.command;

import dev.pgnear.base.Limits;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.RowSource;
import dev.pgnear.resp.Session;
import org.jspecify.annotations.Nullable;

/** Parses all keys of a command before any of them is read. */
final class Keys {
    /**
     * @param error the only reply, or null
     * @param busy whether an earlier command of the connection still waits for one of the rows
     */
    record Check(@Nullable String error, boolean busy) {
        static final Check GOOD = new Check(null, false);
        static final Check BUSY = new Check(null, true);
    }

    private Keys() {}

    /** Key {@code i} of the request is then in slot {@code i - 1}. */
    static Check check(Session session, Request request, String command) {
        int n = request.count() - 1;
        if (n > Limits.MGET_KEYS) {
            return new Check("ERR " + command + " takes at most " + Limits.MGET_KEYS + " keys", false);
        }
        RowSource rows = session.rows();
        boolean busy = false;
        for (int i = 0; i < n; i++) {
            String error = rows.parse(i, request.bytes(), request.offset(i + 1), request.length(i + 1));
            if (error != null) {
                return new Check(error, false);
            }
            busy |= session.isReading(rows.identity(i));
        }
        return busy ? Check.BUSY : Check.GOOD;
    }
}
