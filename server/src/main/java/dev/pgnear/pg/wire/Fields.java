package dev.pgnear.pg.wire;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the bodies of backend messages, and of a client's StartupMessage, in place by index. */
public final class Fields {
    private Fields() {}

    /**
     * Index of the NUL that ends the string at {@code index}.
     *
     * @throws PgProtocolException if there is none before {@code end}
     */
    public static int endOfString(ByteBuf in, int index, int end) {
        int nul = index > end ? -1 : in.indexOf(index, end, (byte) 0);
        if (nul < 0) {
            throw new PgProtocolException("a string in a PostgreSQL message has no end");
        }
        return nul;
    }

    /**
     * The NUL-terminated UTF-8 string at {@code index}.
     *
     * @throws PgProtocolException if it does not end before {@code end}
     */
    public static String string(ByteBuf in, int index, int end) {
        return in.toString(index, endOfString(in, index, end) - index, StandardCharsets.UTF_8);
    }

    /**
     * The body of an ErrorResponse or NoticeResponse.
     *
     * @throws PgProtocolException if a field does not end inside the body
     */
    public static PgException error(ByteBuf in, int index, int length) {
        int end = index + length;
        String severity = null;
        String translated = "ERROR";
        String sqlState = "XX000";
        String message = "unknown error";
        @Nullable String detail = null;
        @Nullable String hint = null;
        int i = index;
        while (i < end && in.getByte(i) != 0) {
            byte field = in.getByte(i);
            int nul = endOfString(in, i + 1, end);
            String text = in.toString(i + 1, nul - i - 1, StandardCharsets.UTF_8);
            switch (field) {
                case 'V' -> severity = text;
                case 'S' -> translated = text;
                case 'C' -> sqlState = text;
                case 'M' -> message = text;
                case 'D' -> detail = text;
                case 'H' -> hint = text;
                default -> {} // position, file, line and others are not shown
            }
            i = nul + 1;
        }
        return new PgException(severity == null ? translated : severity, sqlState, message, detail, hint);
    }

    /**
     * Parameters of a StartupMessage, in order; {@code index} is behind the version.
     *
     * @throws PgProtocolException if the list is not pairs of strings with a NUL at its end
     */
    public static Map<String, String> startupParameters(ByteBuf in, int index, int end) {
        Map<String, String> parameters = new LinkedHashMap<>();
        int i = index;
        while (i < end && in.getByte(i) != 0) {
            int nameEnd = endOfString(in, i, end);
            int valueEnd = endOfString(in, nameEnd + 1, end);
            parameters.put(
                    in.toString(i, nameEnd - i, StandardCharsets.UTF_8),
                    in.toString(nameEnd + 1, valueEnd - nameEnd - 1, StandardCharsets.UTF_8));
            i = valueEnd + 1;
        }
        if (i != end - 1) {
            throw new PgProtocolException("the parameters of a StartupMessage do not end with its length");
        }
        return parameters;
    }
}
