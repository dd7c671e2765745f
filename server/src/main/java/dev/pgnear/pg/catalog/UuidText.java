package dev.pgnear.pg.catalog;

/** Uuids as {@code string_to_uuid} reads them (uuid.c): 32 hexadecimal digits, braces around, a hyphen after any group of four. */
final class UuidText {
    private UuidText() {}

    static boolean append(byte[] s, int offset, int length, KeyBuffer out) {
        int i = offset;
        int end = offset + length;
        if (length >= 2 && s[i] == '{') {
            if (s[end - 1] != '}') {
                return false;
            }
            i++;
            end--;
        }
        int before = out.length();
        for (int n = 0; n < 16; n++) {
            int b = i + 1 < end ? hexPair(s[i], s[i + 1]) : -1;
            if (b < 0) {
                out.truncate(before);
                return false;
            }
            out.append(b);
            i += 2;
            if (i < end && s[i] == '-' && n % 2 == 1 && n < 15) {
                i++;
            }
        }
        if (i != end) {
            out.truncate(before);
        }
        return i == end;
    }

    /** The byte that two hexadecimal digits mean, or a negative number. */
    static int hexPair(byte high, byte low) {
        int h = hex(high);
        int l = hex(low);
        return (h | l) < 0 ? -1 : h << 4 | l;
    }

    static int hex(byte b) {
        if (b >= '0' && b <= '9') {
            return b - '0';
        }
        int lower = b | 0x20;
        return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    }
}
