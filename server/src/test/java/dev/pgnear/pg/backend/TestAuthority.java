package dev.pgnear.pg.backend;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/** A certificate authority of a test's own, by the openssl command (much faster to start than keytool). */
final class TestAuthority {
    private final Path folder;
    private final String name;

    TestAuthority(Path folder, String name) throws IOException, InterruptedException {
        this.folder = folder;
        this.name = name;
        certificate(name, key(), root(), List.of("-addext", "basicConstraints=critical,CA:TRUE"));
    }

    /** PEM file with the authority's own certificate. */
    Path root() {
        return folder.resolve(name + ".crt");
    }

    private Path key() {
        return folder.resolve(name + ".key");
    }

    /** Writes server.crt and server.key for a certificate with that subjectAltName, as {@code DNS:localhost}. */
    void issue(String alternativeName, Path serverFolder) throws IOException, InterruptedException {
        Path key = serverFolder.resolve("server.key");
        certificate(
                "server",
                key,
                serverFolder.resolve("server.crt"),
                List.of(
                        "-CA",
                        root().toString(),
                        "-CAkey",
                        key().toString(),
                        "-addext",
                        "subjectAltName=" + alternativeName));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    }

    private static void certificate(String subject, Path key, Path certificate, List<String> more)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=" + subject,
                "-keyout",
                key.toString(),
                "-out",
                certificate.toString()));
        command.addAll(more);
        Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (p.waitFor() != 0) {
            throw new IOException(command + ": " + output);
        }
    }
}
