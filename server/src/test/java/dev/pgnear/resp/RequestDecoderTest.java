package dev.pgnear.resp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.base.Limits;
import dev.pgnear.resp.RequestDecoder.Step;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** T-P15: every prefix, one byte at a time, malformed frames, bounds, random bytes. */
class RequestDecoderTest {
    private static final int FUZZ_ROUNDS = 20_000;

    static void feed(RequestDecoder decoder, String bytes) {
        decoder.append(Unpooled.copiedBuffer(bytes, StandardCharsets.ISO_8859_1));
    }

    static List<String> arguments(Request request) {
        return IntStream.range(0, request.count())
                .mapToObj(i ->
                        new String(request.bytes(), request.offset(i), request.length(i), StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** All requests and at the end, if there was one, the error. */
    static List<Object> drain(RequestDecoder decoder) {
        List<Object> all = new ArrayList<>();
        Step step = decoder.next();
        while (step == Step.REQUEST) {
            all.add(arguments(decoder.request()));
            decoder.consume();
            step = decoder.next();
        }
        if (step == Step.ERROR) {
            all.add(decoder.error());
        }
        return all;
    }

    static Stream<org.junit.jupiter.params.provider.Arguments> valid() {
        return Stream.of(
                of("*1\r\n$4\r\nPING\r\n", List.of("PING")),
                of("*2\r\n$3\r\nGET\r\n$0\r\n\r\n", List.of("GET", "")),
                of("*2\r\n$3\r\nGET\r\n$4\r\n\r\n\0\u00ff\r\n", List.of("GET", "\r\n\0\u00ff")),
                of("*0\r\n*-1\r\n*-7\r\n\r\n\n*1\r\n$1\r\nx\r\n", List.of("x")),
                of("PING\r\n", List.of("PING")),
                of("PING\n", List.of("PING")),
                of("  SET\ta  'b c' \r\n", List.of("SET", "a", "b c")),
                of("a \"\\x41\\n\\\"\\q\\xZZ\" 'it\\'s\\n'\r\n", List.of("a", "A\n\"qxZZ", "it's\\n")),
                of("\"\" x\r\n", List.of("", "x")),
                of("a\"b\" c\r\n", List.of("ab", "c")));
    }

    private static org.junit.jupiter.params.provider.Arguments of(String bytes, List<String> arguments) {
        return org.junit.jupiter.params.provider.Arguments.of(bytes, arguments);
    }

    @ParameterizedTest
    @MethodSource("valid")
    void wholeAndByteByByteT_P1(String bytes, List<String> arguments) {
        RequestDecoder whole = new RequestDecoder();
        feed(whole, bytes);
        assertThat(drain(whole)).containsExactly(arguments);
        assertThat(whole.buffered()).isZero();

        RequestDecoder single = new RequestDecoder();
        for (int i = 0; i < bytes.length() - 1; i++) {
            feed(single, bytes.substring(i, i + 1));
            assertThat(single.next()).as("prefix of %d", i + 1).isEqualTo(Step.INCOMPLETE);
        }
        feed(single, bytes.substring(bytes.length() - 1));
        assertThat(drain(single)).containsExactly(arguments);
    }

    @Test
    void pipelineSplitAnywhereGivesTheSameRequests() {
        String all =
                Door.request("GET", "a") + "PING x\r\n" + Door.request("MGET", "b", "c", "") + "*0\r\nECHO 'q'\r\n";
        List<Object> expected =
                List.of(List.of("GET", "a"), List.of("PING", "x"), List.of("MGET", "b", "c", ""), List.of("ECHO", "q"));
        for (int cut = 1; cut < all.length(); cut++) {
            RequestDecoder decoder = new RequestDecoder();
            feed(decoder, all.substring(0, cut));
            List<Object> got = new ArrayList<>(drain(decoder));
            feed(decoder, all.substring(cut));
            got.addAll(drain(decoder));
            assertThat(got).as("cut at %d", cut).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "*x~|invalid multibulk length",
                "*~|invalid multibulk length",
                "*+1~|invalid multibulk length",
                "*01~|invalid multibulk length",
                "* 1~|invalid multibulk length",
                "*1048577~|invalid multibulk length",
                "*9223372036854775808~|invalid multibulk length",
                "*99999999999999999999999~|invalid multibulk length",
                "*1~PING~|expected '$', got 'P'",
                "*1~:1~|expected '$', got ':'",
                "*1~$-1~|invalid bulk length",
                "*1~$~|invalid bulk length",
                "*1~$1x~|invalid bulk length",
                "*1~$1048577~|invalid bulk length",
                "*1~$2147483648~|invalid bulk length",
                "*1~$9223372036854775807~|invalid bulk length",
                "*2~$600000~|",
                "GET \"a~|unbalanced quotes in request",
                "GET 'a'b~|unbalanced quotes in request",
                "GET \"a\\~|unbalanced quotes in request",
            })
    void malformedFramesT_P13(String frame, String error) {
        RequestDecoder decoder = new RequestDecoder();
        feed(decoder, frame.replace("~", "\r\n"));
        if (error == null) {
            assertThat(decoder.next()).isEqualTo(Step.INCOMPLETE);
            return;
        }
        assertThat(drain(decoder)).containsExactly("Protocol error: " + error);
        feed(decoder, "*1\r\n$4\r\nPING\r\n");
        assertThat(decoder.next()).as("nothing is decoded afterwards").isEqualTo(Step.ERROR);
    }

    @Test
    void boundsAreCheckedBeforeTheyAreBelieved() {
        RequestDecoder tooMuch = new RequestDecoder();
        feed(tooMuch, "*2\r\n$600000\r\n" + "x".repeat(600_000) + "\r\n$600000\r\n");
        assertThat(drain(tooMuch)).containsExactly("Protocol error: request is longer than 1048576 bytes");

        RequestDecoder inline = new RequestDecoder();
        feed(inline, "x".repeat(Limits.INLINE_BYTES));
        assertThat(inline.next()).isEqualTo(Step.INCOMPLETE);
        feed(inline, "x");
        assertThat(drain(inline)).containsExactly("Protocol error: too big inline request");

        RequestDecoder count = new RequestDecoder();
        feed(count, "*" + "1".repeat(Limits.INLINE_BYTES + 1));
        assertThat(drain(count)).containsExactly("Protocol error: too big mbulk count string");

        RequestDecoder bulk = new RequestDecoder();
        feed(bulk, "*1\r\n$" + "1".repeat(Limits.INLINE_BYTES + 1));
        assertThat(drain(bulk)).containsExactly("Protocol error: too big bulk count string");
    }

    @Test
    void beforeAuthenticationRequestsMustBeSmall() {
        RequestDecoder decoder = new RequestDecoder();
        decoder.trusted(false);
        feed(decoder, "*11\r\n");
        assertThat(drain(decoder)).containsExactly("Protocol error: unauthenticated multibulk length");
        RequestDecoder bulk = new RequestDecoder();
        bulk.trusted(false);
        feed(bulk, "*1\r\n$16385\r\n");
        assertThat(drain(bulk)).containsExactly("Protocol error: unauthenticated bulk length");
    }

    @Test
    void largestRequestFits() {
        RequestDecoder decoder = new RequestDecoder();
        String head = "*2\r\n$3\r\nGET\r\n$1048540\r\n";
        feed(decoder, head + "k".repeat(1_048_540) + "\r\n");
        assertThat(decoder.next()).isEqualTo(Step.REQUEST);
        assertThat(decoder.request().length(1)).isEqualTo(1_048_540);
    }

    @Test
    void aRequestStaysUntilConsumedWhileMoreArrives() {
        RequestDecoder decoder = new RequestDecoder();
        feed(decoder, Door.request("GET", "key"));
        assertThat(decoder.next()).isEqualTo(Step.REQUEST);
        feed(decoder, Door.request("ECHO", "y".repeat(5000)));
        assertThat(decoder.next()).isEqualTo(Step.REQUEST);
        assertThat(arguments(decoder.request())).containsExactly("GET", "key");
    }

    @Test
    void randomBytesNeverCrashAndSplitsAgreeT_P15() {
        String[] pieces = {
            "*1\r\n",
            "*2\r\n",
            "*3",
            "$1\r\n",
            "$-",
            "$3\r\nabc\r\n",
            "\r\n",
            "\n",
            "'",
            "\"",
            "a b",
            "\0",
            "*",
            "$",
            "9"
        };
        for (long seed = 0; seed < FUZZ_ROUNDS; seed++) {
            Random random = new Random(seed);
            StringBuilder bytes = new StringBuilder();
            for (int i = random.nextInt(12); i >= 0; i--) {
                bytes.append(
                        random.nextInt(4) == 0
                                ? String.valueOf((char) random.nextInt(256))
                                : pieces[random.nextInt(pieces.length)]);
            }
            RequestDecoder whole = new RequestDecoder();
            feed(whole, bytes.toString());
            List<Object> expected = drain(whole);
            RequestDecoder single = new RequestDecoder();
            List<Object> got = new ArrayList<>();
            for (int i = 0; i < bytes.length() && single.error().isEmpty(); i++) {
                feed(single, bytes.substring(i, i + 1));
                got.addAll(drain(single));
            }
            assertThat(got).as("seed %d: %s", seed, bytes).isEqualTo(expected);
        }
    }
}
