package dev.pgnear.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgnear.base.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigurationTest {
    @TempDir
    private Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("pgnear.toml"), text);
    }

    @Test
    void flagsWinOverTheEnvironmentAndThatOverTheFile() throws IOException {
        Path toml = file("node-name = \"file\"\nresp-port = 1\nhttp-port = 2\n");
        Configuration c = Configuration.of(
                toml,
                Map.of("PGNEAR_NODE_NAME", "environment", "PGNEAR_RESP_PORT", "3"),
                Map.of(ConfigKey.NODE_NAME, "flag"));
        assertThat(c.text(ConfigKey.NODE_NAME)).isEqualTo("flag");
        assertThat(c.number(ConfigKey.RESP_PORT)).isEqualTo(3);
        assertThat(c.number(ConfigKey.HTTP_PORT)).isEqualTo(2);
        assertThat(c.value(ConfigKey.BIND).origin()).isEqualTo("default");
    }

    @Test
    void whatIsWrongIsNamed() throws IOException {
        Path unknown = file("no-such-key = 1\n");
        assertThatThrownBy(() -> Configuration.of(unknown, Map.of(), Map.of()))
                .isInstanceOfSatisfying(
                        UserError.class, e -> assertThat(e.exitCode()).isEqualTo(2))
                .hasMessageContaining("no-such-key");
        assertThatThrownBy(() -> Configuration.of(null, Map.of("PGNEAR_NONSENSE", "1"), Map.of()))
                .hasMessageContaining("PGNEAR_NONSENSE");
        assertThatThrownBy(() -> Configuration.of(null, Map.of(), Map.of(ConfigKey.MAX_STALENESS, "1ms")))
                .hasMessageContaining("100ms to 60s");
    }

    @Test
    void passwordsAreNotPrinted() {
        Configuration c =
                Configuration.of(null, Map.of(), Map.of(ConfigKey.POSTGRES, "postgresql://user:geheim@host/db"));
        assertThat(c.print()).contains("postgresql://user:***@host/db").doesNotContain("geheim");
    }

    /** A key that nothing reads would be a promise that nothing keeps. */
    @Test
    void everyKeyIsReadSomewhere() throws IOException {
        StringBuilder sources = new StringBuilder();
        try (Stream<Path> files = Files.walk(Path.of("src", "main", "java"))) {
            for (Path p : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                if (!p.endsWith("Configuration.java") && !p.endsWith("ConfigKey.java")) {
                    sources.append(Files.readString(p));
                }
            }
        }
        for (ConfigKey k : ConfigKey.values()) {
            if (k != ConfigKey.COHERENCE) {
                assertThat(sources).contains("ConfigKey." + k.name());
            }
        }
        assertThat(sources).contains("configuration.fenced()");
    }
}
