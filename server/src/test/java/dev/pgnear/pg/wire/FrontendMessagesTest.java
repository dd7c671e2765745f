package dev.pgnear.pg.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Bytes by hand from PostgreSQL's documentation, "Message Formats". */
class FrontendMessagesTest {
    @Test
    void startup() {
        Map<String, String> parameters = new LinkedHashMap<>();
        parameters.put("user", "ä");
        parameters.put("client_encoding", "UTF8");
        assertBytes(
                out -> FrontendMessages.startup(out, parameters),
                "00000026 00030000" + text("user") + text("ä") + text("client_encoding") + text("UTF8") + "00");
    }

    @Test
    void requestsWithoutAType() {
        assertBytes(FrontendMessages::sslRequest, "00000008 04d2162f");
        assertBytes(
                out -> FrontendMessages.cancelRequest(out, 0x01020304, new byte[] {5, 6, 7, 8}),
                "00000010 04d2162e 01020304 05060708");
    }

    @Test
    void extendedQuery() {
        assertBytes(
                out -> FrontendMessages.parse(out, "s1", "select $1", 23),
                "50 00000017" + text("s1") + text("select $1") + "0001 00000017");
        assertBytes(
                out -> FrontendMessages.bind(
                        out, "", "s1", Protocol.BINARY, new byte[][] {{1, 2}, null, {}}, Protocol.BINARY),
                "42 00000020 00" + text("s1") + "0001 0001 0003 00000002 0102 ffffffff 00000000 0001 0001");
        assertBytes(out -> FrontendMessages.describeStatement(out, "s1"), "44 00000008 53" + text("s1"));
        assertBytes(out -> FrontendMessages.describePortal(out, ""), "44 00000006 50 00");
        assertBytes(out -> FrontendMessages.execute(out, "", 7), "45 00000009 00 00000007");
        assertBytes(out -> FrontendMessages.closeStatement(out, "s1"), "43 00000008 53" + text("s1"));
        assertBytes(out -> FrontendMessages.closePortal(out, "p"), "43 00000007 50" + text("p"));
        assertBytes(FrontendMessages::sync, "53 00000004");
        assertBytes(FrontendMessages::flush, "48 00000004");
        assertBytes(FrontendMessages::terminate, "58 00000004");
    }

    @Test
    void simpleQueryPasswordsAndCopy() {
        assertBytes(out -> FrontendMessages.query(out, "select 1"), "51 0000000d" + text("select 1"));
        assertBytes(out -> FrontendMessages.password(out, "secret"), "70 0000000b" + text("secret"));
        assertBytes(
                out -> FrontendMessages.saslInitialResponse(out, "SCRAM-SHA-256", new byte[] {1, 2}),
                "70 00000018" + text("SCRAM-SHA-256") + "00000002 0102");
        assertBytes(out -> FrontendMessages.saslResponse(out, new byte[] {1, 2}), "70 00000006 0102");
        assertBytes(
                out -> FrontendMessages.copyData(out, Unpooled.wrappedBuffer(new byte[] {9, 1, 2, 9}), 1, 2),
                "64 00000006 0102");
        assertBytes(FrontendMessages::copyDone, "63 00000004");
        assertBytes(out -> FrontendMessages.copyFail(out, "no"), "66 00000007" + text("no"));
    }

    @Test
    void appendsToWhatIsThere() {
        ByteBuf out = Unpooled.buffer();
        FrontendMessages.sync(out);
        FrontendMessages.query(out, "x");
        assertThat(ByteBufUtil.hexDump(out)).isEqualTo("5300000004" + "51000000067800");
    }

    @Test
    void refusesStringsThatWouldEndEarly() {
        assertThatThrownBy(() -> FrontendMessages.query(Unpooled.buffer(), "a\0b"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> FrontendMessages.bind(Unpooled.buffer(), "", "", 1, new byte[65536][], 1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static String text(String s) {
        return ByteBufUtil.hexDump(s.getBytes(StandardCharsets.UTF_8)) + "00";
    }

    private static void assertBytes(Consumer<ByteBuf> message, String hex) {
        ByteBuf out = Unpooled.buffer(1);
        message.accept(out);
        assertThat(ByteBufUtil.hexDump(out)).isEqualTo(hex.replace(" ", ""));
    }
}
