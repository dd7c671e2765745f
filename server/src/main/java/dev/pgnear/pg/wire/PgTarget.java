package dev.pgnear.pg.wire;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Where and as whom to connect.
 *
 * @param host name or address; IPv6 without brackets
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
        VERIFY_FULL;

        /** The name in a URL. */
        public String text() {
            return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Parses {@code postgresql://user:password@host:port/database?sslmode=verify-full&sslrootcert=/file.pem}. Everything but the scheme may
     * be left out: host {@code localhost}, port 5432, user as the operating system says, database as the user, sslmode {@code prefer}. Each
     * part may be percent-encoded; an IPv6 address stands in brackets.
     *
     * @throws IllegalArgumentException with one sentence for the user, which never contains the password
     */
    public static PgTarget parse(String url) {
        return new PgUrl(url).target();
    }

    /** This target with another database of the same server. */
    public PgTarget withDatabase(String other) {
        return new PgTarget(host, port, other, user, password, sslMode, rootCertificate);
    }

    /** URL for the JDBC driver; user, password and TLS are in {@link #jdbcProperties}. */
    public String jdbcUrl() {
        String name = URLEncoder.encode(database, StandardCharsets.UTF_8).replace("+", "%20");
        return "jdbc:postgresql://" + authority() + "/" + name;
    }

    /** Properties for the JDBC driver, to which the caller may add. */
    public Properties jdbcProperties() {
        Properties p = new Properties();
        p.setProperty("user", user);
        if (password != null) {
            p.setProperty("password", password);
        }
        p.setProperty("sslmode", sslMode.text());
        if (rootCertificate != null) {
            p.setProperty("sslrootcert", rootCertificate);
        } else if (sslMode == SslMode.VERIFY_FULL) {
            p.setProperty("sslfactory", "org.postgresql.ssl.DefaultJavaSSLFactory");
        }
        return p;
    }

    /** {@code host:port}, for messages. */
    public String authority() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "postgresql://" + user + "@" + authority() + "/" + database;
    }
}
