package dev.pgnear.pg.catalog;

import org.jspecify.annotations.Nullable;

/** The sessions that read rows, as seen by the control plane. Both calls wait, for seconds at most; they are for the control plane's thread only. */
public interface FillSessions {
    /** For nodes that read no rows, and tests. */
    FillSessions NONE = new FillSessions() {
        @Override
        public @Nullable String settings() {
            return null;
        }

        @Override
        public void renew() {}
    };

    /**
     * What such a session has for the settings that decide how a value becomes text. ALTER SYSTEM and a reload change them in sessions that
     * are open; settings of a role or a database take effect in new sessions only. Null if there is no session, or it gives no answer now.
     */
    @Nullable
    String settings();

    /**
     * Returns when no row will be asked for any more in a session opened before the call.
     *
     * @throws IllegalStateException if that took too long; it has to be called again
     */
    void renew();
}
