package dev.pgnear.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TransportTest {
    @ParameterizedTest
    @EnumSource
    void carriesBytesThereAndBack(Transport transport) throws Exception {
        assumeTrue(transport.unavailable() == null, () -> transport.text() + ": " + transport.unavailable());
        EventLoopGroup loops = transport.newEventLoops(1, "test");
        try {
            Channel server = new ServerBootstrap()
                    .group(loops)
                    .channel(transport.serverChannel())
                    .childHandler(initializer(new Echo()))
                    .bind(InetAddress.getLoopbackAddress(), 0)
                    .sync()
                    .channel();
            Receiver receiver = new Receiver();
            Channel client = new Bootstrap()
                    .group(loops)
                    .channel(transport.clientChannel())
                    .handler(initializer(receiver))
                    .connect((InetSocketAddress) server.localAddress())
                    .sync()
                    .channel();
            client.writeAndFlush(Unpooled.copiedBuffer("hello", StandardCharsets.UTF_8));
            assertThat(receiver.text.get(10, TimeUnit.SECONDS)).isEqualTo("hello");
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).await();
        }
    }

    @Test
    void theBestIsTheFirstThatTheMachineAllows() {
        Transport best = Transport.best();
        for (Transport t : Transport.values()) {
            if (t.compareTo(best) < 0) {
                assertThat(t.unavailable()).isNotNull();
            }
        }
        assertThat(best.unavailable()).isNull();
    }

    @Test
    void canBeNamed() {
        assertThat(Transport.named("nio")).isEqualTo(Transport.NIO);
        assertThatThrownBy(() -> Transport.named("carrier-pigeon"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("There is no transport \"carrier-pigeon\": use one of io_uring, epoll, nio.");
    }

    private static ChannelInitializer<Channel> initializer(io.netty.channel.ChannelHandler handler) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline().addLast(handler);
            }
        };
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }
    }

    private static final class Receiver extends SimpleChannelInboundHandler<ByteBuf> {
        final CompletableFuture<String> text = new CompletableFuture<>();
        private final StringBuilder received = new StringBuilder();

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf in) {
            received.append(in.toString(StandardCharsets.UTF_8));
            if (received.length() == 5) {
                text.complete(received.toString());
            }
        }
    }
}
