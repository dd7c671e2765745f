package dev.pgnear.pg.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrameReaderTest {
    private static final int LIMIT = 1000;

    private final FrameReader frames = new FrameReader(LIMIT);

    @Test
    void readsFramesInPlaceWholeAndByteByByte() {
        byte[] stream = ByteBufUtil.decodeHexDump("5a0000000549" + "3100000004" + "44000000080001ffff");
        List<String> expected = List.of("Z 49", "1 ", "D 0001ffff");
        assertThat(readAll(Unpooled.wrappedBuffer(stream), new ArrayList<>())).isEqualTo(expected);
        ByteBuf growing = Unpooled.buffer();
        List<String> found = new ArrayList<>();
        for (byte b : stream) {
            growing.writeByte(b);
            readAll(growing, found);
        }
        assertThat(found).isEqualTo(expected);
        assertThat(growing.isReadable()).isFalse();
    }

    private List<String> readAll(ByteBuf in, List<String> to) {
        while (frames.read(in)) {
            to.add((char) frames.type() + " " + ByteBufUtil.hexDump(in, frames.bodyIndex(), frames.bodyLength()));
        }
        return to;
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 3, Integer.MIN_VALUE, Integer.MAX_VALUE, LIMIT + 5})
    void refusesALengthAsSoonAsItIsThere(int length) {
        ByteBuf in = Unpooled.buffer(5, 5).writeByte('D').writeInt(length);
        assertThatThrownBy(() -> frames.read(in))
                .isInstanceOf(PgProtocolException.class)
                .hasMessageContaining("'D'");
    }

    @Test
    void acceptsALengthAtTheLimit() {
        ByteBuf in = Unpooled.buffer().writeByte('D').writeInt(LIMIT + 4);
        assertThat(frames.read(in)).isFalse();
        assertThat(in.readerIndex()).isZero();
        in.writeZero(LIMIT);
        assertThat(frames.read(in)).isTrue();
        assertThat(frames.bodyLength()).isEqualTo(LIMIT);
    }

    @Test
    void readsTheFirstMessageOfAClient() {
        ByteBuf out = Unpooled.buffer();
        FrontendMessages.sslRequest(out);
        FrontendMessages.startup(out, Map.of("user", "me"));
        assertThat(frames.readUntyped(out)).isTrue();
        assertThat(out.getInt(frames.bodyIndex())).isEqualTo(Protocol.SSL_REQUEST);
        assertThat(frames.readUntyped(out)).isTrue();
        assertThat(out.getInt(frames.bodyIndex())).isEqualTo(Protocol.VERSION_3_0);
        int end = frames.bodyIndex() + frames.bodyLength();
        assertThat(Fields.startupParameters(out, frames.bodyIndex() + 4, end)).isEqualTo(Map.of("user", "me"));
        assertThat(frames.readUntyped(out)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 7, Integer.MAX_VALUE})
    void refusesAnImpossibleFirstMessage(int length) {
        ByteBuf in = Unpooled.buffer(4, 4).writeInt(length);
        assertThatThrownBy(() -> frames.readUntyped(in)).isInstanceOf(PgProtocolException.class);
    }

    @Test
    void refusesStartupParametersThatDoNotEnd() {
        for (String body : new String[] {"user", "user\0", "user\0me", "user\0me\0", "user\0me\0\0x"}) {
            ByteBuf in = Unpooled.copiedBuffer(body, StandardCharsets.UTF_8);
            assertThatThrownBy(() -> Fields.startupParameters(in, 0, in.writerIndex()))
                    .as("%s", body.replace('\0', '|'))
                    .isInstanceOf(PgProtocolException.class);
        }
    }

    @Test
    void readsAnErrorAndPrefersItsUntranslatedSeverity() {
        PgException e =
                error("SFEHLER\0VERROR\0C42P01\0Mrelation \"x\" does not exist\0Dno\0Hcreate it\0P15\0Fparse.c\0\0");
        assertThat(e.severity()).isEqualTo("ERROR");
        assertThat(e.sqlState()).isEqualTo("42P01");
        assertThat(e).hasMessage("relation \"x\" does not exist");
        assertThat(e.detail()).isEqualTo("no");
        assertThat(e.hint()).isEqualTo("create it");
        assertThat(e.summary()).isEqualTo("relation \"x\" does not exist (42P01)");
        assertThat(e.fatal()).isFalse();
        assertThat(error("SFATAL\0C57P01\0Mgoing down\0\0").fatal()).isTrue();
        assertThatThrownBy(() -> error("SFATAL")).isInstanceOf(PgProtocolException.class);
    }

    private static PgException error(String body) {
        ByteBuf in = Unpooled.copiedBuffer("??" + body + "??", StandardCharsets.UTF_8);
        return Fields.error(in, 2, in.writerIndex() - 4);
    }
}
