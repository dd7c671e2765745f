package dev.pgnear.net;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How bytes reach the kernel: io_uring if it allows that, else epoll, else NIO. The order is the order of preference. */
public enum Transport {
    IO_URING {
        @Override
        public @Nullable Throwable unavailable() {
            return IoUring.isAvailable() ? null : IoUring.unavailabilityCause();
        }

        @Override
        IoHandlerFactory handlers() {
            return IoUringIoHandler.newFactory();
        }

        @Override
        public Class<? extends ServerSocketChannel> serverChannel() {
            return IoUringServerSocketChannel.class;
        }

        @Override
        public Class<? extends SocketChannel> clientChannel() {
            return IoUringSocketChannel.class;
        }
    },
    EPOLL {
        @Override
        public @Nullable Throwable unavailable() {
            return Epoll.isAvailable() ? null : Epoll.unavailabilityCause();
        }

        @Override
        IoHandlerFactory handlers() {
            return EpollIoHandler.newFactory();
        }

        @Override
        public Class<? extends ServerSocketChannel> serverChannel() {
            return EpollServerSocketChannel.class;
        }

        @Override
        public Class<? extends SocketChannel> clientChannel() {
            return EpollSocketChannel.class;
        }
    },
    NIO {
        @Override
        public @Nullable Throwable unavailable() {
            return null;
        }

        @Override
        IoHandlerFactory handlers() {
            return NioIoHandler.newFactory();
        }

        @Override
        public Class<? extends ServerSocketChannel> serverChannel() {
            return NioServerSocketChannel.class;
        }

        @Override
        public Class<? extends SocketChannel> clientChannel() {
            return NioSocketChannel.class;
        }
    };

    private static final Logger LOG = LoggerFactory.getLogger(Transport.class);

    /** Why this machine cannot use it, or null if it can. */
    public abstract @Nullable Throwable unavailable();

    abstract IoHandlerFactory handlers();

    /** What listens. */
    public abstract Class<? extends ServerSocketChannel> serverChannel();

    /** What connects. */
    public abstract Class<? extends SocketChannel> clientChannel();

    /** {@code io_uring}, {@code epoll} or {@code nio}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** New event loops, not daemons; their owner shuts them down. */
    public EventLoopGroup newEventLoops(int threads, String threadName) {
        return new MultiThreadIoEventLoopGroup(threads, new DefaultThreadFactory(threadName), handlers());
    }

    /** The best that this machine can use; logs the choice, so it is called once. */
    public static Transport best() {
        StringBuilder passedOver = new StringBuilder();
        for (Transport t : values()) {
            Throwable why = t.unavailable();
            if (why == null) {
                LOG.info("Transport: {}{}", t.text(), passedOver);
                return t;
            }
            passedOver
                    .append(" (no ")
                    .append(t.text())
                    .append(": ")
                    .append(why.getMessage())
                    .append(')');
        }
        throw new AssertionError("NIO is always there");
    }

    /**
     * The transport of that name, for tests and for those who have to avoid one.
     *
     * @throws IllegalArgumentException with one sentence for the user if there is none of that name, or this machine cannot use it
     */
    public static Transport named(String name) {
        for (Transport t : values()) {
            if (t.text().equals(name)) {
                return usable(t);
            }
        }
        String known = Arrays.stream(values()).map(Transport::text).collect(Collectors.joining(", "));
        throw new IllegalArgumentException("There is no transport \"" + name + "\": use one of " + known + ".");
    }

    private static Transport usable(Transport t) {
        Throwable why = t.unavailable();
        if (why != null) {
            throw new IllegalArgumentException(
                    "This machine cannot use the transport " + t.text() + ": " + why.getMessage() + ".", why);
        }
        LOG.info("Transport: {} (as told)", t.text());
        return t;
    }
}
