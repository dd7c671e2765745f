package dev.pgnear.resp;

import static dev.pgnear.resp.Door.bulk;
import static dev.pgnear.resp.Door.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.resp.Door.Link;
import dev.pgnear.resp.command.Commands;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every command but the row commands: replies and error texts as Redis gives them (taken from a Redis 7.0 where 7.2 did not change them). */
class CommandsTest {
    private static final String LOCKED_HELLO = "-" + Errors.NOAUTH_HELLO + "\r\n";

    private final Door door = new Door();
    private final Link link = door.connect();

    @ParameterizedTest
    @CsvSource(
            delimiter = '^',
            quoteCharacter = '\0',
            value = {
                "FOO a b^-ERR unknown command 'FOO', with args beginning with: 'a' 'b' ~",
                "FOO^-ERR unknown command 'FOO', with args beginning with: ~",
                "SET a b^-ERR unknown command 'SET', with args beginning with: 'a' 'b' ~",
                "SUBSCRIBE c^-ERR unknown command 'SUBSCRIBE', with args beginning with: 'c' ~",
                "GET^-ERR wrong number of arguments for 'get' command~",
                "gEt a b^-ERR wrong number of arguments for 'get' command~",
                "EXISTS^-ERR wrong number of arguments for 'exists' command~",
                "CLIENT FOO^-ERR unknown subcommand 'FOO'. Try CLIENT HELP.~",
                "CLIENT^-ERR wrong number of arguments for 'client' command~",
                "CLIENT SETNAME^-ERR wrong number of arguments for 'client|setname' command~",
                "CLIENT SETNAME \"a b\"^-ERR Client names cannot contain spaces, newlines or special characters.~",
                "CLIENT SETINFO a b^-ERR Unrecognized option 'a'~",
                "CLIENT SETINFO lib-name \"a b\"^-ERR lib-name cannot contain spaces, newlines or special characters.~",
                "CLIENT SETINFO LIB-VER 1.2^+OK~",
                "CLIENT REPLY x^-ERR syntax error~",
                "CLIENT NO-EVICT x^-ERR syntax error~",
                "CLIENT NO-EVICT on^+OK~",
                "CLIENT NO-TOUCH off^+OK~",
                "CLIENT GETREDIR^:-1~",
                "CLIENT TRACKING off^+OK~",
                "CLIENT TRACKING x^-ERR syntax error~",
                "CLIENT TRACKINGINFO^*6~$5~flags~*1~$3~off~$8~redirect~:-1~$8~prefixes~*0~",
                "CLIENT KILL 1.2.3.4:5^-ERR No such client~",
                "CLIENT KILL ID 9999^:0~",
                "CLIENT KILL ID x^-ERR client-id should be greater than 0~",
                "CLIENT KILL FOO x^-ERR syntax error~",
                "CLIENT KILL TYPE x^-ERR Unknown client type 'x'~",
                "CLIENT LIST TYPE x^-ERR Unknown client type 'x'~",
                "CLIENT LIST ID 98 99^$0~~",
                "CLIENT LIST ID x^-ERR Invalid client ID~",
                "CLIENT LIST FOO^-ERR syntax error~",
                "CLIENT UNBLOCK 5^:0~",
                "HELLO 4^-NOPROTO unsupported protocol version~",
                "HELLO x^-ERR Protocol version is not an integer or out of range~",
                "HELLO 2 FOO^-ERR Syntax error in HELLO option 'FOO'~",
                "AUTH a b c^-ERR syntax error~",
                "AUTH a b^-WRONGPASS invalid username-password pair or user is disabled.~",
                "AUTH default b^+OK~",
                "SELECT 0^+OK~",
                "SELECT 1^-ERR DB index is out of range~",
                "SELECT x^-ERR value is not an integer or out of range~",
                "CONFIG FOO^-ERR unknown subcommand 'FOO'. Try CONFIG HELP.~",
                "CONFIG GET s?ve nothing^*2~$4~save~$0~~",
                "CONFIG SET foo bar^-ERR Unknown option or number of arguments for CONFIG SET - 'foo'~",
                "CONFIG SET maxmemory^-ERR wrong number of arguments for 'config|set' command~",
                "CONFIG RESETSTAT^+OK~",
                "ACL WHOAMI^$7~default~",
                "ACL LIST^*1~$34~user default on nopass ~* &* +@all~",
                "ACL USERS^*1~$7~default~",
                "ACL CAT foo^-ERR Unknown category 'foo'~",
                "ROLE^*3~$6~master~:0~*0~",
                "WAIT 0 0^:0~",
                "WAIT a 0^-ERR value is not an integer or out of range~",
                "WAIT 0 a^-ERR timeout is not an integer or out of range~",
                "LATENCY LATEST^*0~",
                "LATENCY RESET^:0~",
                "OBJECT ENCODING row:1^$-1~",
                "MEMORY USAGE row:1^$-1~",
                "MEMORY FOO^-ERR unknown subcommand 'FOO'. Try MEMORY HELP.~",
                "DBSIZE^:0~",
                "TIME^*2~$10~1700000000~$6~123456~",
                "TIME a^-ERR wrong number of arguments for 'time' command~",
                "RESET^+RESET~",
                "ECHO^-ERR wrong number of arguments for 'echo' command~",
                "ECHO a^$1~a~",
                "PING^+PONG~",
                "PING a^$1~a~",
                "PING a b^-ERR wrong number of arguments for 'ping' command~",
                "COMMAND FOO^-ERR unknown subcommand 'FOO'. Try COMMAND HELP.~",
                "COMMAND INFO foo^*1~*-1~",
                "COMMAND GETKEYS get a^*1~$1~a~",
                "COMMAND GETKEYS mget a b^*2~$1~a~$1~b~",
                "COMMAND GETKEYS ping^-ERR The command has no key arguments~",
                "COMMAND GETKEYS foo x^-ERR Invalid command specified~",
                "COMMAND GETKEYS get a b^-ERR Invalid number of arguments specified for command~",
                "COMMAND LIST FILTERBY PATTERN ge*^*1~$3~get~",
                "COMMAND LIST x^-ERR syntax error~",
                "CLUSTER KEYSLOT foo{hash_tag}^:2515~",
                "CLUSTER KEYSLOT 123456789^:12739~",
                "CLUSTER COUNTKEYSINSLOT 1^:0~",
                "CLUSTER COUNTKEYSINSLOT 16384^-ERR Invalid slot~",
                "INVALIDATE CRUD^:7~",
                "INVALIDATE x^-ERR scope names nothing: x~",
            })
    void repliesInRESP2(String command, String reply) {
        String expected = reply.replace("~* &*", "\0").replace("~", "\r\n").replace("\0", "~* &*");
        assertThat(link.send(command + "\r\n")).isEqualTo(expected);
        assertThat(link.isOpen()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '^',
            quoteCharacter = '\0',
            value = {
                "CLIENT GETNAME^_~",
                "GET row:none^_~",
                "MGET row:none row:1^*2~_~$1~x~",
                "CONFIG GET save^%1~$4~save~$0~~",
                "CLIENT TRACKINGINFO^%3~$5~flags~~1~$3~off~$8~redirect~:-1~$8~prefixes~*0~",
                "LATENCY HISTOGRAM^%0~",
                "INFO nothing^=4~txt:~",
                "COMMAND INFO foo^*1~_~",
                "COMMAND INFO get^*1~*10~$3~get~:2~~2~+readonly~+fast~:1~:1~:1~~3~+@read~+@string~+@fast~~0~~1~%3~$5~flags~~2~+RO~+access~$12~begin_search~%2~$4~type~$5~index~$4~spec~%1~$5~index~:1~$9~find_keys~%2~$4~type~$5~range~$4~spec~%3~$7~lastkey~:0~$7~keystep~:1~$5~limit~:0~~0~",
                "COMMAND DOCS dbsize^%1~$6~dbsize~%3~$7~summary~$55~Counts the keys of the key space; rows are not counted.~$5~since~$5~1.0.0~$5~group~$6~server~",
            })
    void repliesInRESP3(String command, String reply) {
        door.rows.cached("row:1", "x");
        link.send("HELLO 3\r\n");
        String expected = reply.replaceAll("~(?=~\\d)|~(?!\\d+~)", "\r\n");
        assertThat(link.send(command + "\r\n")).isEqualTo(expected);
        assertThat(link.send("RESET\r\nGET row:none\r\n")).isEqualTo("+RESET\r\n$-1\r\n");
    }

    @Test
    void helloTellsTheServerInBothProtocols() {
        String pairs = bulk("server") + bulk("redis") + bulk("version") + bulk("7.2.0") + bulk("proto") + ":%d\r\n"
                + bulk("id") + ":1\r\n" + bulk("mode") + bulk("standalone") + bulk("role") + bulk("master")
                + bulk("modules") + "*0\r\n";
        assertThat(link.send("HELLO\r\n")).isEqualTo("*14\r\n" + pairs.formatted(2));
        assertThat(link.send("HELLO 3 SETNAME me\r\n")).isEqualTo("%7\r\n" + pairs.formatted(3));
        assertThat(link.send("HELLO\r\n")).isEqualTo("%7\r\n" + pairs.formatted(3));
        assertThat(link.send("CLIENT GETNAME\r\n")).isEqualTo(bulk("me"));
        assertThat(link.send("HELLO 2 SETNAME \"a b\"\r\n")).startsWith("-ERR Client names cannot");
    }

    @Test
    void passwords() {
        Door locked = new Door(AccessTokens.of("secret", "other"));
        Link client = locked.connect();
        assertThat(client.send("PING\r\nSET a b\r\nCLIENT FOO\r\nCLIENT ID\r\n"))
                .isEqualTo(
                        "-NOAUTH Authentication required.\r\n-ERR unknown command 'SET', with args beginning with: 'a' 'b' \r\n"
                                + "-ERR unknown subcommand 'FOO'. Try CLIENT HELP.\r\n-NOAUTH Authentication required.\r\n");
        assertThat(client.send("HELLO\r\nHELLO 3\r\nHELLO 3 SETNAME a\r\n")).isEqualTo(LOCKED_HELLO.repeat(3));
        assertThat(client.send("AUTH secret2\r\nAUTH user secret\r\nHELLO 3 AUTH default x\r\n"))
                .isEqualTo(("-" + Errors.WRONGPASS + "\r\n").repeat(3));
        assertThat(client.send("HELLO 2 AUTH default secret SETNAME c\r\nCLIENT SETINFO lib-name l\r\nPING\r\n"))
                .startsWith("*14\r\n")
                .endsWith("+OK\r\n+PONG\r\n");
        assertThat(client.send("RESET\r\nPING\r\nAUTH default other\r\nPING\r\n"))
                .isEqualTo("+RESET\r\n-NOAUTH Authentication required.\r\n+OK\r\n+PONG\r\n");
        assertThat(door.connect().send("AUTH a\r\n"))
                .startsWith("-ERR AUTH <password> called without any password configured for the default user.");
    }

    @Test
    void unknownCommandShows128BytesOfNameAndArguments() {
        assertThat(link.send("a".repeat(150) + " " + "b".repeat(150) + " c\r\n"))
                .isEqualTo("-ERR unknown command '" + "a".repeat(128) + "', with args beginning with: '"
                        + "b".repeat(128) + "' \r\n");
        assertThat(link.send(request("FOO", "a\nb", "")))
                .isEqualTo("-ERR unknown command 'FOO', with args beginning with: 'a b' '' \r\n");
    }

    @Test
    void clientListAndKill() {
        Link other = door.connect();
        other.send("CLIENT SETNAME other\r\n");
        assertThat(link.send("CLIENT LIST\r\n"))
                .contains(
                        "id=1 addr=",
                        "id=2 addr=",
                        " name=other ",
                        " cmd=client|setname ",
                        " resp=2 lib-name= lib-ver=\n");
        assertThat(link.send("CLIENT LIST ID 2\r\n")).doesNotContain("id=1 ");
        assertThat(link.send("CLIENT INFO\r\n")).contains("id=1 ").doesNotContain("id=2 ");
        assertThat(link.send("CLIENT KILL TYPE normal\r\n")).isEqualTo(":1\r\n");
        other.channel().runPendingTasks();
        assertThat(other.isOpen()).isFalse();
        assertThat(link.send("CLIENT KILL TYPE normal SKIPME no\r\nPING\r\n")).isEqualTo(":1\r\n");
        assertThat(link.isOpen()).isFalse();
    }

    @Test
    void infoHasRedisNamesAndCoherence() {
        door.stats.registerText(dev.pgnear.metrics.Stat.COHERENCE, () -> "fenced");
        String info = link.send("INFO\r\n");
        assertThat(info)
                .contains(
                        "# Server\r\nredis_version:7.2.0\r\n",
                        "# Clients\r\nconnected_clients:1\r\n",
                        "# Memory\r\n",
                        "# Stats\r\n",
                        "# Keyspace\r\n")
                .contains(
                        "# Coherence\r\nmode:fenced\r\nreason:\r\n", "\r\napplied_lsn:\r\n", "\r\nkeyspace_hits:0\r\n");
        assertThat(link.send("INFO coherence memory\r\n"))
                .contains("# Memory", "# Coherence")
                .doesNotContain("# Stats");
    }

    @Test
    void statsAreOneJsonObject() {
        door.rows.cached("row:1", "x");
        link.send("GET row:1\r\n");
        assertThat(link.send("STATS\r\n")).contains("\"cache_hits\":1,", "\"coherence\":\"\"", "\"tables\":[]");
        assertThat(link.send("STAT\r\n")).contains("\"cache_hits\":1,");
    }

    @Test
    void clusterOfOneNode() {
        assertThat(link.send("CLUSTER SLOTS\r\n")).startsWith("*1\r\n*3\r\n:0\r\n:16383\r\n*4\r\n");
        assertThat(link.send("CLUSTER MYID\r\n")).startsWith("$40\r\n");
        assertThat(link.send("CLUSTER INFO\r\n")).contains("cluster_state:ok");
        assertThat(link.send("CLUSTER NODES\r\n")).contains("myself,master - 0 0 1 connected 0-16383");
        assertThat(link.send("CLUSTER SHARDS\r\n")).contains("replication-offset\r\n:0\r\n");
    }

    @Test
    void commandShowsTheTable() {
        int n = Commands.table().specs().size();
        assertThat(link.send("COMMAND COUNT\r\n")).isEqualTo(":" + n + "\r\n");
        assertThat(link.send("COMMAND\r\n")).startsWith("*" + n + "\r\n*10\r\n$3\r\nget\r\n");
        assertThat(link.send("COMMAND DOCS\r\n")).startsWith("*" + 2 * n + "\r\n");
        assertThat(link.send("CLIENT HELP\r\n")).contains("+CLIENT <subcommand>", "+SETINFO\r\n");
        assertThat(link.send("ACL CAT\r\n")).startsWith("*21\r\n");
        assertThat(link.send("ACL CAT string\r\n")).isEqualTo("*2\r\n$3\r\nget\r\n$4\r\nmget\r\n");
    }

    /** Every command answers something to every number of arguments, and the connection lives. */
    @Test
    void noCommandHangsOrBreaksTheConnection() {
        Stream<CommandSpec> all = Commands.table().specs().stream().flatMap(CommandSpec::all);
        for (CommandSpec spec : all.toList()) {
            List<String> words = List.of(spec.name().split("\\|"));
            for (int more = 0; more < 5; more++) {
                Door fresh = new Door();
                Link client = fresh.connect();
                String[] args = Stream.concat(
                                words.stream(), Stream.generate(() -> "row:1").limit(more))
                        .toArray(String[]::new);
                String reply = client.send(request(args) + request("ECHO", "end"));
                boolean silentOrOver = spec.name().equals("quit");
                assertThat(reply).as("%s", List.of(args)).isNotEmpty().doesNotContain("internal error");
                assertThat(silentOrOver || reply.endsWith(bulk("end")))
                        .as("%s: %s", List.of(args), reply)
                        .isTrue();
            }
        }
    }
}
