package dev.pgnear.rows;

import dev.pgnear.base.Limits;
import dev.pgnear.pg.catalog.KeyCodec;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads the JSON object of a row key (RFC 8259) straight from the request's bytes: one scalar per key column, in any order. A value is what
 * PostgreSQL's {@code json ->>} gives: a string's contents, a number or boolean verbatim. Values without escapes stay where they are, others
 * are decoded into a scratch buffer; so the usual key allocates nothing.
 */
final class JsonKey {
    private static final String SHAPE = "expected a JSON object of the primary key's columns";

    private final boolean[] decoded = new boolean[Limits.KEY_COLUMNS];
    private final int[] offsets = new int[Limits.KEY_COLUMNS];
    private final int[] lengths = new int[Limits.KEY_COLUMNS];
    private byte[] scratch = new byte[256];
    private int scratchLength;

    private byte[] in = new byte[0];
    private int at;
    private int end;
    private int stringOffset;
    private int stringLength;
    private boolean stringInScratch;

    /** Thrown inside this class only, with the sentence for the user. */
    private static final class Malformed extends Exception {
        Malformed(String message) {
            super(message, null, false, false);
        }
    }

    /**
     * Reads one object that fills the range.
     *
     * @return null, or what is wrong with it
     */
    @Nullable
    String read(byte[] bytes, int offset, int length, KeyCodec key) {
        in = bytes;
        at = offset;
        end = offset + length;
        scratchLength = 0;
        int columns = key.columns().size();
        Arrays.fill(lengths, 0, columns, -1);
        try {
            object(key);
            for (int i = 0; i < columns; i++) {
                if (lengths[i] < 0) {
                    throw new Malformed("member \"" + key.columns().get(i).name() + "\" is missing");
                }
            }
            return null;
        } catch (Malformed e) {
            return e.getMessage();
        }
    }

    /** Where the column's text is, after a successful read: array, offset, length. Valid until the request's bytes are given back. */
    byte[] source(int column) {
        return decoded[column] ? scratch : in;
    }

    int offset(int column) {
        return offsets[column];
    }

    int length(int column) {
        return lengths[column];
    }

    private void object(KeyCodec key) throws Malformed {
        space();
        expect('{', SHAPE);
        space();
        if (peek() == '}') {
            at++;
        } else {
            do {
                member(key);
                space();
            } while (consume(','));
            expect('}', "expected ',' or '}' after a member");
        }
        space();
        if (at != end) {
            throw new Malformed("something follows the JSON object");
        }
    }

    private void member(KeyCodec key) throws Malformed {
        space();
        if (peek() != '"') {
            throw new Malformed("expected a member name in double quotes");
        }
        string();
        byte[] nameIn = stringInScratch ? scratch : in;
        int column = key.column(nameIn, stringOffset, stringLength);
        if (column < 0) {
            throw new Malformed(
                    "member \"" + text(nameIn, stringOffset, stringLength) + "\" is not a column of the primary key");
        }
        if (lengths[column] >= 0) {
            throw new Malformed("member \"" + key.columns().get(column).name() + "\" occurs twice");
        }
        space();
        expect(':', "expected ':' after a member name");
        space();
        value(key, column);
        decoded[column] = stringInScratch;
        offsets[column] = stringOffset;
        lengths[column] = stringLength;
    }

    private void value(KeyCodec key, int column) throws Malformed {
        int c = peek();
        switch (c) {
            case '"' -> string();
            case '{', '[' ->
                throw new Malformed("member \"" + key.columns().get(column).name()
                        + "\" is an object or array; only strings, numbers and booleans are keys");
            case 'n' -> {
                word("null");
                throw new Malformed(
                        "member \"" + key.columns().get(column).name() + "\" is null; a primary key has no nulls");
            }
            case 't' -> word("true");
            case 'f' -> word("false");
            default -> number();
        }
    }

    private void word(String word) throws Malformed {
        begin();
        for (int i = 0; i < word.length(); i++) {
            if (at == end || in[at++] != word.charAt(i)) {
                throw new Malformed("expected a string, a number, true or false");
            }
        }
        stringLength = at - stringOffset;
    }

    private void number() throws Malformed {
        begin();
        consume('-');
        if (!consume('0')) {
            digits();
        }
        if (consume('.')) {
            digits();
        }
        if (consume('e') || consume('E')) {
            if (!consume('+')) {
                consume('-');
            }
            digits();
        }
        stringLength = at - stringOffset;
    }

