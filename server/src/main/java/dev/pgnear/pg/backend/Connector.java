package dev.pgnear.pg.backend;

import dev.pgnear.base.Limits;
import dev.pgnear.pg.wire.PgTarget;
import dev.pgnear.pg.wire.TlsClient;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections: looks the host up (on a virtual thread, it blocks), tries its addresses in turn, logs in. All of it has to be done
 * within {@link Limits#BACKEND_LOGIN_MILLIS}. Used on one event loop.
 */
final class Connector {
    /** What became of an attempt; called once, on the event loop, never before {@link #connect} has returned. */
    interface Outcome {
        /** {@code ctx} is the login's context; its handler has to be replaced. */
        void connected(ChannelHandlerContext ctx);

        void failed(BackendUnavailable why);
    }

    private final EventLoop loop;
    private final Class<? extends SocketChannel> channelClass;
    private final PgTarget target;
    private final BackendSettings settings;
    private final TlsClient tls;

    Connector(EventLoop loop, Class<? extends SocketChannel> channelClass, PgTarget target, BackendSettings settings) {
        this.loop = loop;
        this.channelClass = channelClass;
        this.target = target;
        this.settings = settings;
        this.tls = TlsClient.of(target);
    }

    void connect(Outcome outcome) {
        Attempt attempt = new Attempt(outcome);
        loop.schedule(attempt::timeOut, Limits.BACKEND_LOGIN_MILLIS, TimeUnit.MILLISECONDS);
        Thread.ofVirtual().name("pgnear-resolve").start(() -> {
            try {
                InetAddress[] found = InetAddress.getAllByName(target.host());
                loop.execute(() -> attempt.tryAddress(found, 0));
            } catch (UnknownHostException e) {
                loop.execute(() -> attempt.fail("the host name \"" + target.host() + "\" is not known", e));
            }
        });
    }

    /** One attempt over all addresses of the host. */
    private final class Attempt implements LoginHandler.Outcome {
        private final Outcome outcome;
        private @Nullable Channel channel;
        private boolean over;

        Attempt(Outcome outcome) {
            this.outcome = outcome;
        }

        void tryAddress(InetAddress[] addresses, int i) {
            if (over) {
                return;
            }
            ChannelFuture connect = bootstrap().connect(new InetSocketAddress(addresses[i], target.port()));
            channel = connect.channel();
            connect.addListener(done -> {
                if (done.isSuccess()) {
                    return;
                }
                if (i + 1 < addresses.length) {
                    tryAddress(addresses, i + 1);
                } else {
                    fail(reason(done.cause()), done.cause());
                }
            });
        }

        private String reason(Throwable cause) {
            String message = String.valueOf(cause.getMessage());
            return message.contains("refused") ? "nothing listens there; is the server running?" : message;
        }

        private Bootstrap bootstrap() {
            return new Bootstrap()
                    .group(loop)
                    .channel(channelClass)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .option(ChannelOption.SO_KEEPALIVE, true)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Limits.BACKEND_LOGIN_MILLIS / 2)
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            ch.pipeline().addLast(new LoginHandler(target, tls, settings, Attempt.this));
                        }
                    });
        }

        void timeOut() {
            if (!over) {
                Channel open = channel;
                fail("it did not answer within " + Limits.BACKEND_LOGIN_MILLIS + " ms", null);
                if (open != null) {
                    open.close();
                }
            }
        }

        void fail(String why, @Nullable Throwable cause) {
            failed(new BackendUnavailable(
                    "PostgreSQL at " + target.authority() + " cannot be reached: " + why
                            + (why.endsWith("?") ? "" : "."),
                    false,
                    cause));
        }

        @Override
        public void failed(BackendUnavailable why) {
            if (!over) {
                over = true;
                outcome.failed(why);
            }
        }

        @Override
        public void loggedIn(ChannelHandlerContext ctx) {
            if (over) {
                ctx.close();
            } else {
                over = true;
                outcome.connected(ctx);
            }
        }
    }
}
