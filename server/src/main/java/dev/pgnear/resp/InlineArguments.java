package dev.pgnear.resp;

/**
 * Splits the line of an inline command into arguments as Redis does (sds.c, sdssplitargs): blanks separate; double quotes with the escapes
 * {@code \n \r \t \b \a \xHH} and {@code \c} for any other character; single quotes with the escape {@code \'} only. A closing quote must
 * be followed by a blank or the end. Unescaped bytes are never longer, so they are written back in place.
 */
final class InlineArguments {
    private final byte[] b;
    private final int end;
    private int in;
    private int out;

    private InlineArguments(byte[] b, int from, int end) {
        this.b = b;
        this.in = from;
        this.end = end;
    }

    /** Adds the arguments to the request, offsets counted from {@code start}; false if the quotes are not balanced. */
    static boolean split(byte[] b, int from, int end, int start, Request into) {
        InlineArguments line = new InlineArguments(b, from, end);
        while (line.skipBlanks()) {
            int begin = line.in;
            line.out = begin;
            if (!line.argument()) {
                return false;
            }
            into.add(begin - start, line.out - begin);
        }
        return true;
    }

    private boolean skipBlanks() {
        while (in < end && blank(b[in])) {
            in++;
        }
        return in < end;
    }

    private static boolean blank(byte c) {
        return c == ' ' || c >= '\t' && c <= '\r';
    }

    private boolean argument() {
        while (in < end && !blank(b[in])) {
            byte c = b[in++];
            if (c == '"') {
                return doubleQuoted();
            }
            if (c == '\'') {
                return singleQuoted();
            }
            b[out++] = c;
        }
        return true;
    }

    private boolean doubleQuoted() {
        while (in < end) {
            byte c = b[in++];
            if (c == '"') {
                return closed();
            }
            b[out++] = c == '\\' && in < end ? escape() : c;
        }
        return false;
    }

    private boolean singleQuoted() {
        while (in < end) {
            byte c = b[in++];
            if (c == '\'') {
                return closed();
            }
            if (c == '\\' && in < end && b[in] == '\'') {
                c = b[in++];
            }
            b[out++] = c;
        }
        return false;
    }

    private boolean closed() {
        return in == end || blank(b[in]);
    }

    private byte escape() {
        byte c = b[in++];
        if (c == 'x' && end - in >= 2 && Character.digit(b[in], 16) >= 0 && Character.digit(b[in + 1], 16) >= 0) {
            int value = Character.digit(b[in], 16) << 4 | Character.digit(b[in + 1], 16);
            in += 2;
            return (byte) value;
        }
        return switch (c) {
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'b' -> '\b';
            case 'a' -> 7;
            default -> c;
        };
    }
}
