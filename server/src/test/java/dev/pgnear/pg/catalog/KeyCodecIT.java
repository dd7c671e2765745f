package dev.pgnear.pg.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.TestPostgres;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The codec against PostgreSQL: what a text means, and which values are equal. */
class KeyCodecIT {
    private static final int VALUES = 250;
    private static final String MOODS = "('sad', 'ok', 'so so', 'glücklich')";

    private final long seed = Long.getLong("seed", 20261201L);

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void textAndBinaryAgreeWithPostgres(int major) throws Exception {
        try (TestPostgres pg = TestPostgres.start(major);
                Connection c = pg.connect()) {
            pg.sql("CREATE TYPE mood AS ENUM " + MOODS);
            for (KeyType type : KeyType.values()) {
                compare(c, type);
            }
        }
    }

    private void compare(Connection c, KeyType type) throws Exception {
        String name = type == KeyType.ENUM ? "mood" : type.name().toLowerCase(java.util.Locale.ROOT);
        // Enums have no send function of their own kind.
        String send = type == KeyType.ENUM ? "enum_send" : sendFunction(type);
        try (var s = c.createStatement()) {
            s.execute("CREATE FUNCTION try_" + name + "(t text) RETURNS " + name
                    + " LANGUAGE plpgsql AS $$ BEGIN RETURN t::" + name
                    + "; EXCEPTION WHEN OTHERS THEN RETURN NULL; END $$");
            s.execute("CREATE TABLE v_" + name + " (i int, v " + name + ")");
        }
        List<String> texts = texts(type, new Random(seed));
        KeyCodec codec = new KeyCodec(List.of(
                new KeyColumn("k", 1, name, type.typeOid(), type), new KeyColumn("l", 2, name, type.typeOid(), type)));
        List<byte[]> canonical = new ArrayList<>();
        int accepted = 0;
        int valid = 0;
        try (PreparedStatement insert = c.prepareStatement("INSERT INTO v_" + name + " SELECT i, try_" + name
                + "(t) FROM unnest(?::text[]) WITH ORDINALITY AS x(t, i)")) {
            Array array = c.createArrayOf("text", texts.toArray());
            insert.setArray(1, array);
            insert.execute();
        }
        try (PreparedStatement ask =
                        c.prepareStatement("SELECT pg_catalog." + send + "(v) FROM v_" + name + " ORDER BY i");
                ResultSet r = ask.executeQuery()) {
            for (String text : texts) {
                assertThat(r.next()).isTrue();
                byte[] binary = r.getBytes(1);
                byte[] fromText = fromText(codec, text);
                String as = "seed " + seed + ", " + type + " '" + text + "'";
                assertThat(fromText == null || binary != null || type == KeyType.ENUM)
                        .as(as + " is refused by PostgreSQL")
                        .isTrue();
                valid += binary == null ? 0 : 1;
                accepted += binary == null || fromText == null ? 0 : 1;
                byte[] key = binary == null ? null : fromBinary(codec, binary);
                if (key != null && fromText != null) {
                    assertThat(HexFormat.of().formatHex(fromText))
                            .as(as)
                            .isEqualTo(HexFormat.of().formatHex(key));
                }
                if (key != null) {
                    byte[][] back = codec.toBinary(key);
                    assertThat(fromBinary(codec, back[0]))
                            .as(as + " there and back")
                            .isEqualTo(key);
                }
                canonical.add(key);
            }
        }
        assertThat(accepted)
                .as(type + ": usual spellings are read without PostgreSQL, of " + valid)
                .isGreaterThan(valid / 3);
        equality(c, type, name, texts, canonical);
    }

    private void equality(Connection c, KeyType type, String name, List<String> texts, List<byte[]> canonical)
            throws Exception {
        int equal = 0;
        try (var s = c.createStatement();
                ResultSet r = s.executeQuery("SELECT a.i, b.i, a.v = b.v FROM v_" + name + " a, v_" + name
                        + " b WHERE a.i < b.i AND a.v IS NOT NULL AND b.v IS NOT NULL")) {
            while (r.next()) {
                int a = r.getInt(1) - 1;
                int b = r.getInt(2) - 1;
                boolean same = java.util.Arrays.equals(canonical.get(a), canonical.get(b));
                assertThat(same)
                        .as("seed %d, %s: '%s' = '%s'", seed, type, texts.get(a), texts.get(b))
                        .isEqualTo(r.getBoolean(3));
                equal += same ? 1 : 0;
            }
        }
        boolean oneSpelling = type == KeyType.TEXT || type == KeyType.VARCHAR || type == KeyType.ENUM;
        assertThat(equal > 0).as(type + ": some spellings are equal").isEqualTo(!oneSpelling);
    }

