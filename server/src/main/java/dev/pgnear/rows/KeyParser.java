package dev.pgnear.rows;

import dev.pgnear.base.KeyHash;
import dev.pgnear.base.Limits;
import dev.pgnear.pg.catalog.KeyBuffer;
import dev.pgnear.pg.catalog.KeyCodec;
import dev.pgnear.pg.catalog.KeyColumn;
import dev.pgnear.pg.catalog.MappingSet;
import dev.pgnear.pg.catalog.TableMapping;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads row keys in place. Two forms:
 *
 * <pre>
 *   CRUD:&lt;database&gt;.&lt;schema&gt;.&lt;table&gt;:{"pk1":&lt;scalar&gt;,...}
 *   &lt;alias&gt;:&lt;v1&gt;[:&lt;v2&gt;...]          ':' and '\' of a value are written '\:' and '\\'
 * </pre>
 *
 * Names stand as they are in the catalog, upper and lower case told apart; a name with a dot, a colon or a double quote is written in double
 * quotes, a quote inside twice, as in SQL: {@code CRUD:db."my.schema".items:{"id":1}}.
 *
 * <p>A key in the usual spelling is parsed without allocation. One parser per event loop; not thread-safe.
 */
public final class KeyParser {
    private static final byte[] CRUD = {'C', 'R', 'U', 'D', ':'};

    /** What a key turned out to be. */
    public enum Kind {
        /** A row; canonical bytes and hash are there. */
        ROW,
        /** A row, but only PostgreSQL can tell what the spelling of its key means: a miss. */
        NEEDS_POSTGRES,
        /** Neither {@code CRUD:} nor an alias: a key of the key space. */
        NOT_A_ROW,
        /** {@link Key#error} says what is wrong. */
        ERROR
    }

    /** One parsed key, to be used again and again by its owner. */
    public static final class Key {
        private Kind kind = Kind.NOT_A_ROW;
        private String error = "";
        private @Nullable TableMapping mapping;
        private final KeyBuffer canonical = new KeyBuffer();
        private long hash;
        private byte @Nullable [][] texts;

        /** What the last parse found. */
        public Kind kind() {
            return kind;
        }

        /** The complete Redis error line of kind {@link Kind#ERROR}. */
        public String error() {
            return error;
        }

        /** The table of kinds {@link Kind#ROW} and {@link Kind#NEEDS_POSTGRES}. */
        public TableMapping mapping() {
            return Objects.requireNonNull(mapping, "only row keys have a table");
        }

        /** Canonical key of kind {@link Kind#ROW}. */
        public KeyBuffer canonical() {
            return canonical;
        }

        /** {@link KeyHash} of {@link #canonical}. */
        public long hash() {
            return hash;
        }

        /** Column texts in key order, of kind {@link Kind#NEEDS_POSTGRES}. */
        public byte[][] texts() {
            return Objects.requireNonNull(texts, "only keys that need PostgreSQL keep their texts");
        }

        private Kind error(String line) {
            error = line.chars().anyMatch(c -> c < ' ') ? line.replaceAll("[\\x00-\\x1f]", "?") : line;
            return end(Kind.ERROR, null);
        }

        private Kind end(Kind as, @Nullable TableMapping of) {
            kind = as;
            mapping = of;
            return as;
        }
    }

    private final String database;
    private final byte[] databasePrefix;
    private final Supplier<MappingSet> mappings;
    private final JsonKey json = new JsonKey();
    private byte[] unescaped = new byte[64];
    private final int[] ends = new int[Limits.KEY_COLUMNS];

    /**
     * @param database the only database that {@code CRUD:} keys may name
     * @param mappings the current set
     */
    public KeyParser(String database, Supplier<MappingSet> mappings) {
        this.database = database;
        this.databasePrefix =
                MappingSet.isPlain(database) ? (database + '.').getBytes(StandardCharsets.UTF_8) : new byte[] {'"', 0};
        this.mappings = mappings;
    }

    /**
     * Parses one key.
     *
     * @param into gets the outcome; nothing in it refers to {@code bytes} afterwards
     * @return its kind
     */
    public Kind parse(byte[] bytes, int offset, int length, Key into) {
        into.texts = null;
        if (startsWith(CRUD, bytes, offset, offset + length)) {
            return parseCrud(bytes, offset + CRUD.length, offset + length, into);
        }
        int colon = indexOf(':', bytes, offset, offset + length);
        TableMapping mapping = colon < 0 ? null : mappings.get().byAlias(bytes, offset, colon - offset);
        if (mapping == null) {
            return into.end(Kind.NOT_A_ROW, null);
        }
        return mapping.refused()
                ? refused(mapping, into)
                : parseAlias(bytes, colon + 1, offset + length, mapping, into);
    }

