package dev.pgnear.pg.backend;

import dev.pgnear.base.Limits;
import dev.pgnear.pg.wire.Authentication;
import dev.pgnear.pg.wire.AuthenticationException;
import dev.pgnear.pg.wire.Fields;
import dev.pgnear.pg.wire.FrameReader;
import dev.pgnear.pg.wire.FrontendMessages;
import dev.pgnear.pg.wire.PgException;
import dev.pgnear.pg.wire.PgProtocolException;
import dev.pgnear.pg.wire.PgTarget;
import dev.pgnear.pg.wire.PgTarget.SslMode;
import dev.pgnear.pg.wire.Protocol.Backend;
import dev.pgnear.pg.wire.TlsClient;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslHandler;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Brings one connection from its first byte to the first ReadyForQuery, then gives it away; reports exactly once.
 *
 * <pre>
 * sslmode=disable ------------------------------------------+
 * else SSLRequest --> TLS_ASKED --N (prefer)----------------+--> LOGIN <--> COMPUTING --Z--> OVER (logged in)
 *                         +------S--> HANDSHAKE ------------+      any error, end of stream --> OVER (failed)
 * </pre>
 *
 * The answer to a SCRAM challenge is computed on a virtual thread, because it costs milliseconds of CPU. Meanwhile no message is taken
 * from the buffer, so {@link Authentication} is never used by two threads at once; the hand-overs through the event loop order its use.
 */
final class LoginHandler extends ByteToMessageDecoder {
    /** Where the login ends. */
    interface Outcome {
        /** The handler has to be replaced by the caller. */
        void loggedIn(ChannelHandlerContext ctx);

        void failed(BackendUnavailable why);
    }

    private enum State {
        TLS_ASKED,
        HANDSHAKE,
        LOGIN,
        COMPUTING,
        OVER
    }

    private static final int MAX_MESSAGE_BYTES = 1 << 20;

    private final PgTarget target;
    private final TlsClient tls;
    private final BackendSettings settings;
    private final Outcome outcome;
    private final Authentication authentication;
    private final FrameReader frames = new FrameReader(MAX_MESSAGE_BYTES);
    private State state = State.LOGIN;

    LoginHandler(PgTarget target, TlsClient tls, BackendSettings settings, Outcome outcome) {
        this.target = target;
        this.tls = tls;
        this.settings = settings;
        this.outcome = outcome;
        this.authentication = new Authentication(target.user(), target.password());
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        if (target.sslMode() == SslMode.DISABLE) {
            startUp(ctx);
        } else {
            state = State.TLS_ASKED;
            ByteBuf out = ctx.alloc().ioBuffer();
            FrontendMessages.sslRequest(out);
            ctx.writeAndFlush(out, ctx.voidPromise());
        }
    }

    private void startUp(ChannelHandlerContext ctx) {
        state = State.LOGIN;
        Map<String, String> parameters = new LinkedHashMap<>();
        parameters.put("user", target.user());
        parameters.put("database", target.database());
        parameters.putAll(settings.parameters());
        ByteBuf out = ctx.alloc().ioBuffer();
        FrontendMessages.startup(out, parameters);
        ctx.writeAndFlush(out, ctx.voidPromise());
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> none) {
        if (state == State.OVER) {
            in.skipBytes(in.readableBytes());
        } else if (state == State.TLS_ASKED) {
            tlsAnswer(ctx, in);
        } else if (state != State.COMPUTING && frames.read(in)) {
            message(ctx, in);
        }
    }

    private void tlsAnswer(ChannelHandlerContext ctx, ByteBuf in) {
        byte answer = in.readByte();
        if (in.isReadable()) {
            // Bytes from before the handshake would later pass for encrypted ones (CVE-2021-23222).
            throw new PgProtocolException("the server sent more than its answer to an SSLRequest");
        }
        if (answer == 'S') {
            handshake(ctx);
        } else if (answer != 'N') {
            throw new PgProtocolException("the answer to an SSLRequest is neither S nor N; is this PostgreSQL?");
        } else if (target.sslMode() == SslMode.PREFER) {
            startUp(ctx);
        } else {
            fail(ctx, TlsClient.refused(target), null);
        }
    }

