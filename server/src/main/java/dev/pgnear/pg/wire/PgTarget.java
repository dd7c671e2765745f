package dev.pgnear.pg.wire;

import org.jspecify.annotations.Nullable;

/**
 * Where and as whom to connect.
 *
 * @param password null if none was given
 * @param rootCertificate PEM file for verify-full, or null for the JDK's trust store
 */
public record PgTarget(
        String host,
        int port,
        String database,
        String user,
        @Nullable String password,
        SslMode sslMode,
        @Nullable String rootCertificate) {

    /** libpq's sslmode, the four that pgnear knows. */
    public enum SslMode {
        DISABLE,
        PREFER,
        REQUIRE,
        VERIFY_FULL
    }

    @Override
    public String toString() {
        return "postgresql://" + user + "@" + host + ":" + port + "/" + database;
    }
}