    private static String sendFunction(KeyType type) {
        return switch (type) {
            case DATE, UUID, NUMERIC, TIMESTAMP, TIMESTAMPTZ ->
                type.name().toLowerCase(java.util.Locale.ROOT) + "_send";
            default -> type.name().toLowerCase(java.util.Locale.ROOT) + "send";
        };
    }

    private static byte[] fromText(KeyCodec codec, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        KeyBuffer out = new KeyBuffer();
        boolean both = codec.appendText(0, utf8, 0, utf8.length, out) && codec.appendText(1, utf8, 0, utf8.length, out);
        return both ? out.toArray() : null;
    }

    private static byte[] fromBinary(KeyCodec codec, byte[] binary) {
        KeyBuffer out = new KeyBuffer();
        codec.appendBinary(0, binary, 0, binary.length, out);
        codec.appendBinary(1, binary, 0, binary.length, out);
        return out.toArray();
    }

    // ---- random spellings: a few values in many forms, and damaged ones

    private static List<String> texts(KeyType type, Random r) {
        Set<String> texts = new LinkedHashSet<>();
        while (texts.size() < VALUES) {
            String usual = usual(type, r);
            texts.add(r.nextInt(6) == 0 && type != KeyType.ENUM ? damaged(usual, r) : usual);
        }
        return List.copyOf(texts);
    }

    private static String usual(KeyType type, Random r) {
        return switch (type) {
            case INT2 -> space(r) + sign(r) + zeros(r) + number(r, 40000) + space(r);
            case INT4 -> space(r) + sign(r) + zeros(r) + number(r, 3_000_000_000L) + space(r);
            case INT8 ->
                space(r)
                        + sign(r)
                        + zeros(r)
                        + (r.nextInt(9) == 0 ? "922337203685477580" + r.nextInt(10) : number(r, Long.MAX_VALUE))
                        + space(r);
            case TEXT, VARCHAR -> words(r);
            case BPCHAR -> words(r) + " ".repeat(r.nextInt(4));
            case UUID -> uuid(r);
            case NUMERIC -> numeric(r);
            case DATE -> date(r);
            case TIMESTAMP -> r.nextInt(10) == 0 ? date(r) : date(r) + (r.nextBoolean() ? " " : "T") + time(r);
            case TIMESTAMPTZ -> date(r) + (r.nextBoolean() ? " " : "T") + time(r) + zone(r);
            case BYTEA -> bytea(r);
            case ENUM ->
                r.nextInt(3) == 0
                        ? words(r)
                        : List.of("sad", "ok", "so so", "glücklich").get(r.nextInt(4))
                                + " ".repeat(r.nextInt(20) / 19)
                                + (r.nextInt(2) == 0 ? "" : "x".repeat(r.nextInt(40)));
        };
    }

    private static String damaged(String s, Random r) {
        StringBuilder b = new StringBuilder(s);
        int at = r.nextInt(b.length() + 1);
        b.insert(at, " +-.:eE0x_TZ\\,\t\n'".charAt(r.nextInt(17)));
        return b.toString();
    }

    private static String space(Random r) {
        return r.nextInt(6) == 0 ? List.of(" ", "\t", "\n", "\u000b", "  ").get(r.nextInt(5)) : "";
    }

    private static String sign(Random r) {
        return List.of("", "", "-", "+").get(r.nextInt(4));
    }

    private static String zeros(Random r) {
        return "0".repeat(r.nextInt(6) == 0 ? r.nextInt(20) : 0);
    }

    private static String number(Random r, long bound) {
        return Long.toString(r.nextInt(3) == 0 ? r.nextInt(12) : r.nextLong(bound));
    }

    private static String words(Random r) {
        StringBuilder b = new StringBuilder();
        for (int n = r.nextInt(4); n >= 0; n--) {
            b.append(List.of("a", "A", " ", "ä", "😀", "b", "\t", "\\").get(r.nextInt(8)));
        }
        return b.toString();
    }