    private void handshake(ChannelHandlerContext ctx) {
        state = State.HANDSHAKE;
        SslHandler handler = new SslHandler(tls.engine());
        handler.setHandshakeTimeoutMillis(Limits.BACKEND_LOGIN_MILLIS);
        handler.handshakeFuture().addListener(done -> {
            if (done.isSuccess()) {
                startUp(ctx);
            } else {
                fail(ctx, tls.explain(done.cause()), done.cause());
            }
        });
        ctx.pipeline().addFirst(handler);
    }

    private void message(ChannelHandlerContext ctx, ByteBuf in) {
        switch (frames.type()) {
            case Backend.AUTHENTICATION ->
                authenticate(ctx, ByteBufUtil.getBytes(in, frames.bodyIndex(), frames.bodyLength(), true));
            case Backend.ERROR_RESPONSE -> refused(ctx, Fields.error(in, frames.bodyIndex(), frames.bodyLength()));
            case Backend.READY_FOR_QUERY -> ready(ctx);
            case Backend.BACKEND_KEY_DATA,
                    Backend.PARAMETER_STATUS,
                    Backend.NOTICE_RESPONSE,
                    Backend.NEGOTIATE_PROTOCOL_VERSION -> {} // nothing that a pool needs
            default -> throw new PgProtocolException("unexpected message '" + (char) frames.type() + "' at login");
        }
    }

    private void authenticate(ChannelHandlerContext ctx, byte[] body) {
        if (!Authentication.expensive(body)) {
            answered(ctx, authentication.answer(body));
            return;
        }
        state = State.COMPUTING;
        Thread.ofVirtual().name("pgnear-login").start(() -> {
            try {
                byte[] answer = authentication.answer(body);
                ctx.executor().execute(() -> computed(ctx, answer));
            } catch (RuntimeException e) {
                ctx.executor().execute(() -> exceptionCaught(ctx, e));
            }
        });
    }

    private void computed(ChannelHandlerContext ctx, byte[] answer) {
        if (state != State.COMPUTING) {
            return;
        }
        state = State.LOGIN;
        answered(ctx, answer);
    }

    private void answered(ChannelHandlerContext ctx, byte[] answer) {
        if (answer.length > 0) {
            ctx.writeAndFlush(ctx.alloc().ioBuffer(answer.length).writeBytes(answer), ctx.voidPromise());
        }
    }

    private void ready(ChannelHandlerContext ctx) {
        if (!authentication.done()) {
            throw new PgProtocolException("the server is ready before it let us in");
        }
        state = State.OVER;
        outcome.loggedIn(ctx);
    }

    private void refused(ChannelHandlerContext ctx, PgException e) {
        fail(
                ctx,
                "PostgreSQL at " + target.authority() + " refused user \"" + target.user() + "\" on database \""
                        + target.database() + "\": " + e.summary() + ".",
                e);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail(ctx, "PostgreSQL at " + target.authority() + " closed the connection during the login.", null);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        Throwable e = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
        if (e instanceof SSLException) {
            fail(ctx, tls.explain(e), e);
        } else if (e instanceof AuthenticationException) {
            fail(ctx, String.valueOf(e.getMessage()), e);
        } else {
            fail(ctx, "The login to PostgreSQL at " + target.authority() + " failed: " + e.getMessage() + ".", e);
        }
    }

    private void fail(ChannelHandlerContext ctx, String message, @Nullable Throwable cause) {
        if (state != State.OVER) {
            state = State.OVER;
            ctx.close();
            outcome.failed(new BackendUnavailable(message, false, cause));
        }
    }
}
