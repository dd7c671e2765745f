package dev.pgnear.pg.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class AuthenticationTest {
    private final Authentication auth = new Authentication("user", "pencil");

    @Test
    void trust() {
        assertThat(auth.answer(message(0, ""))).isEmpty();
        assertThat(auth.done()).isTrue();
    }

    @Test
    void cleartext() {
        assertThat(auth.answer(message(3, ""))).asHexString().isEqualTo("700000000B70656E63696C00");
        assertThat(auth.done()).isFalse();
        auth.answer(message(0, ""));
        assertThat(auth.done()).isTrue();
    }

    /** Computed with md5sum: printf penciluser | md5sum, then printf '%s\001\002\003\004' of it. */
    @Test
    void md5() {
        byte[] answer = auth.answer(ByteBufUtil.decodeHexDump("00000005" + "01020304"));
        assertThat(new String(answer, 5, answer.length - 6, StandardCharsets.US_ASCII))
                .isEqualTo("md54376eb6913b38f9aaff38dc7cf19ca76");
        assertThat(answer).hasSize(41).startsWith('p', 0, 0, 0, 40).endsWith(0);
    }

    @Test
    void scram() throws Exception {
        String first = initial(auth.answer(message(10, "SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0")));
        assertThat(first).startsWith("n,,n=");
        String bare = first.substring(3);
        String challenge =
                "r=" + bare.substring(bare.indexOf("r=") + 2) + "3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096";
        assertThat(Authentication.expensive(message(11, challenge))).isTrue();
        byte[] answer = auth.answer(message(11, challenge));
        String proof = new String(answer, 5, answer.length - 5, StandardCharsets.US_ASCII);
        assertThat(answer[0]).isEqualTo((byte) 'p');
        String withoutProof = proof.substring(0, proof.indexOf(",p="));
        String authMessage = bare + "," + challenge + "," + withoutProof;
        byte[] salted = pbkdf2("pencil");
        assertThat(proof.substring(proof.indexOf(",p=") + 3)).isEqualTo(clientProof(salted, authMessage));
        String signature = Base64.getEncoder().encodeToString(hmac(hmac(salted, "Server Key"), authMessage));
        assertThat(auth.answer(message(12, "v=" + signature))).isEmpty();
        assertThat(auth.answer(message(0, ""))).isEmpty();
        assertThat(auth.done()).isTrue();
    }

    @Test
    void scramRefusesAServerThatDoesNotKnowThePassword() {
        String bare = initial(auth.answer(message(10, "SCRAM-SHA-256\0\0"))).substring(3);
        auth.answer(message(11, bare.substring(bare.indexOf("r=")) + "x,s=QSXCR+Q6sek8bf92,i=4096"));
        assertThatThrownBy(() -> auth.answer(message(12, "v=" + "A".repeat(43) + "=")))
                .isInstanceOf(AuthenticationException.class)
                .hasMessageContaining("could not prove");
    }

    @Test
    void scramRefusesAServerThatSkipsItsProof() {
        auth.answer(message(10, "SCRAM-SHA-256\0\0"));
        assertThatThrownBy(() -> auth.answer(message(0, "")))
                .isInstanceOf(AuthenticationException.class)
                .hasMessageContaining("without proving");
        assertThat(auth.done()).isFalse();
    }

    @Test
    void scramRefusesANonceThatIsNotOursAndTooMuchWork() {
        String bare = initial(auth.answer(message(10, "SCRAM-SHA-256\0\0"))).substring(3);
        String nonce = bare.substring(bare.indexOf("r="));
        assertThatThrownBy(() -> auth.answer(message(11, "r=other,s=QSXCR+Q6sek8bf92,i=4096")))
                .isInstanceOf(PgProtocolException.class);
        assertThatThrownBy(() -> auth.answer(message(11, nonce + "x,s=QSXCR+Q6sek8bf92,i=2000000000")))
                .isInstanceOf(AuthenticationException.class)
                .hasMessageContaining("iterations");
    }

    @Test
    void saysWhatIsMissing() {
        assertThatThrownBy(() -> new Authentication("user", null).answer(message(3, "")))
                .isInstanceOf(AuthenticationException.class)
                .hasMessageContaining("password of user \"user\" and none was given");
        assertThatThrownBy(() -> auth.answer(message(7, "")))
                .isInstanceOf(AuthenticationException.class)
                .hasMessageContaining("GSSAPI");
        assertThatThrownBy(() -> auth.answer(message(10, "OAUTHBEARER\0\0")))
                .isInstanceOf(AuthenticationException.class)
                .hasMessageContaining("OAUTHBEARER");
    }

    @Test
    void refusesMessagesAtTheWrongTime() {
        assertThatThrownBy(() -> auth.answer(new byte[3])).isInstanceOf(PgProtocolException.class);
        assertThatThrownBy(() -> auth.answer(message(5, "abc"))).isInstanceOf(PgProtocolException.class);
        assertThatThrownBy(() -> auth.answer(message(11, "r=x"))).isInstanceOf(PgProtocolException.class);
        auth.answer(message(3, ""));
        assertThatThrownBy(() -> auth.answer(message(3, ""))).isInstanceOf(PgProtocolException.class);
    }

    private static byte[] message(int code, String text) {
        ByteBuf out = Unpooled.buffer().writeInt(code).writeBytes(text.getBytes(StandardCharsets.UTF_8));
        return ByteBufUtil.getBytes(out);
    }

    /** The client-first-message in a SASLInitialResponse. */
    private static String initial(byte[] answer) {
        ByteBuf in = Unpooled.wrappedBuffer(answer);
        FrameReader frames = new FrameReader(1000);
        assertThat(frames.read(in)).isTrue();
        assertThat(frames.type()).isEqualTo(Protocol.Frontend.PASSWORD);
        int end = frames.bodyIndex() + frames.bodyLength();
        assertThat(Fields.string(in, frames.bodyIndex(), end)).isEqualTo("SCRAM-SHA-256");
        int data = frames.bodyIndex() + "SCRAM-SHA-256".length() + 1;
        assertThat(in.getInt(data)).isEqualTo(end - data - 4);
        return in.toString(data + 4, end - data - 4, StandardCharsets.UTF_8);
    }

    // RFC 5802, section 3, written down anew with the JDK.

    private static byte[] pbkdf2(String password) throws Exception {
        PBEKeySpec spec =
                new PBEKeySpec(password.toCharArray(), Base64.getDecoder().decode("QSXCR+Q6sek8bf92"), 4096, 256);
        return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                .generateSecret(spec)
                .getEncoded();
    }

    private static String clientProof(byte[] salted, String authMessage) throws Exception {
        byte[] clientKey = hmac(salted, "Client Key");
        byte[] storedKey = java.security.MessageDigest.getInstance("SHA-256").digest(clientKey);
        byte[] proof = hmac(storedKey, authMessage);
        for (int i = 0; i < proof.length; i++) {
            proof[i] ^= clientKey[i];
        }
        return Base64.getEncoder().encodeToString(proof);
    }

    private static byte[] hmac(byte[] key, String text) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    }
}
