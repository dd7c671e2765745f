package dev.pgnear.pg.replication;

import dev.pgnear.base.Limits;
import dev.pgnear.base.NanoClock;
import dev.pgnear.pg.wire.Authentication;
import dev.pgnear.pg.wire.Fields;
import dev.pgnear.pg.wire.FrontendMessages;
import dev.pgnear.pg.wire.PgException;
import dev.pgnear.pg.wire.PgTarget;
import dev.pgnear.pg.wire.PgTarget.SslMode;
import dev.pgnear.pg.wire.Protocol;
import dev.pgnear.pg.wire.TlsClient;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * A blocking connection to a walsender ({@code replication=database}): simple queries, replication commands, and then CopyBoth.
 *
 * <p>One thread reads. Any thread may write, under the lock; a writer that finds the lock taken for long tells of a link that is stuck.
 * {@link #close} may come from any thread and wakes the reader, because it closes the TCP socket itself: closing a TLS socket would wait for a
 * stuck writer.
 */
final class WalConnection implements AutoCloseable {
    private static final int KEEPALIVE_IDLE_SECONDS = 5;
    private static final int KEEPALIVE_INTERVAL_SECONDS = 2;
    private static final int KEEPALIVE_COUNT = 3;
    private static final Duration CANCEL_TIMEOUT = Duration.ofSeconds(2);

    private final PgTarget target;
    private final Socket tcp = new Socket();
    private final ReentrantLock writing = new ReentrantLock();
    private final NanoClock clock;
    private final Duration answerTimeout;
    private final TlsClient tls;
    private @Nullable OutputStream out;
    private @Nullable SocketFrames frames;
    private int processId;
    private byte[] secret = new byte[0];

    /** Not connected yet, so that it can be closed from another thread while it connects. */
    WalConnection(PgTarget target, TlsClient tls, Duration answerTimeout, NanoClock clock) {
        this.target = target;
        this.tls = tls;
        this.answerTimeout = answerTimeout;
        this.clock = clock;
    }

    /**
     * Connects, logs in.
     *
     * @throws PgException if the server refuses
     */
    void open(String applicationName) throws IOException {
        connectTcp();
        Socket s = target.sslMode() == SslMode.DISABLE ? tcp : secure();
        out = s.getOutputStream();
        frames = new SocketFrames(s.getInputStream(), clock, Limits.STREAM_FRAME_BYTES);
        send(b -> FrontendMessages.startup(b, parameters(applicationName)));
        logIn(new Authentication(target.user(), target.password()));
    }

    private void connectTcp() throws IOException {
        tcp.setTcpNoDelay(true);
        tcp.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        keepalive();
        tcp.connect(new InetSocketAddress(target.host(), target.port()), (int) answerTimeout.toMillis());
        tcp.setSoTimeout((int) answerTimeout.toMillis());
    }

    /** A link that is cut while the server rightly says nothing (it makes a slot) is found by TCP. */
    private void keepalive() throws IOException {
        if (tcp.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
            tcp.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, KEEPALIVE_IDLE_SECONDS);
            tcp.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEPALIVE_INTERVAL_SECONDS);
            tcp.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEPALIVE_COUNT);
        }
    }

    private Socket secure() throws IOException {
        ByteBuf request = Unpooled.buffer();
        FrontendMessages.sslRequest(request);
        tcp.getOutputStream().write(request.array(), 0, request.readableBytes());
        int answer = tcp.getInputStream().read();
        if (answer == 'S') {
            return tls.wrap(tcp);
        }
        if (answer < 0) {
            throw new EOFException("PostgreSQL closed the connection");
        }
        if (answer != 'N') {
            throw new StreamProtocolException("an answer " + answer + " to a request for TLS");
        }
        if (target.sslMode() != SslMode.PREFER) {
            throw new IOException(TlsClient.refused(target));
        }
        return tcp;
    }

    /** The role's own timeouts must not end a slot's creation; the rest makes answers independent of the role's settings. */
    private Map<String, String> parameters(String applicationName) {
        Map<String, String> p = new LinkedHashMap<>();
        p.put("user", target.user());
        p.put("database", target.database());
        p.put("replication", "database");
        p.put("application_name", applicationName);
        p.put("client_encoding", "UTF8");
        p.put("client_min_messages", "warning");
        p.put("search_path", "pg_catalog");
        p.put("statement_timeout", "0");
        p.put("lock_timeout", "0");
        p.put("idle_in_transaction_session_timeout", "0");
        return p;
    }

    private void logIn(Authentication authentication) throws IOException {
        SocketFrames f = frames();
        while (true) {
            f.next();
            switch (f.type()) {
                case Protocol.Backend.AUTHENTICATION -> answer(authentication.answer(f.body()));
                case Protocol.Backend.BACKEND_KEY_DATA -> key(f.body());
                case Protocol.Backend.ERROR_RESPONSE -> throw error();
                case Protocol.Backend.READY_FOR_QUERY -> {
                    return;
                }
                default -> {} // parameters, notices
            }
        }
    }

    private void answer(byte[] message) throws IOException {
        if (message.length > 0) {
            send(b -> b.writeBytes(message));
        }
    }

    private void key(byte[] body) {
        ByteBuffer b = ByteBuffer.wrap(body);
        processId = b.getInt();
        secret = new byte[b.remaining()];
        b.get(secret);
    }

    /** Process id of the server's end. */
    int processId() {
        return processId;
    }

    SocketFrames frames() {
        if (frames == null) {
            throw new IllegalStateException("not connected");
        }
        return frames;
    }

    /** The error that the current frame holds. */
    PgException error() {
        return Fields.error(Unpooled.wrappedBuffer(frames().body()), 0, frames().bodyLength());
    }

    /** Rows of a statement that is answered soon. */
    List<@Nullable String[]> query(String sql) throws IOException {
        return query(sql, answerTimeout);
    }

    /**
     * Rows of a statement, values as text.
     *
     * @param timeout of each wait for bytes; zero for none
     * @throws PgException if the server refuses
     */
    List<@Nullable String[]> query(String sql, Duration timeout) throws IOException {
        tcp.setSoTimeout((int) timeout.toMillis());
        send(b -> FrontendMessages.query(b, sql));
        List<@Nullable String[]> rows = new ArrayList<>();
        PgException error = null;
        SocketFrames f = frames();
        while (true) {
            f.next();
            switch (f.type()) {
                case Protocol.Backend.DATA_ROW -> rows.add(row(f.body()));
                case Protocol.Backend.ERROR_RESPONSE -> error = error();
                case Protocol.Backend.READY_FOR_QUERY -> {
                    if (error != null) {
                        throw error;
                    }
                    return rows;
                }
                default -> {} // descriptions, tags, notices
            }
            if (error != null && error.fatal()) {
                throw error;
            }
        }
    }

    private static @Nullable String[] row(byte[] body) throws StreamProtocolException {
        MessageReader in = new MessageReader().over(body, 0, body.length);
        @Nullable String[] values = new String[in.u16()];
        for (int i = 0; i < values.length; i++) {
            int length = in.i32();
            values[i] = length < 0 ? null : new String(body, in.take(length), length, StandardCharsets.UTF_8);
        }
        return values;
    }

    /** Sends START_REPLICATION; from then on the connection carries CopyData both ways and silence is the caller's to judge. */
    void startCopyBoth(String command) throws IOException {
        send(b -> FrontendMessages.query(b, command));
        SocketFrames f = frames();
        while (true) {
            f.next();
            switch (f.type()) {
                case Protocol.Backend.COPY_BOTH_RESPONSE -> {
                    tcp.setSoTimeout(0);
                    return;
                }
                case Protocol.Backend.ERROR_RESPONSE -> throw error();
                default -> {} // notices
            }
        }
    }

    private void send(Consumer<ByteBuf> messages) throws IOException {
        ByteBuf b = Unpooled.buffer();
        messages.accept(b);
        write(b.array(), b.readableBytes());
    }

    /** Writes whole messages. */
    void write(byte[] bytes, int length) throws IOException {
        writing.lock();
        try {
            writeLocked(bytes, length);
        } finally {
            writing.unlock();
        }
    }

    /** Writes unless another thread is writing; false then. */
    boolean tryWrite(byte[] bytes, int length) throws IOException {
        if (!writing.tryLock()) {
            return false;
        }
        try {
            writeLocked(bytes, length);
            return true;
        } finally {
            writing.unlock();
        }
    }

    private void writeLocked(byte[] bytes, int length) throws IOException {
        OutputStream o = out;
        if (o == null) {
            throw new IllegalStateException("not connected");
        }
        o.write(bytes, 0, length);
        o.flush();
    }

    /** Asks the server to stop what this connection does: it would not notice before its next write that we have gone. Never throws. */
    void cancel() {
        if (secret.length == 0) {
            return;
        }
        ByteBuf b = Unpooled.buffer();
        FrontendMessages.cancelRequest(b, processId, secret);
        try (WalConnection c = new WalConnection(target, tls, CANCEL_TIMEOUT, clock)) {
            c.connectTcp();
            Socket s = target.sslMode() == SslMode.DISABLE ? c.tcp : c.secure();
            s.getOutputStream().write(b.array(), 0, b.readableBytes());
            s.getOutputStream().flush();
            s.getInputStream().read(); // the server closes when it has done it
        } catch (IOException e) {
            // it ends by itself, later
        }
    }

    /** Says goodbye if that needs no waiting, and closes. */
    @Override
    public void close() {
        try {
            if (out != null && tcp.isConnected() && !tcp.isClosed()) {
                ByteBuf b = Unpooled.buffer();
                FrontendMessages.terminate(b);
                tryWrite(b.array(), b.readableBytes());
            }
        } catch (IOException e) {
            // closing anyhow
        } finally {
            abort();
        }
    }

    /** Closes at once, without a word. */
    void abort() {
        try {
            tcp.close();
        } catch (IOException e) {
            // nothing is left to do with it
        }
    }
}
