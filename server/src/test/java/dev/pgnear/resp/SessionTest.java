package dev.pgnear.resp;

import static dev.pgnear.resp.Door.bulk;
import static dev.pgnear.resp.Door.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.base.Limits;
import dev.pgnear.metrics.Stat;
import dev.pgnear.resp.Door.Link;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Sessions without sockets: order, waiting, errors, counters. */
class SessionTest {
    private final Door door = new Door();
    private final Link link = door.connect();

    @Test
    void fragmentsByteByByteWithPingInFrontT_P1() {
        door.rows.cached("row:1", "{\"a\":1}");
        String get = request("GET", "row:1");
        assertThat(link.send("PING\r\n" + get.substring(0, 3))).isEqualTo("+PONG\r\n");
        for (int i = 3; i < get.length() - 1; i++) {
            assertThat(link.send(get.substring(i, i + 1))).isEmpty();
        }
        assertThat(link.send("\n")).isEqualTo(bulk("{\"a\":1}"));
    }

    @Test
    void badKeyInsideAPipelineT_P2() {
        door.rows.cached("row:1", "x");
        assertThat(link.send(request("GET", "row:1")
                        + request("GET", "bad")
                        + request("GET", "other")
                        + request("GET", "row:1")))
                .isEqualTo(bulk("x") + "-ERR malformed row key\r\n-" + ParsedRows.NO_KEY_SPACE + "\r\n" + bulk("x"));
    }

    @Test
    void warmGetsAreHitsT_P3() {
        door.rows.cached("row:1", "x");
        assertThat(link.send(request("GET", "row:1").repeat(128)))
                .isEqualTo(bulk("x").repeat(128));
        assertThat(door.stat(Stat.CACHE_HITS)).isEqualTo(128);
        assertThat(door.stat(Stat.CACHE_MISSES)).isZero();
        assertThat(door.rows.databaseReads()).isZero();
    }

    @Test
    void mgetBeforeAuthT_P4() {
        Door locked = new Door(AccessTokens.of("secret"));
        Link client = locked.connect();
        assertThat(client.send(request("MGET", "row:1"))).isEqualTo("-NOAUTH Authentication required.\r\n");
        assertThat(client.send(request("MGET"))).isEqualTo("-ERR wrong number of arguments for 'mget' command\r\n");
    }

    @Test
    void oneMalformedKeyOfMgetMovesNoCounterT_P5() {
        door.rows.cached("row:1", "x");
        assertThat(link.send(request("MGET", "row:1", "row:2", "bad"))).isEqualTo("-ERR malformed row key\r\n");
        assertThat(door.stat(Stat.CACHE_HITS) + door.stat(Stat.CACHE_MISSES)).isZero();
        assertThat(door.rows.databaseReads()).isZero();
    }

    @Test
    void mgetMixesHitAbsentDuplicateAndBigT_P6() {
        String big = "b".repeat(100_000);
        door.rows.cached("row:1", "one").row("row:big", big).cached("row:2", "two");
        String mget = request("MGET", "row:1", "row:none", "row:1", "row:big", "row:2");
        String expected = "*5\r\n" + bulk("one") + bulk(null) + bulk("one") + bulk(big) + bulk("two");
        assertThat(link.send(mget)).isEqualTo(expected);
        assertThat(door.stat(Stat.CACHE_HITS)).isEqualTo(3);
        assertThat(door.stat(Stat.CACHE_MISSES)).isEqualTo(2);
        assertThat(door.rows.databaseReads()).isEqualTo(2);
        assertThat(link.send(mget)).isEqualTo(expected);
        assertThat(door.stat(Stat.CACHE_HITS)).isEqualTo(8);
        assertThat(door.stat(Stat.NEGATIVE_HITS)).isEqualTo(1);
        assertThat(door.rows.databaseReads()).isEqualTo(2);
    }

