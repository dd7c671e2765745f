package dev.pgnear.base;

/** WAL positions: unsigned 64-bit byte addresses, printed as PostgreSQL does ({@code 16/B374D848}). */
public final class Lsn {
    private Lsn() {}

    /** The text form of a position. */
    public static String format(long lsn) {
        return Long.toHexString(lsn >>> 32).toUpperCase(java.util.Locale.ROOT) + "/"
                + Long.toHexString(lsn & 0xFFFFFFFFL).toUpperCase(java.util.Locale.ROOT);
    }

    /**
     * @throws IllegalArgumentException if the text is not {@code hex/hex}
     */
    public static long parse(String text) {
        int slash = text.indexOf('/');
        if (slash < 1) {
            throw new IllegalArgumentException("not a WAL position: " + text);
        }
        return Long.parseLong(text, 0, slash, 16) << 32 | Long.parseLong(text, slash + 1, text.length(), 16);
    }
}
