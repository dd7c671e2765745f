package dev.pgnear.net;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One door's listening socket and the connections that came through it. Connections are accepted on the loops that serve them. Orderly stop:
 * no new connections, then every open one gets {@link Stopping} and may finish what it began, then whatever is left is closed.
 */
public final class Listener implements AutoCloseable {
    /** User event: finish what was begun, then close. */
    public enum Stopping {
        STOPPING
    }

    private static final int BACKLOG = 1024;

    private final Channel server;
    private final ChannelGroup connections;

    private Listener(Channel server, ChannelGroup connections) {
        this.server = server;
        this.connections = connections;
    }

    /** The address cannot be listened on; the message is one sentence for the user. */
    public static final class BindFailure extends Exception {
        BindFailure(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * Listens.
     *
     * @param door what the address is for, as in {@code --resp-port}, for the message
     * @param address port 0 takes a free one
     * @param connection added to each accepted connection; sharable
     * @throws BindFailure if the address is in use, not ours, or not allowed
     */
    public static Listener open(
            String door,
            InetSocketAddress address,
            EventLoopGroup loops,
            Class<? extends ServerChannel> channel,
            ChannelHandler connection)
            throws BindFailure {
        ChannelGroup connections =
                new DefaultChannelGroup("connections of " + door, GlobalEventExecutor.INSTANCE, true);
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops)
                .channel(channel)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childHandler(new Entrance(connections, connection));
        ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new BindFailure(reason(door, address, bound.cause()), bound.cause());
        }
        return new Listener(bound.channel(), connections);
    }

    private static String reason(String door, InetSocketAddress address, Throwable cause) {
        String where = address.getHostString() + ":" + address.getPort();
        String what = String.valueOf(cause.getMessage());
        String cannot = "The " + door + " door cannot listen on " + where;
        return what.contains("in use")
                ? cannot + " because another process does; stop it, or choose another port with --" + door + "-port."
                : cannot + " (" + what + "); check --bind and --" + door + "-port.";
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.localAddress();
    }

    /** Open connections. */
    public int connections() {
        return connections.size();
    }

    /** For each open connection, on any thread. */
    public void forEach(Consumer<Channel> action) {
        connections.forEach(action);
    }

    /** Stops in order, within the time. */
    public void stop(long timeoutMillis) {
        server.close().awaitUninterruptibly();
        connections.forEach(c -> c.pipeline().fireUserEventTriggered(Stopping.STOPPING));
        connections.newCloseFuture().awaitUninterruptibly(timeoutMillis, TimeUnit.MILLISECONDS);
        connections.close().awaitUninterruptibly(timeoutMillis, TimeUnit.MILLISECONDS);
    }

    /** Stops at once. */
    @Override
    public void close() {
        stop(0);
    }

    /** Keeps account of the connections. */
    @ChannelHandler.Sharable
    private static final class Entrance extends ChannelInitializer<Channel> {
        private final ChannelGroup connections;
        private final ChannelHandler connection;

        Entrance(ChannelGroup connections, ChannelHandler connection) {
            this.connections = connections;
            this.connection = connection;
        }

        @Override
        protected void initChannel(Channel channel) {
            connections.add(channel);
            channel.pipeline().addLast(connection);
        }
    }
}
