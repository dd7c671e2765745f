package dev.pgnear.pg.wire;

import com.ongres.scram.client.ScramClient;
import com.ongres.scram.common.ServerFirstMessage;
import com.ongres.scram.common.StringPreparation;
import com.ongres.scram.common.exception.ScramException;
import dev.pgnear.base.Limits;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The client's half of a login, without I/O: the body of each Authentication message goes in, the bytes of the message to send come out.
 * Serves a connection on an event loop and a blocking socket alike. Sources: PostgreSQL documentation, "Message Flow: Start-up" and "SASL
 * Authentication"; RFC 5802.
 *
 * <pre>
 *            +-- AuthenticationOk ----------------------------------------------+
 * START -----+-- cleartext, MD5 --> PASSWORD_SENT ------------------------------+--> DONE
 *            +-- SASL --> SCRAM_STARTED --> SCRAM_PROVED --> SCRAM_VERIFIED ----+
 * </pre>
 *
 * A server that says AuthenticationOk in the middle of SCRAM has not proved that it knows the password and is refused. The answer to a
 * SCRAM challenge costs some milliseconds of CPU (PBKDF2): an event loop has it computed elsewhere. One object per login.
 */
public final class Authentication {
    private static final byte[] NOTHING = {};
    private static final String SCRAM_SHA_256 = "SCRAM-SHA-256";

    private static final int OK = 0;
    private static final int CLEARTEXT = 3;
    private static final int MD5 = 5;
    private static final int SASL = 10;
    private static final int SASL_CONTINUE = 11;
    private static final int SASL_FINAL = 12;

    private enum State {
        START,
        PASSWORD_SENT,
        SCRAM_STARTED,
        SCRAM_PROVED,
        SCRAM_VERIFIED,
        DONE
    }

    private final String user;
    private final @Nullable String password;
    private State state = State.START;
    private @Nullable ScramClient scram;

    /**
     * @param password null if the user gave none: then only a server that asks for none lets us in
     */
    public Authentication(String user, @Nullable String password) {
        this.user = user;
        this.password = password;
    }

    /** Whether the answer to this message costs so much CPU that an event loop should not compute it. */
    public static boolean expensive(byte[] body) {
        return body.length >= 4 && ByteBuffer.wrap(body).getInt() == SASL_CONTINUE;
    }

    /** Whether the server has let us in. */
    public boolean done() {
        return state == State.DONE;
    }

    /**
     * Takes the body of one Authentication message (type 'R').
     *
     * @return the whole message to send, or an empty array if there is none to send
     * @throws AuthenticationException if this login cannot succeed
     * @throws PgProtocolException if the message is malformed or comes at the wrong time
     */
    public byte[] answer(byte[] body) {
        if (body.length < 4) {
            throw new PgProtocolException("an Authentication message is too short");
        }
        ByteBuffer in = ByteBuffer.wrap(body);
        int code = in.getInt();
        return switch (code) {
            case OK -> accepted();
            case CLEARTEXT -> send(State.START, State.PASSWORD_SENT, this::cleartext);
            case MD5 -> send(State.START, State.PASSWORD_SENT, out -> md5(in, out));
            case SASL -> send(State.START, State.SCRAM_STARTED, out -> scramFirst(rest(in), out));
            case SASL_CONTINUE -> send(State.SCRAM_STARTED, State.SCRAM_PROVED, out -> scramProof(rest(in), out));
            case SASL_FINAL -> send(State.SCRAM_PROVED, State.SCRAM_VERIFIED, out -> scramVerified(rest(in)));
            default ->
                throw new AuthenticationException("PostgreSQL asks user \"" + user + "\" for " + method(code)
                        + ", which pgnear does not support: use scram-sha-256, md5, password or trust in pg_hba.conf.");
        };
    }

    private byte[] accepted() {
        if (state == State.SCRAM_STARTED || state == State.SCRAM_PROVED) {
            throw new AuthenticationException("The server ended the SCRAM login of user \"" + user
                    + "\" without proving that it knows the password: it may not be your PostgreSQL.");
        }
        state = State.DONE;
        return NOTHING;
    }

    private byte[] send(State expected, State next, Consumer<ByteBuf> message) {
        if (state != expected) {
            throw new PgProtocolException("an Authentication message came in the state " + state);
        }
        ByteBuf out = Unpooled.buffer();
        message.accept(out);
        state = next;
        return Arrays.copyOf(out.array(), out.writerIndex());
    }

