package dev.pgnear.rows;

import dev.pgnear.TestPostgres;
import dev.pgnear.base.NanoClock;
import dev.pgnear.base.ValueSink;
import dev.pgnear.cache.Cache;
import dev.pgnear.cache.OffHeapCache;
import dev.pgnear.coherence.Coherence;
import dev.pgnear.pg.backend.BackendPool;
import dev.pgnear.pg.backend.BackendSettings;
import dev.pgnear.pg.backend.BackendStats;
import dev.pgnear.pg.catalog.ControlConnection;
import dev.pgnear.pg.catalog.LiveMappings;
import dev.pgnear.pg.catalog.MappingSet;
import dev.pgnear.pg.catalog.Sampler;
import dev.pgnear.pg.catalog.Setup;
import dev.pgnear.pg.replication.LogicalStream;
import dev.pgnear.pg.replication.StreamOptions;
import dev.pgnear.pg.wire.PgTarget;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Everything that reading rows needs, without a door: rules, cache, stream, mappings, one loop. */
final class RowsNode implements AutoCloseable {
    static final long TIMEOUT_NANOS = 2_000_000_000L;

    final Coherence coherence;
    final LiveMappings mappings;
    final RowStats stats = new RowStats();
    final BackendStats backendStats = new BackendStats();
    final RowScopes scopes;
    private final LogicalStream stream;
    private final Sampler sampler;
    private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final EventLoop loop = group.next();
    private final BackendPool pool;
    private final RowLoader loader;
    private final KeyParser parser;

    /** Installs pgnear and starts. */
    RowsNode(TestPostgres pg) throws InterruptedException {
        this(new PgTarget("127.0.0.1", pg.port(), "postgres", "postgres", null, PgTarget.SslMode.DISABLE, null), true);
    }

    RowsNode(PgTarget target, boolean setup) throws InterruptedException {
        NanoClock clock = System::nanoTime;
        if (setup) {
            Setup.install(target, null);
        }
        coherence = new Coherence(new OffHeapCache(64 << 20), clock, false, TimeUnit.SECONDS.toNanos(5), 0);
        MappingSet[] none = {MappingSet.EMPTY};
        LiveMappings[] self = new LiveMappings[1];
        scopes = new RowScopes(target.database(), coherence, () -> self[0] == null ? none[0] : self[0].get());
        mappings = new LiveMappings(coherence, () -> ControlConnection.openLocal(target, "mappings"), scopes);
        self[0] = mappings;
        stream = new LogicalStream(
                target, StreamOptions.of("test", false), mappings, mappings.applier(), clock, new Random());
        mappings.start();
        if (!mappings.awaitLoaded(Duration.ofSeconds(20))) {
            throw new IllegalStateException("not loaded: " + mappings.trouble());
        }
        stream.start();
        sampler = new Sampler(
                target, "test", 5000, clock, 100, () -> coherence.status().appliedLsn(), coherence::sample);
        pool = new BackendPool(
                loop, NioSocketChannel.class, target, BackendSettings.named("rows"), clock, backendStats);
        pool.start();
        loader = new RowLoader(loop, coherence, pool, mappings, stats, clock);
        parser = new KeyParser(target.database(), mappings);
    }

    /** Until hits are served and every table that may be cached is. */
    void awaitReady() throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!coherence.status().hitsAllowed() || !mappings.awaitVerified(Duration.ofMillis(10))) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not ready: " + coherence.status() + ", " + mappings.trouble());
            }
            Thread.onSpinWait();
        }
    }

    /** {@code hit <json>}, {@code miss <json>}, {@code hit}, {@code miss} (both absent), or an error line. */
    CompletableFuture<String> get(String key) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        loop.execute(() -> start(key, answer));
        return answer;
    }

    /** As one read burst. */
    List<String> get(List<String> keys) throws Exception {
        List<CompletableFuture<String>> answers =
                keys.stream().map(k -> new CompletableFuture<String>()).toList();
        loop.execute(() -> {
            for (int i = 0; i < keys.size(); i++) {
                start(keys.get(i), answers.get(i));
            }
            loader.flush();
        });
        CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
        return answers.stream().map(CompletableFuture::join).toList();
    }

    String read(String key) throws Exception {
        return get(key).get(20, TimeUnit.SECONDS);
    }

    private void start(String text, CompletableFuture<String> answer) {
        try {
            KeyParser.Key key = new KeyParser.Key();
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            switch (parser.parse(utf8, 0, utf8.length, key)) {
                case ERROR -> answer.complete(key.error());
                case NOT_A_ROW -> answer.complete("not a row");
                case ROW, NEEDS_POSTGRES -> readOrLoad(key, answer);
            }
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    private void readOrLoad(KeyParser.Key key, CompletableFuture<String> answer) {
        Sink sink = new Sink();
        int found = loader.read(key, sink);
        if (found == Cache.ABSENT) {
            answer.complete("hit");
        } else if (found != Cache.MISS) {
            answer.complete("hit " + new String(sink.bytes, 0, found, StandardCharsets.UTF_8));
        } else {
            loader.load(key, System.nanoTime() + TIMEOUT_NANOS, new RowResult() {
                @Override
                public void found(byte[] json) {
                    answer.complete("miss " + new String(json, StandardCharsets.UTF_8));
                }

                @Override
                public void absent() {
                    answer.complete("miss");
                }

                @Override
                public void failed(String redisError) {
                    answer.complete(redisError);
                }
            });
        }
    }

    private static final class Sink implements ValueSink {
        private byte[] bytes = {};
        private int length;

        @Override
        public void begin(int n) {
            bytes = new byte[n];
            length = 0;
        }

        @Override
        public void chunk(MemorySegment source, long offset, int n) {
            MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, bytes, length, n);
            length += n;
        }

        @Override
        public void rollback() {
            length = 0;
        }
    }

    @Override
    public void close() {
        sampler.close();
        stream.close();
        mappings.close();
        pool.close().syncUninterruptibly();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
