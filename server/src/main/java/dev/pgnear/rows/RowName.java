package dev.pgnear.rows;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The dotted, possibly quoted name in a row key or a scope.
 *
 * @param parts database, schema, table (or the first of them)
 * @param end index of the colon behind the name, or the end of the bytes
 */
record RowName(List<String> parts, int end) {

    /** Reads a name up to the first colon outside quotes; null if it is malformed. */
    static @Nullable RowName read(byte[] s, int from, int end) {
        List<String> parts = new ArrayList<>();
        int i = from;
        while (true) {
            ByteArrayOutputStream part = new ByteArrayOutputStream();
            i = i < end && s[i] == '"' ? quoted(s, i + 1, end, part) : plain(s, i, end, part);
            boolean ends = i >= 0 && (i == end || s[i] == ':');
            if (i < 0 || part.size() == 0 || !ends && s[i] != '.') {
                return null;
            }
            parts.add(part.toString(StandardCharsets.UTF_8));
            if (ends) {
                return new RowName(parts, i);
            }
            i++;
        }
    }

    private static int plain(byte[] s, int from, int end, ByteArrayOutputStream out) {
        int i = from;
        while (i < end && s[i] != '.' && s[i] != ':' && s[i] != '"') {
            out.write(s[i++]);
        }
        return i;
    }

    /** The index behind the closing quote, or -1. */
    private static int quoted(byte[] s, int from, int end, ByteArrayOutputStream out) {
        for (int i = from; i < end; i++) {
            if (s[i] == '"' && (i + 1 == end || s[i + 1] != '"')) {
                return i + 1;
            }
            i += s[i] == '"' ? 1 : 0;
            out.write(s[i]);
        }
        return -1;
    }

    static String wrongDatabase(String asked, String served) {
        return "ERR invalid row key: database \"" + clip(asked) + "\" is not served here, only \"" + served + "\"";
    }

    static String notAttached(String schema, String table) {
        return "ERR table " + clip(schema) + "." + clip(table)
                + " is not attached; attach it with local_cache.attach_table or pgnear attach";
    }

    private static String clip(String name) {
        return name.length() <= 128 ? name : name.substring(0, 128);
    }
}
