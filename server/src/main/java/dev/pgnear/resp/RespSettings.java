package dev.pgnear.resp;

import dev.pgnear.base.Limits;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What the operator may choose for the RESP door.
 *
 * @param tokens passwords
 * @param maxClients connections at one time
 * @param commandTimeoutMillis how long a command waits for PostgreSQL
 * @param idleTimeoutMillis how long a reader may make no progress
 * @param outputPauseBytes unsent bytes at which a client's next command is not begun
 * @param version of pgnear
 * @param configuration what CONFIG GET shows besides Redis's own names; no secrets
 */
public record RespSettings(
        AccessTokens tokens,
        int maxClients,
        long commandTimeoutMillis,
        long idleTimeoutMillis,
        int outputPauseBytes,
        String version,
        Map<String, String> configuration) {

    /** With the defaults of {@link Limits}. */
    public static RespSettings defaults(AccessTokens tokens, String version) {
        return new RespSettings(
                tokens,
                Limits.CLIENTS,
                Limits.COMMAND_TIMEOUT_MILLIS,
                TimeUnit.SECONDS.toMillis(Limits.IDLE_TIMEOUT_SECONDS),
                Limits.OUTPUT_PAUSE_BYTES,
                version,
                Map.of());
    }

    /** In nanoseconds. */
    public long commandTimeoutNanos() {
        return TimeUnit.MILLISECONDS.toNanos(commandTimeoutMillis);
    }
}
