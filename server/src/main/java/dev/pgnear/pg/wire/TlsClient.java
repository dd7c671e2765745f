package dev.pgnear.pg.wire;

import dev.pgnear.pg.wire.PgTarget.SslMode;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * TLS towards PostgreSQL by the JDK's provider, for an event loop ({@link #engine}) and for a blocking socket ({@link #wrap}) alike. With
 * sslmode prefer and require the server's certificate is not looked at, as in libpq without a root certificate; with verify-full its chain
 * and the host name are checked. Immutable.
 */
public final class TlsClient {
    private final PgTarget target;
    private final SSLContext context;

    private TlsClient(PgTarget target, SSLContext context) {
        this.target = target;
        this.context = context;
    }

    /**
     * Reads the root certificate, if there is one.
     *
     * @throws IllegalArgumentException with one sentence for the user if the root certificate is not usable
     */
    public static TlsClient of(PgTarget target) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust(target), null);
            return new TlsClient(target, context);
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("TLS to PostgreSQL is not possible: " + e.getMessage() + ".", e);
        }
    }

    private static TrustManager @Nullable [] trust(PgTarget target) throws GeneralSecurityException {
        if (target.sslMode() != SslMode.VERIFY_FULL) {
            return new TrustManager[] {new TrustAnybody()};
        }
        String file = target.rootCertificate();
        return file == null ? null : trust(file);
    }

    private static TrustManager[] trust(String pemFile) throws GeneralSecurityException {
        KeyStore roots = KeyStore.getInstance(KeyStore.getDefaultType());
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        try (InputStream in = Files.newInputStream(Path.of(pemFile))) {
            roots.load(null, null);
            Collection<? extends Certificate> all =
                    CertificateFactory.getInstance("X.509").generateCertificates(in);
            int n = 0;
            for (Certificate c : all) {
                roots.setCertificateEntry("root" + n++, c);
            }
            if (n == 0) {
                throw new IOException("it contains no certificate");
            }
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "The file " + pemFile + " of sslrootcert is not usable as a list of PEM certificates: "
                            + e.getMessage() + ".",
                    e);
        }
        factory.init(roots);
        return factory.getTrustManagers();
    }

    /** A context whose trust follows the sslmode; does not check host names by itself, see {@link #parameters}. */
    public SSLContext context() {
        return context;
    }

    /** Parameters of one connection: with verify-full they demand that the certificate names the host. */
    public SSLParameters parameters() {
        SSLParameters p = context.getDefaultSSLParameters();
        if (target.sslMode() == SslMode.VERIFY_FULL) {
            p.setEndpointIdentificationAlgorithm("HTTPS");
        }
        return p;
    }

    /** An engine in client mode for one connection. */
    public SSLEngine engine() {
        SSLEngine engine = context.createSSLEngine(target.host(), target.port());
        engine.setUseClientMode(true);
        engine.setSSLParameters(parameters());
        return engine;
    }

    /**
     * Puts TLS on a connected socket whose server has answered {@code S} to an SSLRequest, and shakes hands.
     *
     * @throws IOException if that fails; {@link #explain} has the sentence for the user
     */
    public SSLSocket wrap(Socket socket) throws IOException {
        SSLSocket tls = (SSLSocket) context.getSocketFactory().createSocket(socket, target.host(), target.port(), true);
        tls.setSSLParameters(parameters());
        tls.startHandshake();
        return tls;
    }

    /** One sentence for the user about a handshake that failed. */
    public String explain(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return "TLS with PostgreSQL at " + target.authority() + " failed (sslmode="
                + target.sslMode().text() + "): " + root.getMessage() + advice();
    }

    private String advice() {
        return target.sslMode() == SslMode.VERIFY_FULL
                ? "; its certificate must be issued by the authority in sslrootcert and name the host \""
                        + target.host() + "\"."
                : ".";
    }

    /** The sentence for a server that answers {@code N} to an SSLRequest although TLS is demanded. */
    public static String refused(PgTarget target) {
        return "PostgreSQL at " + target.authority() + " does not offer TLS and sslmode="
                + target.sslMode().text() + " demands it: set ssl = on in postgresql.conf.";
    }

    /** Accepts every certificate, and, being an extended manager, every host name. */
    private static final class TrustAnybody extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
