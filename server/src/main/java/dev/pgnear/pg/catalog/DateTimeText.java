package dev.pgnear.pg.catalog;

/**
 * ISO 8601 dates and times of the years 1 to 9999, and the infinities; the rest of what PostgreSQL's date input knows (names, BC, words such
 * as {@code now}, zones by name, other orders, more than six fractional digits) is left to it. Canonical: days or microseconds since
 * 2000-01-01, as the binary format.
 */
final class DateTimeText {
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final long MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND;
    private static final int INVALID = Integer.MIN_VALUE;

    private DateTimeText() {}

    static boolean appendDate(byte[] s, int offset, int length, KeyBuffer out) {
        int infinity = infinity(s, offset, length);
        if (infinity != 0) {
            out.appendNumber(infinity > 0 ? Integer.MAX_VALUE : Integer.MIN_VALUE, 4);
            return true;
        }
        int days = length == 10 ? days(s, offset) : INVALID;
        if (days != INVALID) {
            out.appendNumber(days, 4);
        }
        return days != INVALID;
    }

    static boolean appendTimestamp(byte[] s, int offset, int length, KeyBuffer out) {
        return appendMoment(s, offset, length, false, out);
    }

    /** Only with an offset: without it the value depends on the session's time zone. */
    static boolean appendTimestampTz(byte[] s, int offset, int length, KeyBuffer out) {
        return appendMoment(s, offset, length, true, out);
    }

    private static boolean appendMoment(byte[] s, int offset, int length, boolean zoned, KeyBuffer out) {
        int infinity = infinity(s, offset, length);
        if (infinity != 0) {
            out.appendNumber(infinity > 0 ? Long.MAX_VALUE : Long.MIN_VALUE, 8);
            return true;
        }
        int end = offset + length;
        int days = length >= 10 ? days(s, offset) : INVALID;
        if (days == INVALID) {
            return false;
        }
        long micros = days * MICROS_PER_DAY;
        if (length == 10) {
            return !zoned && appendMicros(micros, out);
        }
        int zone = zoned ? zoneStart(s, offset + 11, end) : end;
        long time = zone < 0 || s[offset + 10] != ' ' && s[offset + 10] != 'T' ? -1 : timeOfDay(s, offset + 11, zone);
        int seconds = zoned && time >= 0 ? zoneSeconds(s, zone, end) : 0;
        if (time < 0 || seconds == INVALID) {
            return false;
        }
        return appendMicros(micros + time - seconds * MICROS_PER_SECOND, out);
    }

    private static boolean appendMicros(long micros, KeyBuffer out) {
        out.appendNumber(micros, 8);
        return true;
    }

    /** 1, -1, or 0 if it is no infinity. */
    private static int infinity(byte[] s, int offset, int length) {
        boolean negative = length == 9 && s[offset] == '-';
        if (length != 8 && !negative) {
            return 0;
        }
        int from = negative ? offset + 1 : offset;
        for (int i = 0; i < 8; i++) {
            if (s[from + i] != "infinity".charAt(i)) {
                return 0;
            }
        }
        return negative ? -1 : 1;
    }

    /** Days since 2000-01-01 of {@code YYYY-MM-DD}, or {@link #INVALID}. */
    private static int days(byte[] s, int i) {
        int year = number(s, i, 4);
        int month = number(s, i + 5, 2);
        int day = number(s, i + 8, 2);
        if (s[i + 4] != '-' || s[i + 7] != '-' || year < 1 || month < 1 || month > 12) {
            return INVALID;
        }
        if (day < 1 || day > monthLength(year, month)) {
            return INVALID;
        }
        // Years that begin in March put the leap day at the end (Fliegel, Van Flandern 1968, in this form by Hinnant).
        int y = month > 2 ? year : year - 1;
        int era = y / 400;
        int yearOfEra = y - era * 400;
        int dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
        int dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
        return era * 146_097 + dayOfEra - 730_425;
    }

    private static int monthLength(int year, int month) {
        if (month == 2) {
            return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
        }
        return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
    }

    /** Microseconds of {@code HH:MM[:SS[.f{1,6}]]}, or a negative number. */
    private static long timeOfDay(byte[] s, int from, int end) {
        int length = end - from;
        boolean hasSeconds = length >= 8;
        if (length != 5 && !hasSeconds || s[from + 2] != ':' || hasSeconds && s[from + 5] != ':') {
            return -1;
        }
        int hours = number(s, from, 2);
        int minutes = number(s, from + 3, 2);
        int seconds = hasSeconds ? number(s, from + 6, 2) : 0;
        long fraction = length > 8 ? fraction(s, from + 8, end) : 0;
        if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59 || fraction < 0) {
            return -1;
        }
        return (hours * 3600L + minutes * 60L + seconds) * MICROS_PER_SECOND + fraction;
    }

    private static long fraction(byte[] s, int from, int end) {
        int digits = end - from - 1;
        if (s[from] != '.' || digits < 1 || digits > 6) {
            return -1;
        }
        long value = number(s, from + 1, digits);
        for (int i = digits; i < 6; i++) {
            value *= 10;
        }
        return value;
    }

    /** Index of {@code Z}, {@code +} or {@code -}, or -1. */
    private static int zoneStart(byte[] s, int from, int end) {
        for (int i = from; i < end; i++) {
            if (s[i] == 'Z' || s[i] == '+' || s[i] == '-') {
                return i;
            }
        }
        return -1;
    }

    /** Seconds east of Greenwich of {@code Z}, {@code +HH} or {@code +HH:MM}, or {@link #INVALID}. */
    private static int zoneSeconds(byte[] s, int from, int end) {
        int length = end - from;
        if (length == 1 && s[from] == 'Z') {
            return 0;
        }
        if (s[from] == 'Z' || length != 3 && (length != 6 || s[from + 3] != ':')) {
            return INVALID;
        }
        int hours = number(s, from + 1, 2);
        int minutes = length == 6 ? number(s, from + 4, 2) : 0;
        // MAX_TZDISP_HOUR of timestamp.h
        if (hours < 0 || hours > 15 || minutes < 0 || minutes > 59) {
            return INVALID;
        }
        int seconds = hours * 3600 + minutes * 60;
        return s[from] == '-' ? -seconds : seconds;
    }

    /** A number of exactly {@code digits} decimal digits, or -1. */
    private static int number(byte[] s, int from, int digits) {
        int value = 0;
        for (int i = from; i < from + digits; i++) {
            if (s[i] < '0' || s[i] > '9') {
                return -1;
            }
            value = value * 10 + s[i] - '0';
        }
        return value;
    }
}
