package dev.pgnear.pg.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyCodecTest {
    private static KeyCodec codec(KeyType... types) {
        List<KeyColumn> columns = new java.util.ArrayList<>();
        for (KeyType t : types) {
            columns.add(new KeyColumn("c" + columns.size(), columns.size() + 1, t.name(), t.typeOid(), t));
        }
        return new KeyCodec(columns);
    }

    /** Hexadecimal canonical bytes, or "-" where PostgreSQL has to read the text. */
    private static String text(KeyType type, String value) {
        KeyBuffer out = new KeyBuffer();
        byte[] utf8 = ("<" + value + ">").getBytes(StandardCharsets.UTF_8);
        boolean known = codec(type).appendText(0, utf8, 1, utf8.length - 2, out);
        assertThat(known || out.length() == 0).as("nothing is left behind").isTrue();
        return known ? HexFormat.of().formatHex(out.toArray()) : "-";
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "INT2, 7, 0007",
                "INT2, -32768, 8000",
                "INT2, 32768, -",
                "INT4, +0042, 0000002a",
                "INT4, `  42\t`, 0000002a",
                "INT4, -0, 00000000",
                "INT4, 2147483647, 7fffffff",
                "INT4, 2147483648, -",
                "INT4, 4 2, -",
                "INT4, 42.0, -",
                "INT4, ``, -",
                "INT4, -, -",
                "INT4, 0x10, -",
                "INT8, -9223372036854775808, 8000000000000000",
                "INT8, 9223372036854775807, 7fffffffffffffff",
                "INT8, 9223372036854775808, -",
                "INT8, 99999999999999999999999, -",
                "TEXT, äb , c3a462",
                "TEXT, ``, ``",
                "BPCHAR, `ab  `, 6162",
                "BPCHAR, `  `, ``",
                "BPCHAR, `ab\t`, 616209",
                "UUID, A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11, a0eebc999c0b4ef8bb6d6bb9bd380a11",
                "UUID, {a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}, a0eebc999c0b4ef8bb6d6bb9bd380a11",
                "UUID, a0eebc999c0b4ef8bb6d6bb9bd380a11, a0eebc999c0b4ef8bb6d6bb9bd380a11",
                "UUID, a0-eebc999c0b4ef8bb6d6bb9bd380a11, -",
                "UUID, a0eebc999c0b4ef8bb6d6bb9bd380a11-, -",
                "UUID, a0eebc999c0b4ef8bb6d6bb9bd380a1, -",
                "NUMERIC, 1, 0100000001",
                "NUMERIC, 1.00, 0100000001",
                "NUMERIC, 10e-1, 0100000001",
                "NUMERIC, 0001., 0100000001",
                "NUMERIC, .5, 01ffff1388",
                "NUMERIC, -12345.678, 020001000109291a7c",
                "NUMERIC, 10000, 0100010001",
                "NUMERIC, 1e4, 0100010001",
                "NUMERIC, 0.00001, 01fffe03e8",
                "NUMERIC, -0.0, 00",
                "NUMERIC, NaN, 03",
                "NUMERIC, infinity, 04",
                "NUMERIC, -Inf, 05",
                "NUMERIC, -NaN, -",
                "NUMERIC, ., -",
                "NUMERIC, 1e, -",
                "NUMERIC, 1e9999, -",
                "NUMERIC, 1_000, -",
                "DATE, 2000-01-01, 00000000",
                "DATE, 2000-03-01, 0000003c",
                "DATE, 1999-12-31, ffffffff",
                "DATE, 2023-02-29, -",
                "DATE, infinity, 7fffffff",
                "DATE, -infinity, 80000000",
                "DATE, `January 8, 1999`, -",
                "DATE, 2000-1-1, -",
                "DATE, 0044-03-15 BC, -",
                "DATE, now, -",
                "TIMESTAMP, 2000-01-01, 0000000000000000",
                "TIMESTAMP, 2000-01-01T00:00, 0000000000000000",
                "TIMESTAMP, 2000-01-01 00:00:01.5, 000000000016e360",
                "TIMESTAMP, 2000-01-01 24:00:00, -",
                "TIMESTAMP, 2000-01-01 00:00:00.1234567, -",
                "TIMESTAMP, 2000-01-01 00:00:00+01, -",
                "TIMESTAMPTZ, 2000-01-01 01:00:00+01, 0000000000000000",
                "TIMESTAMPTZ, 1999-12-31 22:30:00-01:30, 0000000000000000",
                "TIMESTAMPTZ, 2000-01-01T00:00:00Z, 0000000000000000",
                "TIMESTAMPTZ, 2000-01-01 00:00:00, -",
                "TIMESTAMPTZ, 2000-01-01 00:00:00+16, -",
                "TIMESTAMPTZ, 2000-01-01, -",
                "BYTEA, \\xDEADbeef, deadbeef",
                "BYTEA, \\x, ``",
                "BYTEA, abc, 616263",
                "BYTEA, \\xabc, -",
                "BYTEA, a\\\\b, -",
                "BYTEA, ä, -",
                "ENUM, red, 726564",
            })
    void textBecomesCanonicalBytes(KeyType type, String value, String expected) {
        assertThat(text(type, value == null ? "" : value)).isEqualTo(expected == null ? "" : expected);
    }

    @Test
    void textThatPostgresRefusesIsLeftToIt() {
        KeyBuffer out = new KeyBuffer();
        for (byte[] bad : new byte[][] {
            {'a', 0}, {(byte) 0xC0, (byte) 0x80}, {(byte) 0xED, (byte) 0xA0, (byte) 0x80}, {(byte) 0xE4}
        }) {
            assertThat(codec(KeyType.TEXT).appendText(0, bad, 0, bad.length, out))
                    .isFalse();
        }
        assertThat(out.length()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"1", "-12345.678", "0.00001", "1e4", "0", "NaN", "-inf", "123456789.000000001", "1e-500", "9e500"
            })
    void numericComesBackFromItsOwnBinaryForm(String value) {
        KeyCodec codec = codec(KeyType.NUMERIC, KeyType.NUMERIC);
        KeyBuffer key = new KeyBuffer();
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        assertThat(codec.appendText(0, utf8, 0, utf8.length, key) && codec.appendText(1, utf8, 0, utf8.length, key))
                .isTrue();

        KeyBuffer again = new KeyBuffer();
        byte[][] binary = codec.toBinary(key.toArray());
        codec.appendBinary(0, binary[0], 0, binary[0].length, again);
        codec.appendBinary(1, binary[1], 0, binary[1].length, again);

        assertThat(again.toArray()).isEqualTo(key.toArray());
    }

    @Test
    void lengthsKeepColumnsApart() {
        KeyCodec codec = codec(KeyType.TEXT, KeyType.INT4, KeyType.TEXT);
        for (int n : new int[] {0, 1, 127, 128, 16383, 16384, 70000}) {
            KeyBuffer key = new KeyBuffer();
            byte[] first = "x".repeat(n).getBytes(StandardCharsets.UTF_8);
            codec.appendText(0, first, 0, n, key);
            codec.appendText(1, new byte[] {'7'}, 0, 1, key);
            codec.appendText(2, new byte[] {'y'}, 0, 1, key);
            assertThat(codec.toBinary(key.toArray())).isDeepEqualTo(new byte[][] {first, {0, 0, 0, 7}, {'y'}});
        }
        assertThat(key(codec(KeyType.TEXT, KeyType.TEXT), "a", "bc"))
                .isNotEqualTo(key(codec(KeyType.TEXT, KeyType.TEXT), "ab", "c"));
    }

    private static byte[] key(KeyCodec codec, String... values) {
        KeyBuffer out = new KeyBuffer();
        for (int i = 0; i < values.length; i++) {
            codec.appendText(i, values[i].getBytes(StandardCharsets.UTF_8), 0, values[i].length(), out);
        }
        return out.toArray();
    }

    @Test
    void impossibleBinaryValuesAreRefused() {
        KeyBuffer out = new KeyBuffer();
        assertThatThrownBy(() -> codec(KeyType.INT4).appendBinary(0, new byte[3], 0, 3, out))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> codec(KeyType.NUMERIC).appendBinary(0, new byte[9], 0, 9, out))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
