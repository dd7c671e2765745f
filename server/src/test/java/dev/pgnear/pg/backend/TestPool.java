package dev.pgnear.pg.backend;

import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.net.Transport;
import dev.pgnear.pg.wire.PgTarget;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A pool on an event loop of its own, asked from the test's thread; the first column of each row comes back as text. */
final class TestPool implements AutoCloseable {
    final EventLoopGroup loops;
    final EventLoop loop;
    final BackendStats stats = new BackendStats();
    final BackendPool pool;

    /** Rows and who sent them. */
    record Answer(List<String> rows, ServerIdentity server, long nanos) {}

    TestPool(PgTarget target, Transport transport, BackendSettings settings) {
        loops = transport.newEventLoops(1, "test-" + transport.text());
        loop = loops.next();
        pool = new BackendPool(loop, transport.clientChannel(), target, settings, System::nanoTime, stats);
    }

    TestPool(PgTarget target) {
        this(target, Transport.NIO, BackendSettings.named("pgnear-test"));
    }

    TestPool(String url) {
        this(PgTarget.parse(url));
    }

    /** A query whose only column is text. */
    CompletableFuture<Answer> ask(Statement s, byte[] @Nullable ... parameters) {
        return ask(2_000, s, parameters);
    }

    CompletableFuture<Answer> ask(long deadlineMillis, Statement s, byte[] @Nullable ... parameters) {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        long now = System.nanoTime();
        long deadline = now + TimeUnit.MILLISECONDS.toNanos(deadlineMillis);
        loop.execute(() -> pool.execute(s, parameters, deadline, new Collector(answer, now)));
        return answer;
    }

    /** The only row's text. */
    String text(Statement s, byte[] @Nullable ... parameters) {
        return ask(10_000, s, parameters)
                .orTimeout(15, TimeUnit.SECONDS)
                .join()
                .rows()
                .get(0);
    }

    /** How the execution failed. */
    static Throwable failure(CompletableFuture<Answer> answer) {
        return answer.handle((ok, failure) -> {
                    if (failure == null) {
                        throw new AssertionError("it succeeded: " + ok);
                    }
                    return failure;
                })
                .orTimeout(15, TimeUnit.SECONDS)
                .join();
    }

    int connections() throws Exception {
        return loop.submit(pool::connectionCount).get(5, TimeUnit.SECONDS);
    }

    boolean renew() {
        return pool.renew().awaitUninterruptibly(5, TimeUnit.SECONDS);
    }

    static byte[] int4(int value) {
        return ByteBuffer.allocate(4).putInt(value).array();
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        pool.close().awaitUninterruptibly(5, TimeUnit.SECONDS);
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private static final class Collector implements ResultHandler {
        private final CompletableFuture<Answer> answer;
        private final long start;
        private final List<String> rows = new ArrayList<>();

        Collector(CompletableFuture<Answer> answer, long start) {
            this.answer = answer;
            this.start = start;
        }

        @Override
        public void row(DataRow row) {
            rows.add(row.isNull(0) ? "NULL" : row.getString(0));
        }

        @Override
        public void complete(ServerIdentity server) {
            if (!answer.complete(new Answer(rows, server, System.nanoTime() - start))) {
                throw new AssertionError("answered twice");
            }
        }

        @Override
        public void failed(Throwable cause) {
            if (!answer.completeExceptionally(cause)) {
                throw new AssertionError("answered twice");
            }
        }
    }
}
