package dev.pgnear.pg.catalog;

/** What PostgreSQL accepts as UTF-8 text: RFC 3629 without the zero character (pg_utf8_islegal in wchar.c). */
final class Utf8 {
    private Utf8() {}

    /** Whether the bytes are valid text. */
    static boolean isText(byte[] s, int offset, int length) {
        int end = offset + length;
        int i = offset;
        while (i < end) {
            if (s[i] > 0) {
                i++;
                continue;
            }
            int n = sequence(s, i, end);
            if (n == 0) {
                return false;
            }
            i += n;
        }
        return true;
    }

    /** Length of the multi-byte character at {@code i}, or 0 if there is none. */
    private static int sequence(byte[] s, int i, int end) {
        int lead = s[i] & 0xFF;
        int n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
        if (lead < 0xC2 || lead > 0xF4 || end - i < n) {
            return 0;
        }
        for (int k = 1; k < n; k++) {
            if ((s[i + k] & 0xC0) != 0x80) {
                return 0;
            }
        }
        int second = s[i + 1] & 0xFF;
        boolean illegal = lead == 0xE0 && second < 0xA0
                || lead == 0xED && second > 0x9F
                || lead == 0xF0 && second < 0x90
                || lead == 0xF4 && second > 0x8F;
        return illegal ? 0 : n;
    }
}
