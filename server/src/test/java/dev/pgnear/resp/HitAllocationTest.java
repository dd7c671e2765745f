package dev.pgnear.resp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.pgnear.base.ValueSink;
import dev.pgnear.cache.Cache;
import dev.pgnear.metrics.Stats;
import dev.pgnear.resp.command.Commands;
import dev.pgnear.rows.RowResult;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

/** A GET hit in steady state allocates nothing: from the received bytes to the outbound buffer. */
class HitAllocationTest {
    private static final int WARM_UP = 30_000;
    private static final int MEASURED = 20_000;
    private static final int PIPELINE = 4;

    /** One cached row. */
    private static final class OneRow implements RowSource {
        private final MemorySegment value = Arena.global().allocate(271);

        @Override
        public String parse(int slot, byte[] bytes, int offset, int length) {
            return null;
        }

        @Override
        public long identity(int slot) {
            return 1;
        }

        @Override
        public int read(int slot, ValueSink sink) {
            sink.begin(271);
            sink.chunk(value, 0, 271);
            return 271;
        }

        @Override
        public void load(int slot, long deadlineNanos, RowResult result) {
            throw new AssertionError(Cache.MISS);
        }

        @Override
        public void flush() {}
    }

    /** Stands for the socket: takes the bytes and lets go of the buffer. */
    private static final class Socket extends ChannelOutboundHandlerAdapter {
        private long bytes;

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            bytes += ((ByteBuf) msg).readableBytes();
            ((ByteBuf) msg).release();
        }

        @Override
        public void flush(ChannelHandlerContext ctx) {}
    }

    @Test
    void getHit() {
        RespDoor door = new RespDoor(
                RespSettings.defaults(AccessTokens.NONE, "t"),
                Commands.table(),
                loop -> new OneRow(),
                scope -> 0,
                new Stats(),
                System::nanoTime,
                InstantSource.system());
        EmbeddedChannel channel = new EmbeddedChannel(door);
        Socket socket = new Socket();
        channel.pipeline().addFirst(socket);
        Session session = channel.pipeline().get(Session.class);
        ChannelHandlerContext ctx = channel.pipeline().context(Session.class);
        ByteBuf in = PooledByteBufAllocator.DEFAULT.directBuffer(1024);
        in.writeBytes(Door.request("GET", "CRUD:db.public.items:{\"id\":42}")
                .repeat(PIPELINE)
                .getBytes(StandardCharsets.UTF_8));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        burst(session, ctx, in, WARM_UP);
        long thread = Thread.currentThread().threadId();
        long before = threads.getThreadAllocatedBytes(thread);
        burst(session, ctx, in, MEASURED);
        long allocated = threads.getThreadAllocatedBytes(thread) - before;
        assertThat(socket.bytes).isEqualTo((WARM_UP + MEASURED) * (long) PIPELINE * (271 + "$271\r\n\r\n".length()));
        assertThat(allocated).as("bytes for %d hits", MEASURED * PIPELINE).isLessThan(MEASURED);
    }

    private static void burst(Session session, ChannelHandlerContext ctx, ByteBuf in, int times) {
        for (int i = 0; i < times; i++) {
            session.channelRead(ctx, in.retain());
            session.channelReadComplete(ctx);
            in.readerIndex(0);
        }
    }
}
