package dev.pgnear.pg.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SocketFramesTest {
    private static final int MAX = 1 << 18;

    /** Gives at most {@code most} bytes for each read. */
    private static SocketFrames frames(byte[] bytes, int most) {
        InputStream in = new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] b, int off, int len) {
                return super.read(b, off, Math.min(len, most));
            }
        };
        return new SocketFrames(in, System::nanoTime, MAX);
    }

    private static byte[] frame(char type, int bodyLength) {
        PgOutputBytes b = new PgOutputBytes(type).i32(4 + bodyLength);
        return b.raw("y".repeat(bodyLength)).bytes();
    }

    private static byte[] join(byte[]... parts) throws IOException {
        var out = new java.io.ByteArrayOutputStream();
        for (byte[] p : parts) {
            out.write(p);
        }
        return out.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 65536, 1 << 20})
    void framesOfAllSizesComeWholeOrCut(int most) throws IOException {
        int[] sizes = {0, 1, 100, 65530, 65531, 65532, 70000, MAX - 5, MAX - 4, MAX * 3, 7, 0};
        byte[][] all = new byte[sizes.length][];
        for (int i = 0; i < sizes.length; i++) {
            all[i] = frame((char) ('A' + i), sizes[i]);
        }
        SocketFrames f = frames(join(all), most);
        for (int i = 0; i < sizes.length; i++) {
            f.next();
            assertThat((char) f.type()).isEqualTo((char) ('A' + i));
            assertThat(f.bodyLength()).isEqualTo(Math.min(sizes[i], MAX - 5));
            assertThat(f.cut()).isEqualTo(sizes[i] > MAX - 5);
            assertThat(new String(f.body(), java.nio.charset.StandardCharsets.UTF_8))
                    .matches("y*");
        }
        assertThat(f.buffered()).isFalse();
        assertThatThrownBy(f::next).isInstanceOf(EOFException.class);
    }

    @Test
    void wholeFramesThatWereReadAreKnown() throws IOException {
        SocketFrames f = frames(join(frame('a', 3), frame('b', 3), frame('c', 3)), 8 + 8 + 2);
        assertThat(f.buffered()).isFalse();
        f.next();
        assertThat(f.buffered()).isTrue();
        f.next();
        assertThat(f.buffered()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, -1, Integer.MIN_VALUE})
    void impossibleLengthsAreErrors(int length) {
        byte[] bytes = new PgOutputBytes('d').i32(length).i64(0).bytes();
        assertThatThrownBy(() -> frames(bytes, 100).next()).isInstanceOf(StreamProtocolException.class);
    }

    @Test
    void theEndInsideAFrameIsTold() {
        byte[] bytes = new PgOutputBytes('d').i32(100).i64(0).bytes();
        assertThatThrownBy(() -> frames(bytes, 100).next()).isInstanceOf(EOFException.class);
    }
}