    private void cleartext(ByteBuf out) {
        FrontendMessages.password(out, password());
    }

    private void md5(ByteBuffer in, ByteBuf out) {
        if (in.remaining() != 4) {
            throw new PgProtocolException("an MD5 challenge has no salt of four bytes");
        }
        byte[] salt = new byte[4];
        in.get(salt);
        FrontendMessages.password(out, "md5" + md5Hex(md5Hex(utf8(password() + user), NOTHING), salt));
    }

    /** One round of PostgreSQL's {@code md5(md5(password user) salt)}, in lower-case hexadecimal. */
    private static String md5Hex(byte[] text, byte[] salt) {
        try {
            MessageDigest md5 = MessageDigest.getInstance("MD5");
            md5.update(text);
            return HexFormat.of().formatHex(md5.digest(salt));
        } catch (NoSuchAlgorithmException e) {
            throw new AuthenticationException(
                    "PostgreSQL asks for an MD5 password and this Java has no MD5: use scram-sha-256.", e);
        }
    }

    private static String md5Hex(String text, byte[] salt) {
        return md5Hex(utf8(text), salt);
    }

    private void scramFirst(byte[] offered, ByteBuf out) {
        if (!mechanisms(offered).contains(SCRAM_SHA_256)) {
            throw new AuthenticationException("PostgreSQL offers user \"" + user + "\" only the SASL mechanisms "
                    + String.join(", ", mechanisms(offered)) + "; pgnear speaks " + SCRAM_SHA_256 + ".");
        }
        // The server takes the name from the StartupMessage and ignores the one in SCRAM.
        ScramClient client = ScramClient.builder()
                .advertisedMechanisms(List.of(SCRAM_SHA_256))
                .username("*")
                .password(password().toCharArray())
                .stringPreparation(StringPreparation.POSTGRESQL_PREPARATION)
                .build();
        scram = client;
        byte[] first = utf8(client.clientFirstMessage().toString());
        FrontendMessages.saslInitialResponse(out, SCRAM_SHA_256, first);
    }

    private static List<String> mechanisms(byte[] offered) {
        List<String> names = new ArrayList<>();
        for (String name : text(offered).split("\0")) {
            if (!name.isEmpty()) {
                names.add(name);
            }
        }
        return names;
    }

    private void scramProof(byte[] challenge, ByteBuf out) {
        ScramClient client = scram();
        try {
            ServerFirstMessage first = client.serverFirstMessage(text(challenge));
            if (first.getIterationCount() > Limits.SCRAM_ITERATIONS) {
                throw new AuthenticationException("PostgreSQL asks for " + first.getIterationCount()
                        + " SCRAM iterations, more than the limit of " + Limits.SCRAM_ITERATIONS
                        + ": lower scram_iterations and set the password again.");
            }
            byte[] proof = utf8(client.clientFinalMessage().toString());
            FrontendMessages.saslResponse(out, proof);
        } catch (ScramException | IllegalArgumentException e) {
            throw new PgProtocolException("the server's SCRAM challenge is malformed: " + e.getMessage(), e);
        }
    }

    private void scramVerified(byte[] signature) {
        try {
            scram().serverFinalMessage(text(signature));
        } catch (ScramException | IllegalArgumentException e) {
            throw new AuthenticationException(
                    "The server could not prove to know the password of user \"" + user
                            + "\" (SCRAM): it may not be your PostgreSQL.",
                    e);
        }
    }

    private ScramClient scram() {
        if (scram == null) {
            throw new PgProtocolException("a SCRAM message came before the mechanism was chosen");
        }
        return scram;
    }

    private String password() {
        if (password == null || password.isEmpty()) {
            throw new AuthenticationException("PostgreSQL asks for the password of user \"" + user
                    + "\" and none was given: put it into the URL (postgresql://user:password@host/database).");
        }
        return password;
    }

    private static String method(int code) {
        return switch (code) {
            case 2 -> "Kerberos V5";
            case 6 -> "SCM credentials";
            case 7, 8 -> "GSSAPI";
            case 9 -> "SSPI";
            default -> "the authentication method " + code;
        };
    }

    private static byte[] rest(ByteBuffer in) {
        byte[] bytes = new byte[in.remaining()];
        in.get(bytes);
        return bytes;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
