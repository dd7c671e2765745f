package dev.pgnear.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Exact bytes in both protocols. */
class ReplyWriterTest {
    private static String written(int protocol, Consumer<ReplyWriter> reply) {
        ByteBuf out = Unpooled.buffer(1);
        ReplyWriter writer = new ReplyWriter().to(out);
        writer.protocol(protocol);
        reply.accept(writer);
        return out.toString(StandardCharsets.UTF_8);
    }

    private static void check(Consumer<ReplyWriter> reply, String resp2, String resp3) {
        assertThat(written(2, reply)).isEqualTo(resp2);
        assertThat(written(3, reply)).isEqualTo(resp3);
    }

    private static void same(Consumer<ReplyWriter> reply, String both) {
        check(reply, both, both);
    }

    @Test
    void typesThatBothProtocolsShare() {
        same(ReplyWriter::ok, "+OK\r\n");
        same(w -> w.error("ERR a\r\nb"), "-ERR a  b\r\n");
        same(w -> w.integer(0), ":0\r\n");
        same(w -> w.integer(-42), ":-42\r\n");
        same(w -> w.integer(Long.MAX_VALUE), ":9223372036854775807\r\n");
        same(w -> w.integer(Long.MIN_VALUE), ":-9223372036854775808\r\n");
        same(w -> w.bulk(""), "$0\r\n\r\n");
        same(w -> w.bulk("h\u00e9"), "$3\r\nh\u00e9\r\n");
        same(w -> w.array(3), "*3\r\n");
    }

    @Test
    void typesThatOnlyRESP3Has() {
        check(ReplyWriter::nullBulk, "$-1\r\n", "_\r\n");
        check(ReplyWriter::nullArray, "*-1\r\n", "_\r\n");
        check(w -> w.map(2), "*4\r\n", "%2\r\n");
        check(w -> w.set(2), "*2\r\n", "~2\r\n");
        check(w -> w.push(2), "*2\r\n", ">2\r\n");
        check(w -> w.bool(true), ":1\r\n", "#t\r\n");
        check(w -> w.bool(false), ":0\r\n", "#f\r\n");
        check(w -> w.real(1.5), "$3\r\n1.5\r\n", ",1.5\r\n");
        check(w -> w.real(3), "$1\r\n3\r\n", ",3\r\n");
        check(w -> w.real(Double.NEGATIVE_INFINITY), "$4\r\n-inf\r\n", ",-inf\r\n");
        check(w -> w.verbatim("abc"), "$3\r\nabc\r\n", "=7\r\ntxt:abc\r\n");
    }
}
