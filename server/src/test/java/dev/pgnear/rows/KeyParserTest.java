package dev.pgnear.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.base.KeyHash;
import dev.pgnear.coherence.TestRelations;
import dev.pgnear.pg.catalog.KeyCodec;
import dev.pgnear.pg.catalog.KeyColumn;
import dev.pgnear.pg.catalog.KeyType;
import dev.pgnear.pg.catalog.MappingSet;
import dev.pgnear.pg.catalog.TableMapping;
import dev.pgnear.rows.KeyParser.Key;
import dev.pgnear.rows.KeyParser.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class KeyParserTest {
    private static final TableMapping ITEMS =
            mapping(1, "public", "items", "items", null, column("id", 1, KeyType.INT8));
    private static final TableMapping TENANT = mapping(
            2,
            "public",
            "tenant_items",
            "ti",
            null,
            column("tenant_id", 1, KeyType.INT4),
            column("id", 2, KeyType.TEXT));
    private static final TableMapping ODD =
            mapping(3, "my.schema", "od\"d:", null, null, column("a\"b", 1, KeyType.TEXT));
    private static final TableMapping SECRET =
            mapping(4, "public", "secret", "secret", TableMapping.ROW_SECURITY, column("id", 1, KeyType.INT4));
    private static final TableMapping DAYS = mapping(5, "public", "days", "days", null, column("day", 1, KeyType.DATE));

    private final KeyParser parser =
            new KeyParser("db", () -> new MappingSet(List.of(ITEMS, TENANT, ODD, SECRET, DAYS)));
    private final Key key = new Key();

    private static KeyColumn column(String name, int number, KeyType type) {
        return new KeyColumn(name, number, type.name(), type.typeOid(), type);
    }

    private static TableMapping mapping(
            int oid, String schema, String table, @Nullable String alias, @Nullable String bypass, KeyColumn... key) {
        return new TableMapping(
                oid, schema, table, alias, false, new KeyCodec(List.of(key)), TestRelations.relation(oid), bypass);
    }

    private Kind parse(String text) {
        byte[] utf8 = ("xx" + text + "yy").getBytes(StandardCharsets.UTF_8);
        return parser.parse(utf8, 2, utf8.length - 4, key);
    }

    private String canonical() {
        return HexFormat.of().formatHex(key.canonical().toArray());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\1',
            value = {
                "CRUD:db.public.items:{\"id\":42}",
                "CRUD:db.public.items:{\"id\":\"42\"}",
                "CRUD:db.public.items: { \"id\" : \" 0042 \" } ",
                "CRUD:db.\"public\".\"items\":{\"id\":42}",
                "CRUD:db.public.items:{\"\\u0069d\":\"4\\u0032\"}",
                "items:42",
                "items:+42",
            })
    void spellingsOfOneRow(String text) {
        assertThat(parse(text)).as(text).isEqualTo(Kind.ROW);
        assertThat(key.mapping()).isSameAs(ITEMS);
        assertThat(canonical()).isEqualTo("000000000000002a");
        assertThat(key.hash()).isEqualTo(KeyHash.of(ITEMS.relation().id(), new byte[] {0, 0, 0, 0, 0, 0, 0, 42}, 0, 8));
    }

    @Test
    void membersMayComeInAnyOrder() {
        assertThat(parse("CRUD:db.public.tenant_items:{\"id\":\"a:b\",\"tenant_id\":7}"))
                .isEqualTo(Kind.ROW);
        assertThat(canonical()).isEqualTo("00000007613a62");
        assertThat(parse("ti:7:a\\:b")).isEqualTo(Kind.ROW);
        assertThat(canonical()).isEqualTo("00000007613a62");
        assertThat(parse("ti:7:\\\\")).isEqualTo(Kind.ROW);
        assertThat(canonical()).isEqualTo("000000075c");
    }

    @Test
    void numbersAndBooleansForTextAreVerbatim() {
        assertThat(parse("CRUD:db.public.tenant_items:{\"tenant_id\":7,\"id\":1.50e+2}"))
                .isEqualTo(Kind.ROW);
        assertThat(canonical())
                .isEqualTo("00000007" + HexFormat.of().formatHex("1.50e+2".getBytes(StandardCharsets.US_ASCII)));
        assertThat(parse("CRUD:db.public.tenant_items:{\"tenant_id\":7,\"id\":true}"))
                .isEqualTo(Kind.ROW);
        assertThat(canonical()).isEqualTo("0000000774727565");
    }

    @Test
    void namesWithSpecialCharactersAreQuoted() {
        assertThat(parse("CRUD:db.\"my.schema\".\"od\"\"d:\":{\"a\\\"b\":\"x\"}"))
                .isEqualTo(Kind.ROW);
        assertThat(key.mapping()).isSameAs(ODD);
        assertThat(canonical()).isEqualTo("78");
    }

    @Test
    void unusualSpellingsAreLeftToPostgres() {
        assertThat(parse("days:January 8, 1999")).isEqualTo(Kind.NEEDS_POSTGRES);
        assertThat(key.mapping()).isSameAs(DAYS);
        assertThat(key.texts()).isDeepEqualTo(new byte[][] {"January 8, 1999".getBytes(StandardCharsets.US_ASCII)});
        assertThat(parse("CRUD:db.public.tenant_items:{\"id\":\"\\u00e4\",\"tenant_id\":\"x\"}"))
                .isEqualTo(Kind.NEEDS_POSTGRES);
        assertThat(key.texts()).isDeepEqualTo(new byte[][] {{'x'}, "ä".getBytes(StandardCharsets.UTF_8)});
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\1',
            value = {"session:1", "crud:db.public.items:{}", "items", "''", "Items:1", ":1"})
    void otherKeysBelongToTheKeySpace(String text) {
        assertThat(parse(text)).isEqualTo(Kind.NOT_A_ROW);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\1',
            value = {
                "CRUD:|expected CRUD:<database>.<schema>.<table>:",
                "CRUD:db.public.items|expected CRUD:<database>.<schema>.<table>:",
                "CRUD:db.items:{}|expected CRUD:<database>.<schema>.<table>:",
                "CRUD:db..items:{}|expected CRUD:<database>.<schema>.<table>:",
                "CRUD:db.\"public.items:{}|expected CRUD:<database>.<schema>.<table>:",
                "CRUD:db.public.it\"ems:{}|expected CRUD:<database>.<schema>.<table>:",
                "CRUD:other.public.items:{\"id\":1}|database \"other\" is not served here, only \"db\"",
                "CRUD:db.public.nothing:{\"id\":1}|table public.nothing is not attached",
                "CRUD:db.public.items:|expected a JSON object",
                "CRUD:db.public.items:42|expected a JSON object",
                "CRUD:db.public.items:[1]|expected a JSON object",
                "CRUD:db.public.items:{}|member \"id\" is missing",
                "CRUD:db.public.items:{\"id\":null}|member \"id\" is null",
                "CRUD:db.public.items:{\"id\":{}}|member \"id\" is an object or array",
                "CRUD:db.public.items:{\"id\":[]}|member \"id\" is an object or array",
                "CRUD:db.public.items:{\"id\":1,\"id\":1}|member \"id\" occurs twice",
                "CRUD:db.public.items:{\"id\":1,\"x\":1}|member \"x\" is not a column of the primary key",
                "CRUD:db.public.items:{\"id\":1} x|something follows the JSON object",
                "CRUD:db.public.items:{\"id\":1,}|expected a member name",
                "CRUD:db.public.items:{\"id\" 1}|expected ':'",
                "CRUD:db.public.items:{\"id\":1|expected ',' or '}'",
                "CRUD:db.public.items:{\"id\":01}|expected ',' or '}'",
                "CRUD:db.public.items:{\"id\":nul}|expected a string, a number",
                "CRUD:db.public.items:{\"id\":\"1}|a string has no end",
                "CRUD:db.public.items:{\"id\":\"\\x\"}|unknown escape",
                "CRUD:db.public.items:{\"id\":\"\\u12\"}|four hexadecimal digits",
                "CRUD:db.public.items:{\"id\":\"\\ud800\"}|surrogate",
                "CRUD:db.public.items:{\"id\":\"\\udc00\"}|surrogate",
                "CRUD:db.public.items:{\"id\":\"\\u0000\"}|\\u0000",
                "items:1:2|2 values instead of 1",
                "ti:1|1 values instead of 2",
                "items:\\1|must be followed by",
                "items:1\\|must be followed by",
            })
    void errorsSayWhatIsWrong(String text, String expected) {
        assertThat(parse(text)).isEqualTo(Kind.ERROR);
        assertThat(key.error()).startsWith("ERR ").contains(expected).doesNotContain("\n");
    }

    @Test
    void aTableWithRowSecurityIsRefused() {
        assertThat(parse("secret:1")).isEqualTo(Kind.ERROR);
        assertThat(key.error()).startsWith("NOPERM public.secret").contains("row security");
        assertThat(parse("CRUD:db.public.secret:{\"id\":1}")).isEqualTo(Kind.ERROR);
    }

    @Test
    void controlCharactersNeverReachTheErrorLine() {
        assertThat(parse("CRUD:db.pub\r\nlic.items:{\"id\":1}")).isEqualTo(Kind.ERROR);
        assertThat(key.error()).doesNotContain("\r").doesNotContain("\n");
    }

    @Test
    void theUsualKeyAllocatesNothing() {
        byte[][] keys = {
            "CRUD:db.public.items:{\"id\":42}".getBytes(StandardCharsets.UTF_8),
            "CRUD:db.public.tenant_items:{\"tenant_id\":7,\"id\":\"a b\"}".getBytes(StandardCharsets.UTF_8),
            "items:123456".getBytes(StandardCharsets.UTF_8),
            "session:1".getBytes(StandardCharsets.UTF_8)
        };
        MappingSet set = new MappingSet(List.of(ITEMS, TENANT));
        KeyParser fast = new KeyParser("db", () -> set);
        var threads = (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 20; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 10_000; i++) {
                byte[] k = keys[i & 3];
                fast.parse(k, 0, k.length, key);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(least)
                .as("bytes in 10 000 keys, of which the question itself takes some")
                .isLessThan(1_000);
    }

    /** The same outcome as a general JSON parser, on valid and on damaged objects. */
    @Test
    void agreesWithAGeneralParser() {
        JsonMapper reference = JsonMapper.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build();
        long seed = Long.getLong("seed", 20261201L);
        Random random = new Random(seed);
        int rows = 0;
        for (int i = 0; i < 50_000; i++) {
            String json = randomObject(random);
            List<String> expected = expected(reference, json);
            Kind kind = parse("CRUD:db.public.tenant_items:" + json);
            assertThat(kind != Kind.ERROR)
                    .as("seed %d, step %d: %s: %s", seed, i, json, key.error())
                    .isEqualTo(expected != null);
            if (kind == Kind.ROW) {
                rows++;
                KeyBuffer2 want = new KeyBuffer2(TENANT.key(), expected);
                assertThat(key.canonical().toArray())
                        .as("seed %d, step %d: %s", seed, i, json)
                        .isEqualTo(want.bytes());
            } else if (kind == Kind.NEEDS_POSTGRES) {
                assertThat(key.texts())
                        .isDeepEqualTo(expected.stream()
                                .map(s -> s.getBytes(StandardCharsets.UTF_8))
                                .toArray(byte[][]::new));
            }
        }
        assertThat(rows).isGreaterThan(5_000);
    }

    private record KeyBuffer2(KeyCodec codec, List<String> values) {
        byte[] bytes() {
            dev.pgnear.pg.catalog.KeyBuffer out = new dev.pgnear.pg.catalog.KeyBuffer();
            for (int i = 0; i < values.size(); i++) {
                byte[] utf8 = values.get(i).getBytes(StandardCharsets.UTF_8);
                assertThat(codec.appendText(i, utf8, 0, utf8.length, out)).isTrue();
            }
            return out.toArray();
        }
    }

    /** Texts of tenant_id and id, or null if the object is no key. */
    private static @Nullable List<String> expected(JsonMapper reference, String json) {
        try {
            JsonNode tree = reference.readTree(json);
            List<String> texts = new ArrayList<>();
            for (String name : List.of("tenant_id", "id")) {
                JsonNode value = tree.get(name);
                if (!tree.isObject() || value == null || !value.isValueNode() || value.isNull() || tree.size() != 2) {
                    return null;
                }
                texts.add(value.isNumber() ? number(json, name) : value.asString());
            }
            boolean unfit = texts.stream()
                    .anyMatch(t -> t.indexOf('\0') >= 0
                            || !StandardCharsets.UTF_8.newEncoder().canEncode(t));
            return unfit ? null : texts;
        } catch (JacksonException e) {
            return null;
        }
    }

    /** A number's own spelling, which a tree does not keep; the generator writes every number before a ',' or '}' or white space. */
    private static String number(String json, String name) {
        int from = json.indexOf('"' + name + '"') + name.length() + 2;
        while (json.charAt(from) == ' ' || json.charAt(from) == ':') {
            from++;
        }
        int end = from;
        while ("+-.0123456789eE".indexOf(json.charAt(end)) >= 0) {
            end++;
        }
        return json.substring(from, end);
    }

    private static String randomObject(Random r) {
        List<String> members = new ArrayList<>();
        members.add(space(r) + "\"tenant_id\"" + space(r) + ":" + space(r) + randomValue(r) + space(r));
        members.add(space(r) + "\"id\"" + space(r) + ":" + space(r) + randomValue(r) + space(r));
        if (r.nextInt(10) == 0) {
            members.add("\"x\":1");
        }
        if (r.nextInt(10) == 0) {
            members.add("\"id\":1");
        }
        if (r.nextBoolean()) {
            java.util.Collections.swap(members, 0, 1);
        }
        StringBuilder json = new StringBuilder("{" + String.join(",", members) + "}");
        if (r.nextInt(4) == 0) {
            int at = r.nextInt(json.length());
            switch (r.nextInt(3)) {
                case 0 -> json.deleteCharAt(at);
                case 1 -> json.insert(at, "{}[],:\"\\ 0n-.e".charAt(r.nextInt(14)));
                default -> json.setLength(at);
            }
        }
        // Damage may have cut a surrogate pair in two.
        return new String(json.toString().getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    private static String space(Random r) {
        return r.nextInt(8) == 0 ? " " : "";
    }

    private static String randomValue(Random r) {
        return switch (r.nextInt(8)) {
            case 0, 1, 2 -> Integer.toString(r.nextInt());
            case 3 -> "\"" + r.nextInt(100) + "\"";
            case 4 -> List.of("true", "false", "null", "{}", "[]").get(r.nextInt(5));
            case 5 ->
                (r.nextBoolean() ? "-" : "") + r.nextInt(100) + "." + r.nextInt(100) + "e"
                        + (r.nextBoolean() ? "-" : "+") + r.nextInt(9);
            default -> randomString(r);
        };
    }

    private static String randomString(Random r) {
        StringBuilder s = new StringBuilder("\"");
        for (int n = r.nextInt(8); n > 0; n--) {
            s.append(
                    switch (r.nextInt(6)) {
                        case 0 -> "\\" + "\"\\/bfnrtq".charAt(r.nextInt(9));
                        case 1 -> String.format("\\u%04x", r.nextInt(0x10000));
                        case 2 -> "\\ud83d\\ude00";
                        case 3 -> "ä€😀";
                        case 4 -> r.nextInt(10) == 0 ? "\t" : "z";
                        default -> Character.toString('a' + r.nextInt(26));
                    });
        }
        return s.append('"').toString();
    }
}