    @Test
    void mgetOf1024KeysAndOneMoreT_P7() {
        door.rows.cached("row:1", "x");
        String[] args = new String[Limits.MGET_KEYS + 1];
        java.util.Arrays.fill(args, "row:1");
        args[0] = "MGET";
        assertThat(link.send(request(args))).isEqualTo("*1024\r\n" + bulk("x").repeat(1024));
        String[] more = java.util.Arrays.copyOf(args, args.length + 1);
        more[args.length] = "row:1";
        assertThat(link.send(request(more) + "PING\r\n")).isEqualTo("-ERR MGET takes at most 1024 keys\r\n+PONG\r\n");
    }

    @Test
    void largestReplyAndOneByteMoreT_P8() {
        int n = 64;
        int frame = "*64\r\n".length();
        int each = (Limits.REPLY_BYTES - frame) / n;
        String value = "v".repeat(each - "$1048564\r\n\r\n".length());
        int rest = Limits.REPLY_BYTES - frame - n * each;
        door.rows
                .cached("row:v", value)
                .cached("row:last", value + "l".repeat(rest))
                .cached("row:over", value + "l".repeat(rest + 1));
        door.rows.row("row:cold", value + "l".repeat(rest)).row("row:coldover", value + "l".repeat(rest + 1));
        String[] args = new String[n + 1];
        java.util.Arrays.fill(args, "row:v");
        args[0] = "MGET";
        for (String fits : new String[] {"row:last", "row:cold"}) {
            args[n] = fits;
            assertThat(link.send(request(args))).hasSize(Limits.REPLY_BYTES);
        }
        for (String over : new String[] {"row:over", "row:coldover"}) {
            args[n] = over;
            assertThat(link.send(request(args) + "PING\r\n"))
                    .isEqualTo("-ERR MGET reply is longer than 67108864 bytes; ask for fewer keys\r\n+PONG\r\n");
        }
    }

