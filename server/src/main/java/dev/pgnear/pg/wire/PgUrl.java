package dev.pgnear.pg.wire;

import dev.pgnear.pg.wire.PgTarget.SslMode;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Parser of connection URLs (PostgreSQL documentation, "Connection URIs", the parts that pgnear needs). java.net.URI is not used: it
 * refuses passwords and host names that libpq accepts, and quotes the whole URL, password included, in its errors.
 */
final class PgUrl {
    private static final int DEFAULT_PORT = 5432;

    private String host = "localhost";
    private int port = DEFAULT_PORT;
    private @Nullable String database;
    private @Nullable String user;
    private @Nullable String password;
    private SslMode sslMode = SslMode.PREFER;
    private @Nullable String rootCertificate;

    PgUrl(String url) {
        String rest = afterScheme(url);
        int query = rest.indexOf('?');
        String path = query < 0 ? rest : rest.substring(0, query);
        int slash = path.indexOf('/');
        authority(slash < 0 ? path : path.substring(0, slash));
        if (slash >= 0 && slash + 1 < path.length()) {
            database = decode(path.substring(slash + 1), "database");
        }
        if (query >= 0) {
            parameters(rest.substring(query + 1));
        }
    }

    PgTarget target() {
        String name = user == null ? System.getProperty("user.name", "postgres") : user;
        if (rootCertificate != null && sslMode != SslMode.VERIFY_FULL) {
            throw wrong("sslrootcert is only used with sslmode=verify-full; add that or leave sslrootcert out");
        }
        return new PgTarget(host, port, database == null ? name : database, name, password, sslMode, rootCertificate);
    }

    private static String afterScheme(String url) {
        for (String scheme : new String[] {"postgresql://", "postgres://"}) {
            if (url.startsWith(scheme)) {
                return url.substring(scheme.length());
            }
        }
        throw wrong("it does not begin with postgresql://");
    }

    private void authority(String text) {
        int at = text.lastIndexOf('@');
        if (at >= 0) {
            userInfo(text.substring(0, at));
        }
        hostAndPort(text.substring(at + 1));
    }

    private void userInfo(String text) {
        int colon = text.indexOf(':');
        String name = decode(colon < 0 ? text : text.substring(0, colon), "user");
        user = name.isEmpty() ? null : name;
        password = colon < 0 ? null : decode(text.substring(colon + 1), "password");
    }

    private void hostAndPort(String text) {
        if (text.indexOf(',') >= 0) {
            throw wrong("it names several hosts; pgnear stands in front of one PostgreSQL, its primary");
        }
        int hostEnd = text.startsWith("[") ? text.indexOf(']') + 1 : text.indexOf(':');
        if (text.startsWith("[") && hostEnd == 0) {
            throw wrong("the bracket of its IPv6 address is not closed");
        }
        int end = hostEnd < 0 ? text.length() : hostEnd;
        host(text.substring(0, end));
        if (end < text.length()) {
            port(text.substring(end));
        }
    }

    private void host(String text) {
        String name = text.startsWith("[") ? text.substring(1, text.length() - 1) : decode(text, "host");
        if (name.startsWith("/")) {
            throw wrong("it names a Unix socket; pgnear connects over TCP");
        }
        host = name.isEmpty() ? host : name;
    }

    private void port(String text) {
        if (text.equals(":")) {
            return;
        }
        try {
            port = text.startsWith(":") ? Integer.parseInt(text, 1, text.length(), 10) : 0;
        } catch (NumberFormatException e) {
            port = 0;
        }
        if (port < 1 || port > 65535) {
            throw wrong("its port is not a number from 1 to 65535");
        }
    }

    private void parameters(String text) {
        for (String pair : text.split("&")) {
            int equals = pair.indexOf('=');
            if (equals < 0) {
                throw wrong("a parameter behind the ? has no value");
            }
            String name = decode(pair.substring(0, equals), "parameter");
            parameter(name, decode(pair.substring(equals + 1), name));
        }
    }

    private void parameter(String name, String value) {
        switch (name) {
            case "sslmode" -> sslMode = sslMode(value);
            case "sslrootcert" -> rootCertificate = value.isEmpty() || value.equals("system") ? null : value;
            case "user" -> user = value;
            case "password" -> password = value;
            default ->
                throw wrong(
                        "it has the parameter \"" + name + "\"; pgnear knows sslmode, sslrootcert, user and password");
        }
    }

    private static SslMode sslMode(String value) {
        for (SslMode mode : SslMode.values()) {
            if (mode.text().equals(value)) {
                return mode;
            }
        }
        String known = Arrays.stream(SslMode.values()).map(SslMode::text).collect(Collectors.joining(", "));
        throw wrong("sslmode=" + value + " is not one of " + known);
    }

    /** Percent-decoding; a plus sign means itself, as in libpq. */
    private static String decode(String text, String part) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        byte[] raw = text.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < raw.length; i++) {
            int b = raw[i];
            if (b == '%') {
                b = hex(raw, i + 1, part) << 4 | hex(raw, i + 2, part);
                i += 2;
            }
            if (b == 0) {
                throw wrong("its " + part + " contains a zero byte");
            }
            bytes.write(b);
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString();
        } catch (CharacterCodingException e) {
            throw wrong("its " + part + " is not UTF-8");
        }
    }

    private static int hex(byte[] raw, int i, String part) {
        int digit = i < raw.length ? Character.digit(raw[i], 16) : -1;
        if (digit < 0) {
            throw wrong("its " + part + " has a % that two hexadecimal digits do not follow; write a % as %25");
        }
        return digit;
    }

    private static IllegalArgumentException wrong(String why) {
        return new IllegalArgumentException("The PostgreSQL URL is not usable: " + why
                + " (form: postgresql://user:password@host:port/database?sslmode=prefer).");
    }
}
