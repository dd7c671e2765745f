package dev.pgnear.pg.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgnear.pg.wire.PgTarget.SslMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PgTargetTest {
    @Test
    void parsesAllParts() {
        assertThat(PgTarget.parse(
                        "postgresql://me:pw@db.example:6543/shop?sslmode=verify-full&sslrootcert=/etc/ca.pem"))
                .isEqualTo(new PgTarget("db.example", 6543, "shop", "me", "pw", SslMode.VERIFY_FULL, "/etc/ca.pem"));
    }

    @Test
    void hasDefaults() {
        String os = System.getProperty("user.name");
        assertThat(PgTarget.parse("postgresql://"))
                .isEqualTo(new PgTarget("localhost", 5432, os, os, null, SslMode.PREFER, null));
        assertThat(PgTarget.parse("postgres://me@/"))
                .isEqualTo(new PgTarget("localhost", 5432, "me", "me", null, SslMode.PREFER, null));
        assertThat(PgTarget.parse("postgresql://h?sslmode=disable").sslMode()).isEqualTo(SslMode.DISABLE);
    }

    @Test
    void decodesPercentSignsInEachPart() {
        PgTarget t = PgTarget.parse("postgresql://a%40b:p%3A%2F%25+%C3%A4@h%2Dx/d%2Fb");
        assertThat(t.user()).isEqualTo("a@b");
        assertThat(t.password()).isEqualTo("p:/%+ä");
        assertThat(t.host()).isEqualTo("h-x");
        assertThat(t.database()).isEqualTo("d/b");
    }

    @Test
    void takesIpv6AndUserAsParameters() {
        PgTarget t = PgTarget.parse("postgresql://[::1]:5433/d?user=u&password=p%26q");
        assertThat(t.host()).isEqualTo("::1");
        assertThat(t.port()).isEqualTo(5433);
        assertThat(t.user()).isEqualTo("u");
        assertThat(t.password()).isEqualTo("p&q");
        assertThat(t).hasToString("postgresql://u@[::1]:5433/d");
        assertThat(t.jdbcUrl()).isEqualTo("jdbc:postgresql://[::1]:5433/d");
    }

    @Test
    void keepsThePasswordOutOfItsText() {
        assertThat(PgTarget.parse("postgresql://me:geheim@h/d")).asString().doesNotContain("geheim");
    }

    @Test
    void speaksJdbc() {
        PgTarget t = PgTarget.parse("postgresql://me:pw@h/a%20b%26c?sslmode=require");
        assertThat(t.jdbcUrl()).isEqualTo("jdbc:postgresql://h:5432/a%20b%26c");
        assertThat(t.jdbcProperties())
                .containsEntry("user", "me")
                .containsEntry("password", "pw")
                .containsEntry("sslmode", "require")
                .hasSize(3);
        assertThat(t.withDatabase("other").database()).isEqualTo("other");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "mysql://h|does not begin with postgresql://",
                "postgresql://u:geheim@h:99999/d|its port",
                "postgresql://u:geheim@h:x/d|its port",
                "postgresql://u:geheim@[::1/d|bracket",
                "postgresql://u:geheim@[::1]5/d|its port",
                "postgresql://u:geheim@a,b/d|several hosts",
                "postgresql://u:geheim@%2Ftmp/d|Unix socket",
                "postgresql://u:geheim%zz@h/d|password has a %",
                "postgresql://u:geheim%4@h|password has a %",
                "postgresql://u:geheim@h/d%00|database contains a zero byte",
                "postgresql://u:geheim@h/%FF|database is not UTF-8",
                "postgresql://u:geheim@h/d?sslmode=allow|sslmode=allow is not one of disable, prefer, require, verify-full",
                "postgresql://u:geheim@h/d?sslmode|has no value",
                "postgresql://u:geheim@h/d?connect_timeout=3|parameter \"connect_timeout\"",
                "postgresql://u:geheim@h/d?sslrootcert=x|only used with sslmode=verify-full",
            })
    void refusesInOneSentenceWithoutThePassword(String url, String why) {
        assertThatThrownBy(() -> PgTarget.parse(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("The PostgreSQL URL is not usable: ")
                .hasMessageContaining(why)
                .hasMessageNotContaining("geheim");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/no/such/file.pem", "/dev/null", "/etc/hostname"})
    void aRootCertificateThatIsNoneIsRefused(String file) {
        PgTarget t = PgTarget.parse("postgresql://h/d?sslmode=verify-full&sslrootcert=" + file);
        assertThatThrownBy(() -> TlsClient.of(t))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(file)
                .hasMessageContaining("not usable");
    }
}
