package dev.pgnear.pg.wire;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes the messages of a client to the end of a buffer, many messages into one buffer. Strings are UTF-8 and must not contain NUL
 * (IllegalArgumentException). Formats: PostgreSQL documentation, "Message Formats".
 */
public final class FrontendMessages {
    private FrontendMessages() {}

    /** StartupMessage for protocol 3.0: {@code user}, {@code database}, {@code replication} and any setting of the session. */
    public static void startup(ByteBuf out, Map<String, String> parameters) {
        int start = out.writerIndex();
        out.writeInt(0).writeInt(Protocol.VERSION_3_0);
        parameters.forEach((name, value) -> {
            string(out, name);
            string(out, value);
        });
        out.writeByte(0);
        out.setInt(start, out.writerIndex() - start);
    }

    public static void sslRequest(ByteBuf out) {
        out.writeInt(8).writeInt(Protocol.SSL_REQUEST);
    }

    /** CancelRequest, on a connection of its own, with what BackendKeyData said. */
    public static void cancelRequest(ByteBuf out, int processId, byte[] secretKey) {
        out.writeInt(12 + secretKey.length)
                .writeInt(Protocol.CANCEL_REQUEST)
                .writeInt(processId)
                .writeBytes(secretKey);
    }

    /**
     * @param parameterTypes OIDs; 0, or an array that is too short, leaves a type to the server
     */
    public static void parse(ByteBuf out, String statement, String sql, int... parameterTypes) {
        int start = begin(out, Protocol.Frontend.PARSE);
        string(out, statement);
        string(out, sql);
        out.writeShort(parameterTypes.length);
        for (int oid : parameterTypes) {
            out.writeInt(oid);
        }
        end(out, start);
    }

    /**
     * @param parameterFormat {@link Protocol#TEXT} or {@link Protocol#BINARY}, for all parameters
     * @param parameters at most 65535; a null element is SQL NULL
     * @param resultFormat the same for all columns of the result
     */
    public static void bind(
            ByteBuf out,
            String portal,
            String statement,
            int parameterFormat,
            byte[] @Nullable [] parameters,
            int resultFormat) {
        if (parameters.length > 0xFFFF) {
            throw new IllegalArgumentException("more than 65535 parameters");
        }
        int start = begin(out, Protocol.Frontend.BIND);
        string(out, portal);
        string(out, statement);
        out.writeShort(1).writeShort(parameterFormat).writeShort(parameters.length);
        for (byte @Nullable [] p : parameters) {
            value(out, p);
        }
        out.writeShort(1).writeShort(resultFormat);
        end(out, start);
    }

    private static void value(ByteBuf out, byte @Nullable [] value) {
        if (value == null) {
            out.writeInt(-1);
        } else {
            out.writeInt(value.length).writeBytes(value);
        }
    }

    public static void describeStatement(ByteBuf out, String statement) {
        named(out, Protocol.Frontend.DESCRIBE, 'S', statement);
    }

    public static void describePortal(ByteBuf out, String portal) {
        named(out, Protocol.Frontend.DESCRIBE, 'P', portal);
    }

    public static void closeStatement(ByteBuf out, String statement) {
        named(out, Protocol.Frontend.CLOSE, 'S', statement);
    }

    public static void closePortal(ByteBuf out, String portal) {
        named(out, Protocol.Frontend.CLOSE, 'P', portal);
    }

    private static void named(ByteBuf out, byte type, char kind, String name) {
        int start = begin(out, type);
        out.writeByte(kind);
        string(out, name);
        end(out, start);
    }

    /**
     * @param maxRows 0 for all
     */
    public static void execute(ByteBuf out, String portal, int maxRows) {
        int start = begin(out, Protocol.Frontend.EXECUTE);
        string(out, portal);
        out.writeInt(maxRows);
        end(out, start);
    }

    public static void sync(ByteBuf out) {
        out.writeByte(Protocol.Frontend.SYNC).writeInt(4);
    }

    public static void flush(ByteBuf out) {
        out.writeByte(Protocol.Frontend.FLUSH).writeInt(4);
    }

    public static void terminate(ByteBuf out) {
        out.writeByte(Protocol.Frontend.TERMINATE).writeInt(4);
    }

    public static void copyDone(ByteBuf out) {
        out.writeByte(Protocol.Frontend.COPY_DONE).writeInt(4);
    }

    public static void copyFail(ByteBuf out, String reason) {
        message(out, Protocol.Frontend.COPY_FAIL, reason);
    }

    /** Simple query. */
    public static void query(ByteBuf out, String sql) {
        message(out, Protocol.Frontend.QUERY, sql);
    }

    /** PasswordMessage: the password, or its MD5 form. */
    public static void password(ByteBuf out, String password) {
        message(out, Protocol.Frontend.PASSWORD, password);
    }

    private static void message(ByteBuf out, byte type, String text) {
        int start = begin(out, type);
        string(out, text);
        end(out, start);
    }

    public static void saslInitialResponse(ByteBuf out, String mechanism, byte[] data) {
        int start = begin(out, Protocol.Frontend.PASSWORD);
        string(out, mechanism);
        out.writeInt(data.length).writeBytes(data);
        end(out, start);
    }

    public static void saslResponse(ByteBuf out, byte[] data) {
        out.writeByte(Protocol.Frontend.PASSWORD).writeInt(4 + data.length).writeBytes(data);
    }

    /** CopyData with {@code length} bytes of {@code data}; the indexes of {@code data} do not move. */
    public static void copyData(ByteBuf out, ByteBuf data, int index, int length) {
        out.writeByte(Protocol.Frontend.COPY_DATA).writeInt(4 + length).writeBytes(data, index, length);
    }

    private static int begin(ByteBuf out, byte type) {
        out.writeByte(type);
        int start = out.writerIndex();
        out.writeInt(0);
        return start;
    }

    private static void end(ByteBuf out, int start) {
        out.setInt(start, out.writerIndex() - start);
    }

    private static void string(ByteBuf out, String text) {
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("a string for PostgreSQL contains NUL");
        }
        out.writeCharSequence(text, StandardCharsets.UTF_8);
        out.writeByte(0);
    }
}
