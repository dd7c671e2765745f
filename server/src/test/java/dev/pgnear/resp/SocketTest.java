package dev.pgnear.resp;

import static dev.pgnear.resp.Door.bulk;
import static dev.pgnear.resp.Door.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pgnear.metrics.Stat;
import dev.pgnear.net.Listener;
import dev.pgnear.net.Transport;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** One loop, real sockets, each transport of this machine: what only a kernel's buffers can show. */
@Timeout(60)
@ParameterizedClass
@EnumSource(Transport.class)
class SocketTest {
    private final Transport transport;
    private final EventLoopGroup loops;
    private final List<Socket> sockets = new ArrayList<>();
    private Door door = new Door();
    private Listener listener;

    SocketTest(Transport transport) {
        assumeTrue(transport.unavailable() == null, "this machine has no " + transport.text());
        this.transport = transport;
        this.loops = transport.newEventLoops(1, "test");
    }

    private void open() throws Exception {
        listener = Listener.open(
                "resp",
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                loops,
                transport.serverChannel(),
                door.door);
    }

    @AfterEach
    void close() throws Exception {
        for (Socket s : sockets) {
            s.close();
        }
        if (listener != null) {
            listener.close();
        }
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
    }

    private Socket connect(int receiveBuffer) throws IOException {
        Socket socket = new Socket();
        if (receiveBuffer > 0) {
            socket.setReceiveBufferSize(receiveBuffer);
        }
        socket.setSoTimeout(20_000);
        socket.connect(listener.address());
        sockets.add(socket);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String read(Socket socket, int bytes) throws IOException {
        return new String(socket.getInputStream().readNBytes(bytes), StandardCharsets.ISO_8859_1);
    }

    private static String readAll(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    @Test
    void eightClientsOnOneLoopKeepTheirOwnOrderT_P10() throws Exception {
        door = new Door(new RespSettings(AccessTokens.NONE, 100, 2000, 300_000, 1 << 20, "t", java.util.Map.of()));
        open();
        List<Socket> clients = new ArrayList<>();
        StringBuilder[] expected = new StringBuilder[8];
        for (int c = 0; c < 8; c++) {
            clients.add(connect(0));
            expected[c] = new StringBuilder();
        }
        for (int round = 0; round < 50; round++) {
            for (int c = 0; c < 8; c++) {
                String key = "row:" + c + ":" + round % 7;
                send(clients.get(c), request("ECHO", c + "/" + round) + request("GET", key));
                expected[c].append(bulk(c + "/" + round)).append(bulk(null));
            }
        }
        for (int c = 0; c < 8; c++) {
            assertThat(read(clients.get(c), expected[c].length())).isEqualTo(expected[c].toString());
        }
    }

    @Test
    void slowReaderIsHeldBackAndNobodyElseT_P12() throws Exception {
        String value = "v".repeat(100_000);
        door.rows.cached("row:1", value);
        open();
        Socket slow = connect(4096);
        int n = 100;
        send(
                slow,
                request("GET", "row:1").repeat(n)
                        + request("INVALIDATE", "CRUD")
                        + request("MGET", "row:1", "row:none"));
        await().until(() -> door.stat(Stat.OUTPUT_BACKPRESSURE_EVENTS) > 0);
        Socket other = connect(0);
        send(other, "PING\r\n");
        assertThat(read(other, 7)).isEqualTo("+PONG\r\n");
        assertThat(door.stat(Stat.CACHE_HITS))
                .as("not all ran ahead of the reader")
                .isLessThan(n);
        String expected = bulk(value).repeat(n) + ":7\r\n*2\r\n" + bulk(value) + bulk(null);
        assertThat(read(slow, expected.length())).isEqualTo(expected);
        send(slow, "PING\r\n");
        assertThat(read(slow, 7)).isEqualTo("+PONG\r\n");
        assertThat(door.invalidations).hasValue(1);
        assertThat(door.stat(Stat.SLOW_CLIENT_DROPS)).isZero();
    }

    @Test
    void readerThatNeverReadsIsDropped() throws Exception {
        door = new Door(Door.settings(AccessTokens.NONE, 2000, 200, 64 << 10));
        door.rows.cached("row:1", "v".repeat(100_000));
        open();
        Socket dead = connect(4096);
        send(dead, request("GET", "row:1").repeat(200));
        await().atMost(Duration.ofSeconds(20)).until(() -> door.stat(Stat.SLOW_CLIENT_DROPS) == 1);
        await().until(() -> door.stat(Stat.ACTIVE_CLIENTS) == 0);
    }

    @Test
    void halfCloseAfterAPipelineT_P11() throws Exception {
        String value = "v".repeat(50_000);
        door.rows.cached("row:1", value);
        open();
        Socket client = connect(4096);
        send(client, request("GET", "row:1").repeat(60) + request("GET", "row:cold") + "*1\r\n$4\r\nPI");
        client.shutdownOutput();
        assertThat(readAll(client)).isEqualTo(bulk(value).repeat(60) + bulk(null));
        await().until(() -> door.stat(Stat.ACTIVE_CLIENTS) == 0);
    }

    @Test
    void malformedFrameWithMoreBehindItT_P13() throws Exception {
        open();
        Socket client = connect(0);
        send(client, "PING\r\n*1\r\n?\r\n" + request("INVALIDATE", "CRUD").repeat(2000));
        assertThat(readAll(client)).isEqualTo("+PONG\r\n-ERR Protocol error: expected '$', got '?'\r\n");
        assertThat(door.invalidations).hasValue(0);
        await().until(() -> door.stat(Stat.ACTIVE_CLIENTS) == 0);
    }

    @Test
    void fiveWrongPasswordsAndTheRightOneT_P14() throws Exception {
        door = new Door(AccessTokens.of("secret"));
        open();
        Socket client = connect(0);
        for (int i = 0; i < 5; i++) {
            send(client, request("AUTH", "wrong" + i));
        }
        send(client, request("AUTH", "secret") + request("INVALIDATE", "CRUD"));
        assertThat(readAll(client)).isEqualTo(("-" + Errors.WRONGPASS + "\r\n").repeat(5));
        assertThat(door.invalidations).hasValue(0);
    }

    @Test
    void portInUseIsOneSentence() throws Exception {
        open();
        assertThatThrownBy(() -> Listener.open("resp", listener.address(), loops, transport.serverChannel(), door.door))
                .isInstanceOf(Listener.BindFailure.class)
                .hasMessage(
                        "The resp door cannot listen on %s:%d because another process does; stop it, or choose another port with --resp-port."
                                .formatted(
                                        listener.address().getHostString(),
                                        listener.address().getPort()));
    }

    @Test
    void orderlyStopFinishesWhatWasBegun() throws Exception {
        door.rows.row("row:1", "x").hold("row:1");
        open();
        Socket waiting = connect(0);
        Socket idle = connect(0);
        send(waiting, request("GET", "row:1"));
        await().until(() -> door.stat(Stat.DEFERRED_MISSES_CURRENT) == 1);
        Thread stop = Thread.startVirtualThread(() -> listener.stop(10_000));
        assertThat(readAll(idle)).isEmpty();
        loops.next().submit(() -> door.rows.release("row:1")).sync();
        assertThat(readAll(waiting)).isEqualTo(bulk("x"));
        idle.close();
        waiting.close();
        assertThat(stop.join(Duration.ofSeconds(10))).isTrue();
        assertThat(listener.connections()).isZero();
    }
}