    private static String uuid(Random r) {
        String s = new java.util.UUID(r.nextInt(2), r.nextInt(3)).toString();
        s = r.nextInt(3) == 0 ? s.toUpperCase(java.util.Locale.ROOT) : s;
        s = r.nextInt(3) == 0 ? s.replace("-", "") : s;
        s = r.nextInt(8) == 0 ? s.replaceAll("(.{4})(?=.)", "$1-").replace("--", "-") : s;
        return r.nextInt(5) == 0 ? "{" + s + "}" : s + " ".repeat(r.nextInt(20) / 19);
    }

    private static String numeric(Random r) {
        return switch (r.nextInt(8)) {
            case 0 ->
                List.of("NaN", "nan", "Infinity", "-infinity", "inf", "+Inf", " NaN ", "-inf")
                        .get(r.nextInt(8));
            case 1 -> sign(r) + r.nextInt(3) + "e" + sign(r) + r.nextInt(12);
            case 2 -> sign(r) + zeros(r) + r.nextInt(3) + "." + "0".repeat(r.nextInt(9)) + space(r);
            case 3 -> sign(r) + "." + "0".repeat(r.nextInt(9)) + r.nextInt(3);
            case 4 ->
                sign(r) + r.nextLong(Long.MAX_VALUE) + r.nextLong(Long.MAX_VALUE) + "." + r.nextLong(Long.MAX_VALUE)
                        + "E" + sign(r) + r.nextInt(40);
            case 5 -> sign(r) + r.nextInt(3) + "0".repeat(r.nextInt(12)) + ".";
            default ->
                space(r) + sign(r) + zeros(r) + r.nextInt(20000) + "." + r.nextInt(100) + "0".repeat(r.nextInt(3));
        };
    }

    private static String date(Random r) {
        return switch (r.nextInt(12)) {
            case 0 ->
                List.of(
                                "infinity",
                                "-infinity",
                                "Infinity",
                                "epoch",
                                "January 8, 1999",
                                "1999-Jan-08",
                                "20000101",
                                "2000-01-01 BC")
                        .get(r.nextInt(8));
            case 1 -> String.format("%04d-%02d-%02d", r.nextInt(10000), r.nextInt(14), r.nextInt(33));
            case 2, 3, 4, 5, 6 -> List.of("2000-02-29", "2000-03-01").get(r.nextInt(2));
            default -> String.format("%04d-%02d-%02d", 1996 + r.nextInt(5), 1 + r.nextInt(3), 1 + r.nextInt(29));
        };
    }

    private static String time(Random r) {
        String s = String.format("%02d:%02d", r.nextInt(r.nextInt(10) == 0 ? 26 : 3), r.nextInt(61) % 60);
        return switch (r.nextInt(6)) {
            case 0 -> s;
            case 4 -> "00:00";
            case 5 -> "00:00:00.0";
            case 1 -> s + String.format(":%02d", r.nextInt(r.nextInt(10) == 0 ? 62 : 60));
            default -> s + ":00." + "0".repeat(r.nextInt(3)) + r.nextInt(1_000_0);
        };
    }

    private static String zone(Random r) {
        return switch (r.nextInt(7)) {
            case 0 -> "Z";
            case 1 -> String.format("%s%02d:%02d", r.nextBoolean() ? "+" : "-", r.nextInt(17), r.nextInt(60));
            case 2 ->
                List.of("", " UTC", " Europe/Berlin", "z", "+0130", "+1", " +01")
                        .get(r.nextInt(7));
            default -> String.format("%s%02d", r.nextBoolean() ? "+" : "-", r.nextInt(3));
        };
    }

    private static String bytea(Random r) {
        byte[] b = new byte[r.nextInt(3)];
        r.nextBytes(b);
        return switch (r.nextInt(5)) {
            case 0 -> "\\x" + HexFormat.of().formatHex(b).toUpperCase(java.util.Locale.ROOT);
            case 1 -> words(r);
            case 2 ->
                List.of("\\141", "\\\\", "\\x 61 62", "\\x6", "a\\", "\\x61\\").get(r.nextInt(6));
            default -> "\\x" + HexFormat.of().formatHex(b);
        };
    }
}
