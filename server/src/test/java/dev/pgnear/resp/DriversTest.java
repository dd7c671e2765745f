package dev.pgnear.resp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.net.Listener;
import dev.pgnear.net.Transport;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisProtocol;

/** Jedis and Lettuce connect with their defaults and read rows, in both protocols, with and without a password. */
@Timeout(60)
class DriversTest {
    private static final String TOKEN = "a-token-that-nobody-guesses-0123456789";

    private final EventLoopGroup loops = Transport.NIO.newEventLoops(1, "test");
    private final Door open =
            new Door(new RespSettings(AccessTokens.NONE, 100, 2000, 300_000, 1 << 20, "t", java.util.Map.of()));
    private final Door locked =
            new Door(new RespSettings(AccessTokens.of(TOKEN), 100, 2000, 300_000, 1 << 20, "t", java.util.Map.of()));
    private Listener openDoor;
    private Listener lockedDoor;

    @BeforeEach
    void listen() throws Exception {
        openDoor = listener(open);
        lockedDoor = listener(locked);
    }

    private Listener listener(Door door) throws Exception {
        door.rows.cached("row:1", "{\"id\":1}").row("row:2", "{\"id\":2}");
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        return Listener.open("resp", any, loops, Transport.NIO.serverChannel(), door.door);
    }

    @AfterEach
    void close() throws Exception {
        openDoor.close();
        lockedDoor.close();
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
    }

    private static HostAndPort at(Listener listener) {
        return new HostAndPort("127.0.0.1", listener.address().getPort());
    }

    @Test
    void jedisWithDefaults() {
        try (var jedis = redis.clients.jedis.RedisClient.create(
                "127.0.0.1", openDoor.address().getPort())) {
            assertThat(jedis.get("row:1")).isEqualTo("{\"id\":1}");
            assertThat(jedis.mget("row:2", "row:none", "row:1")).containsExactly("{\"id\":2}", null, "{\"id\":1}");
            assertThat(jedis.exists("row:1", "row:2", "row:none")).isEqualTo(2);
            assertThat(jedis.get("row:none")).isNull();
        }
    }

    @Test
    void jedisWithRESP3AndPassword() {
        var config = DefaultJedisClientConfig.builder()
                .protocol(RedisProtocol.RESP3)
                .password(TOKEN)
                .clientName("tester")
                .build();
        try (Jedis jedis = new Jedis(at(lockedDoor), config)) {
            assertThat(jedis.get("row:none")).isNull();
            assertThat(jedis.get("row:1")).isEqualTo("{\"id\":1}");
            assertThat(jedis.clientGetname()).isEqualTo("tester");
            assertThat(jedis.clientList()).contains("lib-name=jedis");
            assertThat(jedis.info("coherence")).startsWith("# Coherence");
            assertThat(jedis.configGet("maxclients")).containsEntry("maxclients", "100");
        }
    }

    @Test
    void lettuceWithDefaults() {
        RedisClient client = RedisClient.create(
                RedisURI.create("127.0.0.1", openDoor.address().getPort()));
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            assertThat(connection.sync().get("row:1")).isEqualTo("{\"id\":1}");
            assertThat(connection.sync().get("row:none")).isNull();
            assertThat(connection.sync().mget("row:2", "row:1").get(0).getValue())
                    .isEqualTo("{\"id\":2}");
            assertThat(connection.sync().ping()).isEqualTo("PONG");
        } finally {
            client.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }

    @Test
    void lettuceWithPassword() {
        RedisURI uri = RedisURI.create(
                "redis://" + TOKEN + "@127.0.0.1:" + lockedDoor.address().getPort());
        RedisClient client = RedisClient.create(uri);
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            assertThat(connection.sync().get("row:2")).isEqualTo("{\"id\":2}");
        } finally {
            client.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }
}
