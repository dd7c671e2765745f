package dev.pgnear.admin;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.pgnear.metrics.PrometheusText;
import dev.pgnear.metrics.Stats;
import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import tools.jackson.databind.json.JsonMapper;

/**
 * The operators' HTTP door: {@code /metrics} (Prometheus text), {@code /healthz} (200 while the process lives), {@code /readyz} (200 only
 * while PostgreSQL is reachable and the stream is ready, else 503 with the reason), {@code /status} (JSON), {@code /stats} (JSON). Each
 * request runs on a virtual thread of its own; nothing here is on the way of a read.
 */
public final class AdminServer implements AutoCloseable {
    /** The address cannot be listened on; the message is one sentence for the user. */
    public static final class BindFailure extends Exception {
        BindFailure(String message, Throwable cause) {
            super(message, cause);
        }
    }

    private record Page(int status, String type, String body) {
        static Page text(int status, String body) {
            return new Page(status, "text/plain; charset=utf-8", body + "\n");
        }
    }

    private static final int BACKLOG = 64;
    private static final String JSON = "application/json";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private AdminServer(HttpServer server) {
        this.server = server;
    }

    /**
     * Listens.
     *
     * @param address port 0 takes a free one
     * @throws BindFailure if the address is in use or not ours
     */
    public static AdminServer open(InetSocketAddress address, Stats stats, Health health) throws BindFailure {
        try {
            AdminServer admin = new AdminServer(HttpServer.create(address, BACKLOG));
            admin.start(stats, health);
            return admin;
        } catch (IOException e) {
            String where = address.getHostString() + ":" + address.getPort();
            String why =
                    e instanceof BindException && String.valueOf(e.getMessage()).contains("in use")
                            ? " because another process does; stop it, or choose another port with --http-port."
                            : " (" + e.getMessage() + "); check --bind and --http-port.";
            throw new BindFailure("The http door cannot listen on " + where + why, e);
        }
    }

    private void start(Stats stats, Health health) {
        JsonMapper json = JsonMapper.shared();
        Map<String, Supplier<Page>> pages = Map.of(
                "/metrics",
                () -> new Page(200, PrometheusText.CONTENT_TYPE, PrometheusText.of(stats)),
                "/healthz",
                () -> Page.text(200, "ok"),
                "/readyz",
                () -> ready(health.unreadyReason()),
                "/status",
                () -> new Page(200, JSON, json.writeValueAsString(health.status())),
                "/stats",
                () -> new Page(200, JSON, stats.json()));
        server.createContext("/", exchange -> answer(exchange, pages));
        server.setExecutor(threads);
        server.start();
    }

    private static Page ready(String unreadyReason) {
        return unreadyReason.isEmpty() ? Page.text(200, "ready") : Page.text(503, unreadyReason);
    }

    private static void answer(HttpExchange exchange, Map<String, Supplier<Page>> pages) throws IOException {
        try (exchange) {
            Supplier<Page> page = pages.get(exchange.getRequestURI().getPath());
            String method = exchange.getRequestMethod();
            if (page == null) {
                send(exchange, Page.text(404, "there is /metrics, /healthz, /readyz, /status, /stats"));
            } else if (!method.equals("GET") && !method.equals("HEAD")) {
                send(exchange, Page.text(405, "only GET"));
            } else {
                send(exchange, page.get());
            }
        }
    }

    private static void send(HttpExchange exchange, Page page) throws IOException {
        byte[] body = page.body().getBytes(StandardCharsets.UTF_8);
        boolean head = exchange.getRequestMethod().equals("HEAD");
        exchange.getResponseHeaders().set("Content-Type", page.type());
        exchange.sendResponseHeaders(page.status(), head ? -1 : body.length);
        if (!head) {
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        }
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return server.getAddress();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.close();
    }
}
