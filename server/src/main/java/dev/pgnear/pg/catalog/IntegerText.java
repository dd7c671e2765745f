package dev.pgnear.pg.catalog;

/**
 * Decimal integers as {@code pg_strtoint16/32/64} read them (numutils.c): white space around, one sign, leading zeros. Hexadecimal and
 * underscores exist only in newer servers, so they are left to PostgreSQL, as are values out of range.
 */
final class IntegerText {
    private IntegerText() {}

    static boolean append(byte[] s, int offset, int length, int width, KeyBuffer out) {
        int end = trimEnd(s, offset, offset + length);
        int i = skipSpace(s, offset, end);
        boolean negative = i < end && s[i] == '-';
        if (i < end && (s[i] == '-' || s[i] == '+')) {
            i++;
        }
        if (i == end) {
            return false;
        }
        // Collected as a negative number, because the most negative one has no positive counterpart.
        long value = 0;
        for (; i < end; i++) {
            int digit = s[i] - '0';
            if (digit < 0 || digit > 9 || value < (Long.MIN_VALUE + digit) / 10) {
                return false;
            }
            value = value * 10 - digit;
        }
        if (!negative && value == Long.MIN_VALUE) {
            return false;
        }
        long signed = negative ? value : -value;
        int unused = 64 - width * 8;
        if (signed << unused >> unused != signed) {
            return false;
        }
        out.appendNumber(signed, width);
        return true;
    }

    /** C's isspace in every locale that PostgreSQL's ASCII comparison knows. */
    static boolean isSpace(byte b) {
        return b == ' ' || b >= '\t' && b <= '\r';
    }

    static int skipSpace(byte[] s, int from, int end) {
        int i = from;
        while (i < end && isSpace(s[i])) {
            i++;
        }
        return i;
    }

    static int trimEnd(byte[] s, int from, int end) {
        int i = end;
        while (i > from && isSpace(s[i - 1])) {
            i--;
        }
        return i;
    }
}
