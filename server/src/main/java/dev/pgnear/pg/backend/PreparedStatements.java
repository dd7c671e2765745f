package dev.pgnear.pg.backend;

import dev.pgnear.pg.wire.FrontendMessages;
import io.netty.buffer.ByteBuf;
import java.util.Iterator;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The prepared statements of one connection, at most {@code capacity}, the one not used for longest closed first. Parse and Close go into
 * the same pipeline as the executions, so the server sees them in order and nothing waits for them.
 */
final class PreparedStatements {
    private final int capacity;
    private final LinkedHashMap<Statement, Prepared> byStatement = new LinkedHashMap<>(16, 0.75f, true);
    private long names;

    PreparedStatements(int capacity) {
        this.capacity = capacity;
    }

    @Nullable
    Prepared get(Statement s) {
        return byStatement.get(s);
    }

    /** Writes the Parse, and the Close of another statement if there are too many. */
    Prepared prepare(Statement s, ByteBuf out) {
        if (byStatement.size() >= capacity) {
            Iterator<Prepared> eldest = byStatement.values().iterator();
            FrontendMessages.closeStatement(out, eldest.next().name);
            eldest.remove();
        }
        Prepared p = new Prepared("s" + names++);
        byStatement.put(s, p);
        FrontendMessages.parse(out, p.name, s.sql(), s.parameterTypes());
        return p;
    }

    /** Forgets a statement whose Parse failed: it does not exist on the server. */
    void failed(Statement s, Prepared p) {
        byStatement.remove(s, p);
    }

    /** Forgets a statement that is no longer usable, unless it has been prepared anew, and closes it on the server. */
    void discard(Statement s, Prepared p, ByteBuf out) {
        if (byStatement.remove(s, p)) {
            FrontendMessages.closeStatement(out, p.name);
        }
    }

    int size() {
        return byStatement.size();
    }
}
