package dev.pgnear.pg.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.base.Limits;
import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.pg.wire.FrameReader;
import dev.pgnear.pg.wire.PgException;
import dev.pgnear.pg.wire.PgProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One connection against hand-made answers of a server. */
class BackendConnectionTest implements BackendConnection.Owner {
    private static final Statement S = new Statement("select $1");
    private static final String PARSE_COMPLETE = "3100000004";
    private static final String BIND_COMPLETE = "3200000004";
    private static final String ROW_A = "440000000b00010000000161";
    private static final String COMMAND_COMPLETE = "430000000d53454c454354203100";
    private static final String READY = "5a0000000549";

    private final List<String> events = new ArrayList<>();
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final BackendConnection connection = open();
    private long now;

    private BackendConnection open() {
        var login = channel.pipeline().firstContext();
        BackendConnection c = new BackendConnection(this, () -> now, login);
        c.install();
        c.identify(new ServerIdentity(1, 2, 3));
        return c;
    }

    @Test
    void writesAPipelineAsOneBufferAndParsesOnce() {
        send("a");
        send("b");
        channel.runPendingTasks();
        ByteBuf out = channel.readOutbound();
        assertThat(types(out)).isEqualTo("PBESBES");
        assertThat(channel.outboundMessages()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 1000})
    void readsAnswersInPiecesOfAnySize(int bytes) {
        send("a");
        send("b");
        receive(
                bytes,
                PARSE_COMPLETE
                        + BIND_COMPLETE
                        + ROW_A
                        + ROW_A
                        + COMMAND_COMPLETE
                        + READY
                        + BIND_COMPLETE
                        + error("ERROR", "22012", "no")
                        + READY);
        assertThat(events).containsExactly("a row a", "a row a", "a complete 2", "answered", "b no", "answered");
    }

    @Test
    void aRowAboveTheLimitFailsItsOwnExecutionAndIsDroppedAsItComes() {
        send("a");
        send("b");
        receive(100, PARSE_COMPLETE + BIND_COMPLETE + ROW_A);
        int length = 4 + Limits.BACKEND_MESSAGE_BYTES + 1;
        receive(100, "44" + ByteBufUtil.hexDump(Unpooled.copyInt(length)));
        byte[] piece = new byte[1 << 20];
        for (int left = length - 4; left > 0; left -= piece.length) {
            channel.writeInbound(Unpooled.wrappedBuffer(piece, 0, Math.min(piece.length, left)));
        }
        receive(100, ROW_A + COMMAND_COMPLETE + READY + BIND_COMPLETE + ROW_A + COMMAND_COMPLETE + READY);
        assertThat(events)
                .containsExactly(
                        "a row a",
                        "a a row of " + length + " bytes is longer than pgnear reads",
                        "answered",
                        "b row a",
                        "b complete 2",
                        "answered");
    }

    @Test
    void followersOfAFailedParseGetItsErrorAndTheNextParsesAgain() {
        send("a");
        send("b");
        receive(100, error("ERROR", "42P01", "no table") + READY + error("ERROR", "26000", "no statement") + READY);
        assertThat(events).containsExactly("a no table", "answered", "b no table", "answered");
        channel.runPendingTasks();
        channel.releaseOutbound();
        send("c");
        channel.runPendingTasks();
        assertThat(types(channel.readOutbound())).isEqualTo("PBES");
    }

    @Test
    void aLostStatementIsGivenBackOnceToBeSentAgain() {
        send("a");
        receive(100, PARSE_COMPLETE + BIND_COMPLETE + COMMAND_COMPLETE + READY);
        Query b = send("b");
        receive(100, error("ERROR", "26000", "gone") + READY);
        assertThat(events).containsExactly("a complete 2", "answered", "answered, again");
        connection.send(b);
        receive(100, PARSE_COMPLETE + error("ERROR", "26000", "gone") + READY);
        assertThat(events.subList(3, events.size())).containsExactly("b gone", "answered");
    }

    @Test
    void aFatalErrorIsTheReasonOfTheEndAndNobodysAnswer() {
        send("a");
        receive(100, error("FATAL", "57P01", "bye"));
        assertThat(events).isEmpty();
        channel.close();
        assertThat(events).containsExactly("lost 1: bye (57P01) PgException");
    }

    @ParameterizedTest
    @ValueSource(strings = {READY, ROW_A, "5800000004", "44ffffffff", "4480000000", "5a7fffffff", "440000000600ff"})
    void whatNobodyAskedForEndsTheConnection(String message) {
        receive(100, message);
        assertThat(events).singleElement().asString().startsWith("lost 0: ").endsWith("PgProtocolException");
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void anExceptionOfTheHandlerFailsItsExecutionOnly() {
        send("throw");
        send("b");
        receive(100, PARSE_COMPLETE + BIND_COMPLETE + ROW_A + ROW_A + COMMAND_COMPLETE + READY);
        receive(100, BIND_COMPLETE + COMMAND_COMPLETE + READY);
        assertThat(events).containsExactly("throw thrown", "answered", "b complete 2", "answered");
    }

    @Test
    void anAnswerThatComesTooLateIsDropped() {
        send("a");
        now = 1_000;
        connection.expire(now);
        assertThat(events).containsExactly("a PostgreSQL did not answer within the deadline.");
        receive(100, PARSE_COMPLETE + BIND_COMPLETE + ROW_A + COMMAND_COMPLETE + READY);
        assertThat(events).hasSize(2).endsWith("answered");
    }

    private Query send(String name) {
        Query q = new Query(S, new byte[][] {{1}}, 1_000, new Recorder(name), new BackendStats());
        connection.send(q);
        return q;
    }

    private void receive(int pieceBytes, String hex) {
        ByteBuf all = Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex));
        while (all.isReadable()) {
            channel.writeInbound(all.readBytes(Math.min(pieceBytes, all.readableBytes())));
        }
    }

    private static String error(String severity, String sqlState, String message) {
        byte[] body = ("V" + severity + "\0C" + sqlState + "\0M" + message + "\0\0").getBytes(StandardCharsets.UTF_8);
        return "45" + ByteBufUtil.hexDump(Unpooled.copyInt(4 + body.length)) + ByteBufUtil.hexDump(body);
    }

    private static String types(ByteBuf out) {
        FrameReader frames = new FrameReader(1000);
        StringBuilder types = new StringBuilder();
        while (frames.read(out)) {
            types.append((char) frames.type());
        }
        out.release();
        return types.toString();
    }

    @Override
    public void answered(BackendConnection c, Exchange exchange, @Nullable Query again) {
        events.add(again == null ? "answered" : "answered, again");
    }

    @Override
    public void lost(BackendConnection c, ArrayDeque<Exchange> left, String why, @Nullable Throwable cause) {
        assertThat(cause).isInstanceOfAny(PgException.class, PgProtocolException.class);
        events.add("lost " + left.size() + ": " + why + " "
                + (cause == null ? "" : cause.getClass().getSimpleName()));
    }

    private final class Recorder implements ResultHandler {
        private final String name;

        Recorder(String name) {
            this.name = name;
        }

        @Override
        public void row(DataRow row) {
            if (name.equals("throw")) {
                throw new IllegalArgumentException("thrown");
            }
            events.add(name + " row " + row.getString(0));
        }

        @Override
        public void complete(ServerIdentity server) {
            events.add(name + " complete " + server.timeline());
        }

        @Override
        public void failed(Throwable cause) {
            events.add(name + " " + cause.getMessage());
        }
    }
}
