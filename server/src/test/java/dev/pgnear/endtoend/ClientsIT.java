package dev.pgnear.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgnear.Server;
import dev.pgnear.TestNodes;
import dev.pgnear.TestPostgres;
import dev.pgnear.coherence.CoherenceStatus.Mode;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisDataException;

/** Jedis and Lettuce with their defaults read rows. */
class ClientsIT {
    private static TestPostgres pg;
    private static TestNodes nodes;
    private static Server node;

    @BeforeAll
    static void start() throws Exception {
        pg = TestPostgres.start(18);
        nodes = new TestNodes(pg);
        pg.sql(
                "CREATE TABLE items (id bigint PRIMARY KEY, name text)",
                "INSERT INTO items SELECT i, 'item ' || i FROM generate_series(1, 1000) i",
                "CREATE TABLE pairs (a int, b text, v int, PRIMARY KEY (a, b))",
                "INSERT INTO pairs VALUES (1, 'x:y', 10), (2, 'ü', 20)");
        nodes.setup();
        nodes.attach("public.items", "items");
        nodes.attach("public.pairs", "pairs");
        node = nodes.start("n", "tracked");
        nodes.awaitMode(Mode.TRACKED);
    }

    @AfterAll
    static void end() throws Exception {
        nodes.close();
        pg.close();
    }

    private static String row(int id) {
        return "{\"id\":" + id + ",\"name\":\"item " + id + "\"}";
    }

    @Test
    void jedisWithItsDefaults() {
        try (Jedis j = new Jedis("127.0.0.1", node.respPort())) {
            readRows(j);
        }
    }

    @Test
    void jedisOverResp3() {
        try (Jedis j = new Jedis(
                new HostAndPort("127.0.0.1", node.respPort()),
                DefaultJedisClientConfig.builder()
                        .protocol(RedisProtocol.RESP3)
                        .clientName("suite")
                        .build())) {
            readRows(j);
        }
    }

    private static void readRows(Jedis j) {
        assertThat(j.ping()).isEqualTo("PONG");
        assertThat(j.get("items:1")).isEqualTo(row(1));
        assertThat(j.get("items:1001")).isNull();
        assertThat(j.mget("items:2", "items:1001", "items:2", "pairs:1:x\\:y"))
                .containsExactly(row(2), null, row(2), "{\"a\":1,\"b\":\"x:y\",\"v\":10}");
        assertThat(j.get("CRUD:postgres.public.pairs:{\"b\":\"\\u00fc\",\"a\":2}"))
                .isEqualTo("{\"a\":2,\"b\":\"ü\",\"v\":20}");
        assertThat(j.exists("items:1", "items:1", "items:1001")).isEqualTo(2);
        assertThatThrownBy(() -> j.get("CRUD:postgres.public.items:{}"))
                .isInstanceOf(JedisDataException.class)
                .hasMessageContaining("id");
        assertThatThrownBy(() -> j.get("nowhere"))
                .isInstanceOf(JedisDataException.class)
                .hasMessageContaining("key space");
        Pipeline p = j.pipelined();
        List<Response<String>> answers = new ArrayList<>();
        for (int i = 1; i <= 1000; i++) {
            answers.add(p.get("items:" + i));
        }
        p.sync();
        for (int i = 1; i <= 1000; i++) {
            assertThat(answers.get(i - 1).get()).isEqualTo(row(i));
        }
    }

    @Test
    void lettuceWithItsDefaults() throws Exception {
        RedisClient client = RedisClient.create("redis://127.0.0.1:" + node.respPort());
        try (StatefulRedisConnection<String, String> c = client.connect()) {
            assertThat(c.sync().get("items:3")).isEqualTo(row(3));
            assertThat(c.sync().get("items:1001")).isNull();
            assertThat(c.sync().mget("items:4", "items:1001"))
                    .containsExactly(KeyValue.just("items:4", row(4)), KeyValue.empty("items:1001"));
            assertThat(c.sync().exists("items:1", "items:1001")).isEqualTo(1);
            List<RedisFuture<String>> answers = new ArrayList<>();
            for (int i = 1; i <= 1000; i++) {
                answers.add(c.async().get("items:" + i));
            }
            for (int i = 1; i <= 1000; i++) {
                assertThat(answers.get(i - 1).get(10, TimeUnit.SECONDS)).isEqualTo(row(i));
            }
        } finally {
            client.shutdown();
        }
    }

    @Test
    void withATokenOnlyWhoKnowsItReads(@TempDir Path folder) throws Exception {
        String token = "0123456789abcdef0123456789abcdef";
        Path file = Files.createFile(
                folder.resolve("token"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, token + "\n");
        Server guarded = nodes.start("guarded", "tracked", "auth-token-file", file.toString());
        try (Jedis j = new Jedis("127.0.0.1", guarded.respPort())) {
            assertThatThrownBy(() -> j.get("items:1")).hasMessageContaining("NOAUTH");
            assertThatThrownBy(() -> j.auth("wrong")).hasMessageContaining("WRONGPASS");
            assertThat(j.auth(token)).isEqualTo("OK");
            assertThat(j.get("items:1")).isEqualTo(row(1));
        }
        RedisClient client = RedisClient.create("redis://" + token + "@127.0.0.1:" + guarded.respPort());
        try (StatefulRedisConnection<String, String> c = client.connect()) {
            assertThat(c.sync().get("items:1")).isEqualTo(row(1));
        } finally {
            client.shutdown();
        }
    }
}
