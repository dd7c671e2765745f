package dev.pgnear.pg.catalog;

import java.nio.ByteBuffer;

/**
 * Canonical numeric: one kind byte, then for values other than zero, NaN and the infinities the weight (int16) and the digits in base 10000
 * (int16 each) of PostgreSQL's binary format, without leading and trailing zero digits. The scale is left out, so 1, 1.0 and 1.00 are one
 * key, as are 0 and -0. Wire format: numeric_send in numeric.c.
 */
final class NumericKeys {
    private static final int ZERO = 0;
    private static final int POSITIVE = 1;
    private static final int NEGATIVE = 2;
    private static final int NAN = 3;
    private static final int POSITIVE_INFINITY = 4;
    private static final int NEGATIVE_INFINITY = 5;

    private static final int SIGN_NEGATIVE = 0x4000;
    private static final int SIGN_NAN = 0xC000;
    private static final int SIGN_PINF = 0xD000;
    private static final int SIGN_NINF = 0xF000;

    /** NUMERIC_DSCALE_MAX in numeric.c. */
    private static final int MAX_SCALE = 0x3FFF;

    /** Longer texts and larger exponents are legal but unusual: PostgreSQL reads them. */
    private static final int USUAL_DIGITS = 512;

    private NumericKeys() {}

    static void fromBinary(byte[] s, int offset, int length, KeyBuffer out, boolean last) {
        if (length < 8 || length != 8 + 2 * int16(s, offset)) {
            throw new IllegalArgumentException("numeric of " + length + " bytes");
        }
        int first = 0;
        int end = int16(s, offset);
        while (first < end && int16(s, offset + 8 + 2 * first) == 0) {
            first++;
        }
        while (end > first && int16(s, offset + 8 + 2 * (end - 1)) == 0) {
            end--;
        }
        int kind = kind(int16(s, offset + 4) & 0xFFFF, first == end);
        begin(kind, end - first, out, last);
        if (isFinite(kind)) {
            out.appendNumber(int16(s, offset + 2) - first, 2);
            out.append(s, offset + 8 + 2 * first, 2 * (end - first));
        }
    }

    private static int kind(int sign, boolean zero) {
        return switch (sign) {
            case 0 -> zero ? ZERO : POSITIVE;
            case SIGN_NEGATIVE -> zero ? ZERO : NEGATIVE;
            case SIGN_NAN -> NAN;
            case SIGN_PINF -> POSITIVE_INFINITY;
            case SIGN_NINF -> NEGATIVE_INFINITY;
            default -> throw new IllegalArgumentException("numeric with sign " + sign);
        };
    }

    private static void begin(int kind, int digits, KeyBuffer out, boolean last) {
        if (!last) {
            out.appendLength(isFinite(kind) ? 3 + 2 * digits : 1);
        }
        out.append(kind);
    }

    private static boolean isFinite(int kind) {
        return kind == POSITIVE || kind == NEGATIVE;
    }

    /** Plain decimals and exponents as numeric_in reads them, NaN and the infinities; false for everything else. */
    static boolean fromText(byte[] s, int offset, int length, KeyBuffer out, boolean last) {
        int end = IntegerText.trimEnd(s, offset, offset + length);
        int i = IntegerText.skipSpace(s, offset, end);
        boolean negative = i < end && s[i] == '-';
        boolean signed = negative || i < end && s[i] == '+';
        i += signed ? 1 : 0;
        if (i < end && (s[i] | 0x20) >= 'a') {
            return special(s, i, end, negative, signed, out, last);
        }
        return end - i <= USUAL_DIGITS && decimal(s, i, end, negative, out, last);
    }

    private static boolean special(
            byte[] s, int from, int end, boolean negative, boolean signed, KeyBuffer out, boolean last) {
        if (!signed && isWord("nan", s, from, end)) {
            begin(NAN, 0, out, last);
            return true;
        }
        if (isWord("infinity", s, from, end) || isWord("inf", s, from, end)) {
            begin(negative ? NEGATIVE_INFINITY : POSITIVE_INFINITY, 0, out, last);
            return true;
        }
        return false;
    }

