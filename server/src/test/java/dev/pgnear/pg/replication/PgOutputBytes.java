package dev.pgnear.pg.replication;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Builds one pgoutput message. */
final class PgOutputBytes {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);

    PgOutputBytes(char type) {
        i8(type);
    }

    private interface Write {
        void now() throws IOException;
    }

    private PgOutputBytes write(Write w) {
        try {
            w.now();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    PgOutputBytes i8(int v) {
        return write(() -> out.writeByte(v));
    }

    PgOutputBytes i16(int v) {
        return write(() -> out.writeShort(v));
    }

    PgOutputBytes i32(int v) {
        return write(() -> out.writeInt(v));
    }

    PgOutputBytes i64(long v) {
        return write(() -> out.writeLong(v));
    }

    PgOutputBytes raw(String v) {
        return write(() -> out.write(v.getBytes(StandardCharsets.UTF_8)));
    }

    PgOutputBytes text(String v) {
        return raw(v).i8(0);
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }
}