    @Test
    void moreCommandsThanOneTurnT_P9() {
        StringBuilder in = new StringBuilder();
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < Limits.TURN_COMMANDS + 17; i++) {
            in.append(request("ECHO", "e" + i));
            out.append(bulk("e" + i));
        }
        assertThat(link.send(in.toString())).isEqualTo(out.toString());
    }

    @Test
    void repliesNeverOvertakeAMissT_D1() {
        door.rows.cached("row:hot", "hot").row("row:cold", "cold").hold("row:cold");
        String sent = link.send(
                request("ECHO", "1") + request("GET", "row:cold") + request("ECHO", "2") + request("GET", "row:hot"));
        assertThat(sent).isEqualTo(bulk("1"));
        assertThat(door.connect().send(request("GET", "row:hot"))).isEqualTo(bulk("hot"));
        assertThat(door.stat(Stat.DEFERRED_MISSES_CURRENT)).isEqualTo(1);
        door.rows.release("row:cold");
        assertThat(link.replies()).isEqualTo(bulk("cold") + bulk("2") + bulk("hot"));
        assertThat(door.stat(Stat.DEFERRED_MISSES_CURRENT)).isZero();
        assertThat(door.stat(Stat.FAST_PATH_FALLBACKS_ORDERED)).isEqualTo(1);
    }

    @Test
    void missesOfABurstAreSentTogetherAndAnswerInRequestOrder() {
        door.rows.row("row:1", "one").row("row:2", "two").hold("row:1").hold("row:2");
        assertThat(link.send(request("GET", "row:1") + request("GET", "row:2") + "PING\r\n"))
                .isEmpty();
        assertThat(door.rows.waiting()).isEqualTo(2);
        door.rows.release("row:2");
        assertThat(link.replies()).isEmpty();
        door.rows.release("row:1");
        assertThat(link.replies()).isEqualTo(bulk("one") + bulk("two") + "+PONG\r\n");
    }

    @Test
    void readsOfOneRowOnOneConnectionNeverOverlap() {
        door.rows.row("row:1", "old").hold("row:1");
        assertThat(link.send(request("GET", "row:1") + request("MGET", "row:1") + request("EXISTS", "row:1")))
                .isEmpty();
        assertThat(door.rows.waiting()).isEqualTo(1);
        door.rows.cached("row:1", "new");
        door.rows.release("row:1");
        assertThat(link.replies()).isEqualTo(bulk("new") + "*1\r\n" + bulk("new") + ":1\r\n");
        assertThat(door.rows.databaseReads()).isEqualTo(1);
    }

    @Test
    void resultsThatComeBeforeLoadReturns() {
        door.rows.answerAtOnce().row("row:1", "one").row("row:2", "two");
        assertThat(link.send(
                        request("MGET", "row:1", "row:2", "row:3") + request("GET", "row:1") + request("GET", "row:4")))
                .isEqualTo("*3\r\n" + bulk("one") + bulk("two") + bulk(null) + bulk("one") + bulk(null));
    }

    @Test
    void existsCountsDuplicates() {
        door.rows.cached("row:1", "x").row("row:2", "y");
        assertThat(link.send(request("EXISTS", "row:1", "row:1", "row:2", "row:none")))
                .isEqualTo(":3\r\n");
        assertThat(link.send(request("EXISTS", "row:1", "bad"))).isEqualTo("-ERR malformed row key\r\n");
    }

    @Test
    void aTornCopyIsTakenBack() {
        door.rows.cached("row:1", "value").tearNextHit();
        assertThat(link.send(request("PING") + request("GET", "row:1"))).isEqualTo("+PONG\r\n" + bulk("value"));
    }

    @Test
    void emptyRowIsAnEmptyBulk() {
        door.rows.cached("row:e", "");
        assertThat(link.send(request("GET", "row:e"))).isEqualTo("$0\r\n\r\n");
    }

    @Test
    void failureOfOneRowIsTheWholeMgetsReply() {
        door.rows.cached("row:1", "x").hold("row:2").hold("row:3");
        assertThat(link.send(request("MGET", "row:1", "row:2", "row:3") + "PING\r\n"))
                .isEmpty();
        door.rows.fail("row:2", "ERR PostgreSQL: 42501 permission denied");
        assertThat(link.replies()).isEqualTo("-ERR PostgreSQL: 42501 permission denied\r\n+PONG\r\n");
        door.rows.release("row:3");
        assertThat(link.replies()).isEmpty();
    }

    @Test
    void deadlineOfTheWholeCommandT_D5() {
        door.rows.row("row:1", "x").hold("row:1").row("row:2", "y");
        assertThat(link.send(request("MGET", "row:1", "row:2") + "PING\r\n")).isEmpty();
        door.nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1999));
        link.channel().advanceTimeBy(1999, TimeUnit.MILLISECONDS);
        link.channel().runScheduledPendingTasks();
        assertThat(link.replies()).isEmpty();
        door.nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(2));
        link.channel().advanceTimeBy(2, TimeUnit.MILLISECONDS);
        link.channel().runScheduledPendingTasks();
        assertThat(link.replies()).isEqualTo("-ERR MGET deadline exceeded after 2000 ms\r\n+PONG\r\n");
        assertThat(door.stat(Stat.COMMAND_DEADLINES)).isEqualTo(1);
        door.rows.release("row:1");
        assertThat(link.send("PING\r\n")).isEqualTo("+PONG\r\n");
    }

    @Test
    void halfCloseDrainsAllRepliesT_P11() {
        door.rows.row("row:1", "x").hold("row:1");
        link.send(request("GET", "row:1") + request("ECHO", "after"));
        link.channel().pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        assertThat(link.isOpen()).isTrue();
        door.rows.release("row:1");
        assertThat(link.replies()).isEqualTo(bulk("x") + bulk("after"));
        assertThat(link.isOpen()).isFalse();
    }

    @Test
    void malformedFrameAfterPingT_P13() {
        assertThat(link.send("PING\r\n*1\r\n+x\r\n" + request("INVALIDATE", "CRUD")))
                .isEqualTo("+PONG\r\n-ERR Protocol error: expected '$', got '+'\r\n");
        assertThat(link.isOpen()).isFalse();
        assertThat(door.stat(Stat.PROTOCOL_ERRORS)).isEqualTo(1);
    }

    @Test
    void protocolErrorWaitsForEarlierReplies() {
        door.rows.row("row:1", "x").hold("row:1");
        assertThat(link.send(request("GET", "row:1") + "*x\r\nPING\r\n")).isEmpty();
        door.rows.release("row:1");
        assertThat(link.replies()).isEqualTo(bulk("x") + "-ERR Protocol error: invalid multibulk length\r\n");
        assertThat(link.isOpen()).isFalse();
    }

    @Test
    void fifthWrongPasswordClosesT_P14() {
        Door locked = new Door(AccessTokens.of("secret"));
        Link client = locked.connect();
        assertThat(client.send(request("AUTH", "wrong").repeat(5) + request("AUTH", "secret") + "PING\r\n"))
                .isEqualTo(("-" + Errors.WRONGPASS + "\r\n").repeat(5));
        assertThat(client.isOpen()).isFalse();
        assertThat(locked.stat(Stat.AUTHENTICATION_FAILURES)).isEqualTo(5);
    }

    @Test
    void quitRunsNothingAfterIt() {
        assertThat(link.send("QUIT\r\nPING\r\n")).isEqualTo("+OK\r\n");
        assertThat(link.isOpen()).isFalse();
    }

    @Test
    void clientLimit() {
        Link second = door.connect();
        Link third = door.connect();
        Link fourth = door.connect();
        assertThat(fourth.replies()).isEqualTo("-ERR max number of clients reached\r\n");
        assertThat(fourth.isOpen()).isFalse();
        assertThat(door.stat(Stat.REJECTED_CONNECTIONS)).isEqualTo(1);
        assertThat(door.stat(Stat.PEAK_ACTIVE_CLIENTS)).isEqualTo(3);
        second.channel().close();
        assertThat(door.connect().send("PING\r\n")).isEqualTo("+PONG\r\n");
        assertThat(third.isOpen()).isTrue();
    }

    @Test
    void clientThatGoesWhileItWaits() {
        door.rows.row("row:1", "x").hold("row:1");
        link.send(request("GET", "row:1") + "PING\r\n");
        link.channel().close();
        door.rows.release("row:1");
        assertThat(link.replies()).isEmpty();
        assertThat(door.stat(Stat.DEFERRED_MISSES_CURRENT)).isZero();
        assertThat(door.stat(Stat.ACTIVE_CLIENTS)).isZero();
    }

    @Test
    void waitingCommandsAreBounded() {
        door.rows.hold("row:x");
        StringBuilder in = new StringBuilder();
        for (int i = 0; i < Limits.WAITING_COMMANDS + 10; i++) {
            door.rows.row("row:" + i, "v" + i).hold("row:" + i);
            in.append(request("GET", "row:" + i));
        }
        assertThat(link.send(in.toString())).isEmpty();
        assertThat(door.rows.waiting()).isEqualTo(Limits.WAITING_COMMANDS);
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < Limits.WAITING_COMMANDS + 10; i++) {
            door.rows.release("row:" + i);
            out.append(link.replies());
        }
        StringBuilder expected = new StringBuilder();
        for (int i = 0; i < Limits.WAITING_COMMANDS + 10; i++) {
            expected.append(bulk("v" + i));
        }
        assertThat(out.toString()).isEqualTo(expected.toString());
    }

    @Test
    void clientReplyModes() {
        assertThat(link.send("CLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY ON\r\nPING\r\n"))
                .isEqualTo("+OK\r\n+PONG\r\n");
        assertThat(link.send("CLIENT REPLY SKIP\r\nECHO a\r\nECHO b\r\n")).isEqualTo(bulk("b"));
        door.rows.row("row:1", "x").row("row:2", "y");
        assertThat(link.send("CLIENT REPLY SKIP\r\nGET row:1\r\nGET row:2\r\n")).isEqualTo(bulk("y"));
    }
}