    private Kind parseCrud(byte[] bytes, int from, int end, Key into) {
        int colon = from;
        while (colon < end && bytes[colon] != ':' && bytes[colon] != '"') {
            colon++;
        }
        TableMapping mapping = null;
        if (colon < end && bytes[colon] == ':' && startsWith(databasePrefix, bytes, from, colon)) {
            int table = from + databasePrefix.length;
            mapping = mappings.get().byPlainName(bytes, table, colon - table);
        }
        if (mapping == null) {
            RowName name = RowName.read(bytes, from, end);
            if (name == null || name.end() == end || name.parts().size() != 3) {
                return into.error(
                        "ERR invalid row key: expected CRUD:<database>.<schema>.<table>:{\"column\":value,...};"
                                + " names with dots, colons or quotes are written in double quotes");
            }
            colon = name.end();
            mapping = mappings.get().byName(name.parts().get(1), name.parts().get(2));
            if (!name.parts().get(0).equals(database)) {
                return into.error(RowName.wrongDatabase(name.parts().get(0), database));
            }
            if (mapping == null) {
                return into.error(
                        RowName.notAttached(name.parts().get(1), name.parts().get(2)));
            }
        }
        return mapping.refused() ? refused(mapping, into) : parseJson(bytes, colon + 1, end, mapping, into);
    }

    private Kind parseJson(byte[] bytes, int from, int end, TableMapping mapping, Key into) {
        String wrong = json.read(bytes, from, end - from, mapping.key());
        if (wrong != null) {
            return invalid(mapping, wrong, into);
        }
        into.canonical.clear();
        for (int i = 0; i < mapping.key().columns().size(); i++) {
            if (!mapping.key().appendText(i, json.source(i), json.offset(i), json.length(i), into.canonical)) {
                return needsPostgres(mapping, into, c -> copy(json.source(c), json.offset(c), json.length(c)));
            }
        }
        return row(mapping, into);
    }

    private Kind parseAlias(byte[] bytes, int from, int end, TableMapping mapping, Key into) {
        int columns = mapping.key().columns().size();
        int values = unescape(bytes, from, end);
        if (values == BAD_ESCAPE) {
            return invalid(mapping, "'\\' in a value must be followed by ':' or '\\'", into);
        }
        if (values != columns) {
            return invalid(
                    mapping,
                    "the alias is followed by " + values + " values instead of " + columns
                            + "; ':' inside a value is written '\\:'",
                    into);
        }
        into.canonical.clear();
        for (int i = 0; i < columns; i++) {
            if (!mapping.key().appendText(i, unescaped, start(i), ends[i] - start(i), into.canonical)) {
                return needsPostgres(mapping, into, c -> copy(unescaped, start(c), ends[c] - start(c)));
            }
        }
        return row(mapping, into);
    }

    private static final int BAD_ESCAPE = -1;

    /** Copies the values one after the other into {@link #unescaped}; how many there are. */
    private int unescape(byte[] bytes, int from, int end) {
        if (unescaped.length < end - from) {
            unescaped = new byte[end - from];
        }
        int values = 0;
        int n = 0;
        for (int i = from; i < end; i++) {
            if (bytes[i] == ':') {
                noteEnd(values++, n);
                continue;
            }
            if (bytes[i] == '\\' && (++i == end || bytes[i] != ':' && bytes[i] != '\\')) {
                return BAD_ESCAPE;
            }
            unescaped[n++] = bytes[i];
        }
        noteEnd(values++, n);
        return values;
    }

    private void noteEnd(int value, int at) {
        if (value < ends.length) {
            ends[value] = at;
        }
    }

    private int start(int value) {
        return value == 0 ? 0 : ends[value - 1];
    }

    private static Kind row(TableMapping mapping, Key into) {
        into.hash = KeyHash.of(mapping.relation().id(), into.canonical.bytes(), 0, into.canonical.length());
        return into.end(Kind.ROW, mapping);
    }

    private interface ColumnText {
        byte[] of(int column);
    }

    private static Kind needsPostgres(TableMapping mapping, Key into, ColumnText text) {
        byte[][] texts = new byte[mapping.key().columns().size()][];
        Arrays.setAll(texts, text::of);
        into.texts = texts;
        return into.end(Kind.NEEDS_POSTGRES, mapping);
    }

    private static Kind invalid(TableMapping mapping, String wrong, Key into) {
        return into.error("ERR invalid row key of " + mapping.displayName() + ": " + wrong + "; the primary key is ("
                + columns(mapping.key()) + ")");
    }

    private static Kind refused(TableMapping mapping, Key into) {
        return into.error("NOPERM " + mapping.displayName() + " is not served by key: " + mapping.bypassReason()
                + "; read it with SQL");
    }

    private static String columns(KeyCodec key) {
        List<KeyColumn> all = new ArrayList<>(key.columns());
        return all.stream().map(KeyColumn::name).collect(Collectors.joining(", "));
    }

    private static byte[] copy(byte[] source, int offset, int length) {
        return Arrays.copyOfRange(source, offset, offset + length);
    }

    private static boolean startsWith(byte[] prefix, byte[] s, int from, int end) {
        return end - from >= prefix.length && Arrays.equals(prefix, 0, prefix.length, s, from, from + prefix.length);
    }

    private static int indexOf(char c, byte[] s, int from, int end) {
        for (int i = from; i < end; i++) {
            if (s[i] == c) {
                return i;
            }
        }
        return -1;
    }
}
