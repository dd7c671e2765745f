package dev.pgnear.resp;

import dev.pgnear.base.Limits;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Set;

/**
 * The passwords of the RESP door, one a line of the token file; kept as SHA-256 only. A presented password is compared with each of them in
 * time that depends on neither the password nor where it differs.
 */
public final class AccessTokens {
    /** Everybody may enter. */
    public static final AccessTokens NONE = new AccessTokens(List.of());

    private static final Set<PosixFilePermission> ALLOWED =
            Set.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

    /** The door may not be opened like this; the message is one sentence for the user. */
    public static final class AccessException extends Exception {
        AccessException(String message) {
            super(message);
        }
    }

    private final List<byte[]> hashes;
    private final int shortest;

    private AccessTokens(List<byte[]> tokens) {
        this.hashes = tokens.stream().map(AccessTokens::sha256).toList();
        this.shortest = tokens.stream().mapToInt(t -> t.length).min().orElse(0);
    }

    /** Of these tokens. */
    public static AccessTokens of(String... tokens) {
        return new AccessTokens(List.of(tokens).stream()
                .map(t -> t.getBytes(StandardCharsets.UTF_8))
                .toList());
    }

    /**
     * Reads a token file: one token a line, empty lines ignored.
     *
     * @throws AccessException if it is not a plain file of its owner's alone, or has no token
     */
    public static AccessTokens read(Path file) throws AccessException {
        check(file);
        try {
            String[] lines = Files.readString(file)
                    .lines()
                    .map(String::strip)
                    .filter(l -> !l.isEmpty())
                    .toArray(String[]::new);
            if (lines.length == 0) {
                throw new AccessException(
                        "the access token file " + file + " is empty; write one token a line into it");
            }
            return of(lines);
        } catch (IOException e) {
            throw new AccessException(
                    "the access token file " + file + " cannot be read (" + e.getMessage() + "); check its owner");
        }
    }

    private static void check(Path file) throws AccessException {
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new AccessException("the access token file " + file + " does not exist; create it with mode 0600");
        }
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new AccessException("the access token file " + file
                    + " is not a plain file (symbolic links are not followed); name the file itself");
        }
        try {
            if (!ALLOWED.containsAll(Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS))) {
                throw new AccessException(
                        "the access token file " + file + " can be read or changed by others; run chmod 600 on it");
            }
        } catch (IOException | UnsupportedOperationException e) {
            throw new AccessException("the permissions of the access token file " + file
                    + " cannot be read; keep it on a POSIX file system");
        }
    }

    /**
     * The rule of who may be listened to without a password.
     *
     * @throws AccessException if the address can be reached by others and the tokens do not protect it
     */
    public void checkAddress(InetAddress address) throws AccessException {
        if (address.isLoopbackAddress()) {
            return;
        }
        if (!required()) {
            throw new AccessException("refusing to listen on " + address.getHostAddress()
                    + " without a password; give --auth-token-file, or bind to 127.0.0.1");
        }
        if (shortest < Limits.TOKEN_BYTES) {
            throw new AccessException("an access token of fewer than " + Limits.TOKEN_BYTES
                    + " bytes is too weak for " + address.getHostAddress()
                    + "; generate one with: head -c 32 /dev/urandom | base64");
        }
    }

    /** Whether a password is needed. */
    public boolean required() {
        return !hashes.isEmpty();
    }

    /** Whether the password is one of the tokens; looks at all of them in any case. */
    public boolean accepts(byte[] password) {
        byte[] hash = sha256(password);
        boolean found = false;
        for (byte[] known : hashes) {
            found |= MessageDigest.isEqual(known, hash);
        }
        return found;
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
