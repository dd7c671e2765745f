package dev.pgnear.pg.catalog;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether every COMMIT waits for a node (docs/COHERENCE.md, "Fenced claim"). The rule must require every name listed (F19); no name of
 * it may be on two walsenders, since either would count for both (F18); the node's own walsender must be {@code sync} or {@code quorum}; and the
 * role must be allowed to see that (F39).
 */
final class Requirement {
    private Requirement() {}

    /**
     * @param setting text of synchronous_standby_names
     * @param walsenders of the server
     * @param visible whether the role sees other roles' states
     * @param released whether the node's leaving is announced
     * @return why not, or null if it is required
     */
    static @Nullable String whyNot(
            String node, String setting, List<Fence.Walsender> walsenders, boolean visible, boolean released) {
        if (released) {
            return "its release is announced (`pgnear fence join` takes it back)";
        }
        SynchronousStandbys rule;
        try {
            rule = SynchronousStandbys.parse(setting);
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
        String reason = rule.whyNotRequired(node);
        if (reason != null) {
            return reason;
        }
        if (!visible) {
            return "the role may not see the state of walsenders; GRANT pg_monitor to it";
        }
        for (String name : rule.names()) {
            long count = walsenders.stream()
                    .filter(w -> w.name().equalsIgnoreCase(name))
                    .count();
            if (count > 1) {
                return count + " walsenders call themselves " + name;
            }
        }
        for (Fence.Walsender w : walsenders) {
            if (w.name().equalsIgnoreCase(node)) {
                return isSynchronous(w) ? null : "its walsender is " + w.state() + ", " + w.syncState();
            }
        }
        return "its walsender is not connected";
    }

    private static boolean isSynchronous(Fence.Walsender w) {
        return w.syncState().equals("sync") || w.syncState().equals("quorum");
    }
}