    private static boolean isWord(String word, byte[] s, int from, int end) {
        boolean same = end - from == word.length();
        for (int i = 0; same && i < word.length(); i++) {
            same = (s[from + i] | 0x20) == word.charAt(i);
        }
        return same;
    }

    private static boolean decimal(byte[] s, int from, int end, boolean negative, KeyBuffer out, boolean last) {
        int point = -1;
        int i = from;
        for (; i < end && (s[i] | 0x20) != 'e'; i++) {
            if (s[i] == '.' && point < 0) {
                point = i;
            } else if (s[i] < '0' || s[i] > '9') {
                return false;
            }
        }
        int mantissaEnd = i;
        int digits = mantissaEnd - from - (point < 0 ? 0 : 1);
        int exponent = i < end ? exponent(s, i + 1, end) : 0;
        if (digits == 0 || exponent == Integer.MIN_VALUE) {
            return false;
        }
        int before = (point < 0 ? mantissaEnd : point) - from;
        digits(s, from, point < 0 ? mantissaEnd : point, digits, before + exponent, negative, out, last);
        return true;
    }

    private static int exponent(byte[] s, int from, int end) {
        int i = from;
        boolean negative = i < end && s[i] == '-';
        if (i < end && (s[i] == '-' || s[i] == '+')) {
            i++;
        }
        if (i == end) {
            return Integer.MIN_VALUE;
        }
        int value = 0;
        for (; i < end; i++) {
            if (s[i] < '0' || s[i] > '9' || value > USUAL_DIGITS) {
                return Integer.MIN_VALUE;
            }
            value = value * 10 + s[i] - '0';
        }
        return value > USUAL_DIGITS ? Integer.MIN_VALUE : negative ? -value : value;
    }

    /**
     * @param point index of the decimal point in {@code s}, the digits go on behind it
     * @param count decimal digits
     * @param integerDigits how many of them stand before the decimal point once the exponent was applied; may be negative or above count
     */
    private static void digits(
            byte[] s,
            int from,
            int point,
            int count,
            int integerDigits,
            boolean negative,
            KeyBuffer out,
            boolean last) {
        int first = 0;
        int end = count;
        while (first < end && digit(s, from, point, first) == 0) {
            first++;
        }
        while (end > first && digit(s, from, point, end - 1) == 0) {
            end--;
        }
        if (first == end) {
            begin(ZERO, 0, out, last);
            return;
        }
        int weight = Math.floorDiv(integerDigits - first - 1, 4);
        int pad = (weight + 1) * 4 - (integerDigits - first);
        int groups = (pad + end - first + 3) / 4;
        begin(negative ? NEGATIVE : POSITIVE, groups, out, last);
        out.appendNumber(weight, 2);
        for (int g = 0; g < groups; g++) {
            int value = 0;
            for (int k = 0; k < 4; k++) {
                int index = first - pad + g * 4 + k;
                value = value * 10 + (index < first || index >= end ? 0 : digit(s, from, point, index));
            }
            out.appendNumber(value, 2);
        }
    }

    private static int digit(byte[] s, int from, int point, int index) {
        int at = from + index;
        return s[at < point ? at : at + 1] - '0';
    }

    /** PostgreSQL's binary format, with just the scale that the digits need. */
    static byte[] toBinary(byte[] key, int offset, int length) {
        int kind = key[offset];
        int digits = isFinite(kind) ? (length - 3) / 2 : 0;
        int weight = isFinite(kind) ? int16(key, offset + 1) : 0;
        ByteBuffer b = ByteBuffer.allocate(8 + 2 * digits);
        b.putShort((short) digits).putShort((short) weight).putShort((short) sign(kind));
        b.putShort((short) Math.clamp((digits - weight - 1) * 4L, 0, MAX_SCALE));
        return b.put(key, offset + length - 2 * digits, 2 * digits).array();
    }

    private static int sign(int kind) {
        return switch (kind) {
            case NEGATIVE -> SIGN_NEGATIVE;
            case NAN -> SIGN_NAN;
            case POSITIVE_INFINITY -> SIGN_PINF;
            case NEGATIVE_INFINITY -> SIGN_NINF;
            default -> 0;
        };
    }

    private static int int16(byte[] s, int offset) {
        return s[offset] << 8 | s[offset + 1] & 0xFF;
    }
}
