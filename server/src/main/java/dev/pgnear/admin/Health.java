package dev.pgnear.admin;

import java.util.Map;

/** What the operators' door asks the rest of the node; called on any thread, must not block for long. */
public interface Health {
    /** Why the node cannot do its work now (PostgreSQL not reachable, stream not ready), or empty if it can. */
    String unreadyReason();

    /** Everything worth showing: coherence mode and reason, stream, tables. Values are what Jackson can write. */
    Map<String, Object> status();
}
