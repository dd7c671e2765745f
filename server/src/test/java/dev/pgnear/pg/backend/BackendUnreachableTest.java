package dev.pgnear.pg.backend;

import static dev.pgnear.pg.backend.TestPool.failure;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What the other side can do wrong before there is a session, played by a socket. */
class BackendUnreachableTest {
    private static final Statement ONE = new Statement("select '1'");

    /** Accepts connections, reads the first request and answers each with the same bytes, or with the end if there are none. */
    private static final class FakeServer implements AutoCloseable {
        final AtomicInteger accepted = new AtomicInteger();
        final CountDownLatch several = new CountDownLatch(3);
        final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final byte[] answer;

        FakeServer(String answer) throws IOException {
            this.answer = answer.getBytes(StandardCharsets.ISO_8859_1);
            Thread.ofVirtual().start(this::run);
        }

        private void run() {
            while (!listener.isClosed()) {
                try (Socket s = listener.accept()) {
                    accepted.incrementAndGet();
                    several.countDown();
                    if (answer.length > 0) {
                        s.getInputStream().readNBytes(8);
                        s.getOutputStream().write(answer);
                        s.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
                    }
                } catch (IOException e) {
                    continue; // the test's end, or the pool's
                }
            }
        }

        TestPool pool(String parameters) {
            return new TestPool(
                    "postgresql://me:pw@127.0.0.1:" + listener.getLocalPort() + "/db?sslmode=" + parameters);
        }

        @Override
        public void close() {
            try {
                listener.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static String refusal(String answer, String sslMode) throws IOException {
        try (FakeServer server = new FakeServer(answer);
                TestPool p = server.pool(sslMode)) {
            Throwable e = failure(p.ask(ONE));
            assertThat(e).isInstanceOf(BackendUnavailable.class);
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void saysWhatIsWrongWithTheOtherSide() throws Exception {
        assertThat(refusal("", "disable")).contains("closed the connection during the login");
        assertThat(refusal("HTTP/1.1 400 Bad Request\r\n\r\n", "disable")).contains("'H'");
        assertThat(refusal("H", "prefer")).contains("is this PostgreSQL?");
        assertThat(refusal("N", "require")).contains("does not offer TLS");
        assertThat(refusal("SR\0\0\0\10\0\0\0\0", "require")).contains("more than its answer to an SSLRequest");
        assertThat(refusal("R\0\0\0\10\0\0\0\7", "disable")).contains("GSSAPI");
        assertThat(refusal("Z\0\0\0\5I", "disable")).contains("ready before it let us in");
        assertThat(refusal("R\377\377\377\377", "disable")).contains("impossible length");
        assertThat(refusal("R\177\377\377\377", "disable")).contains("longer than the limit");
    }

    @Test
    void triesAgainWithPausesAndFailsFastMeanwhile() throws Exception {
        try (FakeServer server = new FakeServer("");
                TestPool p = server.pool("disable")) {
            long start = System.nanoTime();
            assertThat(failure(p.ask(ONE))).isInstanceOf(BackendUnavailable.class);
            long again = System.nanoTime();
            assertThat(failure(p.ask(ONE))).isInstanceOf(BackendUnavailable.class);
            assertThat(System.nanoTime() - again).isLessThan(TimeUnit.MILLISECONDS.toNanos(200));
            assertThat(server.several.await(5, TimeUnit.SECONDS)).isTrue();
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertThat(server.accepted.get()).isLessThanOrEqualTo(3 + (int) (millis / 25));
        }
    }

    @Test
    void anUnknownHostIsNamed() {
        try (TestPool p = new TestPool("postgresql://me@no-such-host.invalid/db")) {
            assertThat(failure(p.ask(ONE)))
                    .isInstanceOf(BackendUnavailable.class)
                    .hasMessageContaining("the host name \"no-such-host.invalid\" is not known");
        }
    }
}