    private void digits() throws Malformed {
        int before = at;
        while (at < end && in[at] >= '0' && in[at] <= '9') {
            at++;
        }
        if (at == before) {
            throw new Malformed("expected a string, a number, true or false");
        }
    }

    private void begin() {
        stringInScratch = false;
        stringOffset = at;
    }

    private void string() throws Malformed {
        at++;
        begin();
        while (at < end && in[at] != '"') {
            if (in[at] == '\\') {
                escapedString();
                return;
            }
            checkPlain();
            at++;
        }
        stringLength = at - stringOffset;
        expect('"', "a string has no end");
    }

    private void checkPlain() throws Malformed {
        if (in[at] >= 0 && in[at] < ' ') {
            throw new Malformed("a string holds a control character; write it as an escape");
        }
    }

    /** From the first escape on: the part before it was plain. */
    private void escapedString() throws Malformed {
        int from = stringOffset;
        stringInScratch = true;
        stringOffset = scratchLength;
        room(at - from);
        System.arraycopy(in, from, scratch, scratchLength, at - from);
        scratchLength += at - from;
        while (at < end && in[at] != '"') {
            if (in[at] == '\\') {
                at++;
                escape();
            } else {
                checkPlain();
                put(in[at++]);
            }
        }
        stringLength = scratchLength - stringOffset;
        expect('"', "a string has no end");
    }

    private void escape() throws Malformed {
        int c = peek();
        at++;
        switch (c) {
            case '"', '\\', '/' -> put(c);
            case 'b' -> put('\b');
            case 'f' -> put('\f');
            case 'n' -> put('\n');
            case 'r' -> put('\r');
            case 't' -> put('\t');
            case 'u' -> unicode();
            default -> throw new Malformed("a string holds an unknown escape");
        }
    }

    private void unicode() throws Malformed {
        int c = hex4();
        if (Character.isHighSurrogate((char) c)) {
            boolean pair = consume('\\') && consume('u');
            int low = pair ? hex4() : 0;
            if (!Character.isLowSurrogate((char) low)) {
                throw new Malformed("a string holds half of a surrogate pair");
            }
            c = Character.toCodePoint((char) c, (char) low);
        } else if (Character.isLowSurrogate((char) c)) {
            throw new Malformed("a string holds half of a surrogate pair");
        } else if (c == 0) {
            throw new Malformed("a string holds \\u0000, which PostgreSQL's text cannot");
        }
        putCodePoint(c);
    }

    private int hex4() throws Malformed {
        int value = 0;
        for (int i = 0; i < 4; i++, at++) {
            int digit = at < end ? Character.digit(in[at], 16) : -1;
            if (digit < 0) {
                throw new Malformed("\\u needs four hexadecimal digits");
            }
            value = value << 4 | digit;
        }
        return value;
    }

    private void putCodePoint(int c) {
        if (c < 0x80) {
            put(c);
        } else if (c < 0x800) {
            put(0xC0 | c >> 6);
            put(0x80 | c & 0x3F);
        } else if (c < 0x10000) {
            put(0xE0 | c >> 12);
            put(0x80 | c >> 6 & 0x3F);
            put(0x80 | c & 0x3F);
        } else {
            put(0xF0 | c >> 18);
            put(0x80 | c >> 12 & 0x3F);
            put(0x80 | c >> 6 & 0x3F);
            put(0x80 | c & 0x3F);
        }
    }

    private void put(int b) {
        room(1);
        scratch[scratchLength++] = (byte) b;
    }

    private void room(int more) {
        if (scratch.length - scratchLength < more) {
            scratch = Arrays.copyOf(scratch, Math.max(scratch.length * 2, scratchLength + more));
        }
    }

    private void space() {
        while (at < end && (in[at] == ' ' || in[at] == '\t' || in[at] == '\n' || in[at] == '\r')) {
            at++;
        }
    }

    private int peek() {
        return at < end ? in[at] : -1;
    }

    private boolean consume(char c) {
        boolean there = peek() == c;
        if (there) {
            at++;
        }
        return there;
    }

    private void expect(char c, String otherwise) throws Malformed {
        if (!consume(c)) {
            throw new Malformed(otherwise);
        }
    }

    private static String text(byte[] s, int offset, int length) {
        return new String(s, offset, Math.min(length, 64), StandardCharsets.UTF_8);
    }
}
