package dev.pgnear.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgnear.metrics.Stat;
import dev.pgnear.metrics.Stats;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AdminServerTest {
    private final Stats stats = new Stats();
    private final AtomicReference<String> reason = new AtomicReference<>("");
    private final HttpClient http = HttpClient.newHttpClient();
    private AdminServer admin;

    @BeforeEach
    void open() throws Exception {
        admin = AdminServer.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), stats, new Health() {
            @Override
            public String unreadyReason() {
                return reason.get();
            }

            @Override
            public Map<String, Object> status() {
                return Map.of("coherence", Map.of("mode", "tracked"));
            }
        });
    }

    @AfterEach
    void close() {
        admin.close();
        http.close();
    }

    private HttpResponse<String> call(String method, String path) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + admin.address().getPort() + path);
        HttpRequest request = HttpRequest.newBuilder(uri)
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void readyOnlyWhileThereIsNoReasonAgainstIt() throws Exception {
        assertThat(call("GET", "/readyz").statusCode()).isEqualTo(200);
        reason.set("PostgreSQL cannot be reached");
        HttpResponse<String> unready = call("GET", "/readyz");
        assertThat(unready.statusCode()).isEqualTo(503);
        assertThat(unready.body()).isEqualTo("PostgreSQL cannot be reached\n");
        assertThat(call("GET", "/healthz").statusCode()).isEqualTo(200);
    }

    @Test
    void pages() throws Exception {
        stats.register(Stat.CACHE_HITS, () -> 7);
        HttpResponse<String> metrics = call("GET", "/metrics");
        assertThat(metrics.body()).contains("\npgnear_cache_hits_total 7\n");
        assertThat(metrics.headers().firstValue("Content-Type"))
                .hasValueSatisfying(t -> assertThat(t).startsWith("text/plain; version=0.0.4"));
        assertThat(call("GET", "/status").body()).isEqualTo("{\"coherence\":{\"mode\":\"tracked\"}}");
        assertThat(call("GET", "/stats").body()).contains("\"cache_hits\":7");
        assertThat(call("HEAD", "/metrics").body()).isEmpty();
        assertThat(call("POST", "/metrics").statusCode()).isEqualTo(405);
        assertThat(call("GET", "/other").statusCode()).isEqualTo(404);
    }

    @Test
    void portInUse() {
        assertThatThrownBy(() -> AdminServer.open(admin.address(), stats, null))
                .isInstanceOf(AdminServer.BindFailure.class)
                .hasMessageContaining(
                        "because another process does; stop it, or choose another port with --http-port.");
    }
}
