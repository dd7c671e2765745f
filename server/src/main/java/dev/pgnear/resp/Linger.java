package dev.pgnear.resp;

import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;
import java.util.concurrent.TimeUnit;

/**
 * Closes a connection so that the peer gets the last reply. Closing a socket with unread input makes the kernel reset it, and the peer may
 * lose what was just sent; so only the output is shut, input is thrown away until the peer ends it, for one second at most.
 */
final class Linger {
    private static final int SECONDS = 1;

    private Linger() {}

    static void close(Channel channel, boolean inputEnded) {
        if (inputEnded || !(channel instanceof DuplexChannel duplex) || !channel.isActive()) {
            channel.close();
            return;
        }
        duplex.shutdownOutput();
        channel.eventLoop().schedule(() -> channel.close(), SECONDS, TimeUnit.SECONDS);
    }
}
