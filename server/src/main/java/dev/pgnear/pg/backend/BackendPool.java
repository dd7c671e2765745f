package dev.pgnear.pg.backend;

import dev.pgnear.base.NanoClock;
import dev.pgnear.pg.wire.PgTarget;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import org.jspecify.annotations.Nullable;

public final class BackendPool {
    public BackendPool(
            EventLoop loop,
            Class<? extends SocketChannel> channelClass,
            PgTarget target,
            BackendSettings settings,
            NanoClock clock,
            BackendStats stats) {}

    public void execute(
            Statement statement, byte[] @Nullable [] parameters, long deadlineNanos, ResultHandler handler) {
        throw new UnsupportedOperationException();
    }
}
