package dev.pgnear.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccessTokensTest {
    @TempDir
    Path folder;

    private Path file(String content, String mode) throws Exception {
        Path file = folder.resolve("token");
        Files.writeString(file, content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
        return file;
    }

    private static boolean accepts(AccessTokens tokens, String password) {
        return tokens.accepts(password.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-------", "r--------"})
    void oneTokenALine(String mode) throws Exception {
        AccessTokens tokens = AccessTokens.read(file("\n first \nsecond\n\n", mode));
        assertThat(tokens.required()).isTrue();
        assertThat(accepts(tokens, "first")).isTrue();
        assertThat(accepts(tokens, "second")).isTrue();
        assertThat(accepts(tokens, "")).isFalse();
        assertThat(accepts(tokens, "firs")).isFalse();
        assertThat(accepts(tokens, " first ")).isFalse();
        assertThat(accepts(AccessTokens.NONE, "first")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r-----", "rw----r--", "rwx------", "rw--w----"})
    void othersMayNotReadIt(String mode) throws Exception {
        Path file = file("token", mode);
        assertThatThrownBy(() -> AccessTokens.read(file))
                .isInstanceOf(AccessTokens.AccessException.class)
                .hasMessageContaining("run chmod 600");
    }

    @Test
    void noLinkNoFolderNoEmptyFileNoMissingFile() throws Exception {
        Path link = folder.resolve("link");
        Files.createSymbolicLink(link, file("token", "rw-------"));
        assertThatThrownBy(() -> AccessTokens.read(link)).hasMessageContaining("not a plain file");
        assertThatThrownBy(() -> AccessTokens.read(folder)).hasMessageContaining("not a plain file");
        assertThatThrownBy(() -> AccessTokens.read(folder.resolve("nothing"))).hasMessageContaining("does not exist");
        Path empty = file("\n \n", "rw-------");
        assertThatThrownBy(() -> AccessTokens.read(empty)).hasMessageContaining("is empty");
    }

    @Test
    void addressesThatOthersReachNeedALongToken() throws Exception {
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        InetAddress any = InetAddress.getByName("0.0.0.0");
        assertThatCode(() -> AccessTokens.NONE.checkAddress(loopback)).doesNotThrowAnyException();
        assertThatThrownBy(() -> AccessTokens.NONE.checkAddress(any))
                .hasMessageContaining("refusing to listen on 0.0.0.0 without a password");
        assertThatThrownBy(() -> AccessTokens.of("x".repeat(32), "x".repeat(31)).checkAddress(any))
                .hasMessageContaining("fewer than 32 bytes");
        assertThatCode(() -> AccessTokens.of("x".repeat(32)).checkAddress(any)).doesNotThrowAnyException();
    }
}
