package dev.pgnear.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RowSinkTest {
    static Stream<ByteBuf> buffers() {
        return Stream.of(Unpooled.directBuffer(4), Unpooled.buffer(4));
    }

    private static MemorySegment bytes(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII));
    }

    @ParameterizedTest
    @MethodSource("buffers")
    void copiesChunksAndTakesBackATornCopy(ByteBuf out) {
        out.writeBytes("+OK\r\n".getBytes(StandardCharsets.US_ASCII));
        RowSink sink = new RowSink(new ReplyWriter().to(out));
        sink.begin(9);
        sink.chunk(bytes("torn"), 0, 4);
        sink.rollback();
        sink.begin(6);
        sink.chunk(bytes("xxabc"), 2, 3);
        sink.chunk(bytes("def"), 0, 3);
        assertThat(out.toString(StandardCharsets.US_ASCII)).isEqualTo("+OK\r\n$6\r\nabcdef\r\n");
        out.release();
    }

    @Test
    void moreThanWasReservedIsAProgrammersError() {
        RowSink sink = new RowSink(new ReplyWriter().to(Unpooled.directBuffer(4)));
        sink.begin(3);
        sink.chunk(bytes("ab"), 0, 2);
        assertThatThrownBy(() -> sink.chunk(bytes("cd"), 0, 2)).isInstanceOf(IllegalStateException.class);
    }
}
