package dev.pgnear.pg.backend;

import static dev.pgnear.pg.backend.TestPool.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pgnear.TestPostgres;
import dev.pgnear.net.Transport;
import dev.pgnear.pg.wire.PgTarget;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@ParameterizedClass
@ValueSource(ints = {15, 18})
class BackendLoginIT {
    private static final Statement ONE = new Statement("select '1'");
    private static final Statement VERSION = new Statement("select current_setting('server_version')");
    private static final Statement TLS =
            new Statement("select ssl::text from pg_stat_ssl where pid = pg_backend_pid()");

    @TempDir
    private static Path folder;

    private static TestPostgres pg;
    private static TestAuthority authority;
    private static TestAuthority stranger;

    @Parameter
    private int major;

    @BeforeParameterizedClassInvocation
    static void start(int major) throws Exception {
        Path own = Files.createDirectories(folder.resolve("pg" + major));
        authority = new TestAuthority(own, "authority");
        stranger = new TestAuthority(own, "stranger");
        pg = TestPostgres.start(major);
        authority.issue("DNS:localhost", pg.data());
        Files.writeString(pg.data().resolve("pg_hba.conf"), """
                host all md5_user 127.0.0.1/32 md5
                host all scram_user 127.0.0.1/32 scram-sha-256
                host all clear_user 127.0.0.1/32 password
                hostssl all tls_user 127.0.0.1/32 scram-sha-256
                host all tls_user 127.0.0.1/32 reject
                host all all 127.0.0.1/32 trust
                local all all trust
                """);
        pg.sql(
                "set password_encryption = 'md5'; create role md5_user login password 'geh eim'",
                "set password_encryption = 'scram-sha-256'; create role scram_user login password 'geh eim'",
                "create role clear_user login password 'geh eim'",
                "create role tls_user login password 'geh eim'",
                "alter system set ssl = on",
                "select pg_reload_conf()");
        await().until(() -> pg.query("show ssl").equals("on"));
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        pg.close();
    }

    @AfterEach
    void tlsOn() throws Exception {
        tls("on");
    }

    private static void tls(String value) throws Exception {
        pg.sql("alter system set ssl = " + value, "select pg_reload_conf()");
        await().until(() -> pg.query("show ssl").equals(value));
    }

    private static String url(String userInfo, String host, String parameters) {
        return "postgresql://" + userInfo + "@" + host + ":" + pg.port() + "/postgres?" + parameters;
    }

    private static String refusal(String url) {
        try (TestPool p = new TestPool(url)) {
            Throwable e = failure(p.ask(ONE));
            assertThat(e)
                    .isInstanceOfSatisfying(
                            BackendUnavailable.class, u -> assertThat(u.sent()).isFalse());
            assertThat(p.stats.connectFailures.sum()).isPositive();
            return String.valueOf(e.getMessage());
        }
    }

    private static String tlsOf(String url) {
        try (TestPool p = new TestPool(url)) {
            return p.text(TLS);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"md5_user", "scram_user", "clear_user", "tls_user"})
    void logsInWithAPassword(String user) {
        try (TestPool p = new TestPool(url(user + ":geh%20eim", "127.0.0.1", "sslmode=prefer"))) {
            assertThat(p.text(VERSION)).startsWith(Integer.toString(major));
            assertThat(p.text(new Statement("select current_user::text"))).isEqualTo(user);
        }
        assertThat(refusal(url(user + ":wrong", "127.0.0.1", "sslmode=prefer")))
                .contains("password authentication failed for user \"" + user + "\" (28P01)")
                .doesNotContain("wrong");
        assertThat(refusal(url(user, "127.0.0.1", "sslmode=prefer"))).contains("none was given");
    }

    @Test
    void saysWhatPostgresSaysOfOtherRefusals() {
        assertThat(refusal("postgresql://postgres@127.0.0.1:" + pg.port() + "/no_such_db"))
                .contains("database \"no_such_db\" does not exist (3D000)");
        assertThat(refusal(url("tls_user:geh%20eim", "127.0.0.1", "sslmode=disable")))
                .contains("pg_hba.conf rejects connection")
                .contains("28000");
    }

    @ParameterizedTest
    @EnumSource
    void verifiesTheServerOverEachTransport(Transport transport) {
        assumeTrue(transport.unavailable() == null, transport.text());
        String url = url("scram_user:geh%20eim", "localhost", "sslmode=verify-full&sslrootcert=" + authority.root());
        try (TestPool p = new TestPool(PgTarget.parse(url), transport, BackendSettings.named("tls"))) {
            assertThat(p.text(TLS)).isEqualTo("true");
            assertThat(p.text(new Statement("select repeat('x', 200000)"))).hasSize(200000);
        }
    }

    @Test
    void usesTlsAsTheModeSays() throws Exception {
        assertThat(tlsOf(url("postgres", "127.0.0.1", "sslmode=require"))).isEqualTo("true");
        assertThat(tlsOf(url("postgres", "127.0.0.1", "sslmode=prefer"))).isEqualTo("true");
        assertThat(tlsOf(url("postgres", "127.0.0.1", "sslmode=disable"))).isEqualTo("false");
        tls("off");
        assertThat(tlsOf(url("postgres", "127.0.0.1", "sslmode=prefer"))).isEqualTo("false");
        assertThat(refusal(url("postgres", "127.0.0.1", "sslmode=require")))
                .contains("does not offer TLS and sslmode=require demands it");
    }

    @Test
    void refusesAServerThatItCannotVerify() {
        String root = "sslmode=verify-full&sslrootcert=";
        assertThat(refusal(url("postgres", "localhost", root + stranger.root())))
                .contains("TLS with PostgreSQL at localhost:" + pg.port() + " failed (sslmode=verify-full)")
                .contains("must be issued by the authority in sslrootcert");
        assertThat(refusal(url("postgres", "127.0.0.1", root + authority.root())))
                .contains("name the host \"127.0.0.1\"");
        assertThat(refusal(url("postgres", "localhost", "sslmode=verify-full")))
                .contains("failed (sslmode=verify-full)");
    }

    @Test
    void refusesAStandbyUntilItIsPromoted() throws Exception {
        pg.stop();
        Files.createFile(pg.data().resolve("standby.signal"));
        pg.restart();
        try (TestPool p = new TestPool(pg.url())) {
            assertThat(failure(p.ask(ONE)))
                    .isInstanceOf(BackendUnavailable.class)
                    .hasMessageContaining("it is a standby (in recovery); pgnear stands in front of the primary");
            pg.sql("select pg_promote()");
            await().atMost(Duration.ofSeconds(5))
                    .until(() -> p.ask(ONE).handle((a, e) -> e == null).join());
            assertThat(p.ask(ONE).join().server().timeline()).isEqualTo(2);
        }
    }
}
