package dev.pgnear;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A blocking client with nothing hidden: what is sent and what comes back. Errors come back as {@link Failure}. */
public final class RespClient implements AutoCloseable {
    /** An error reply. */
    public record Failure(String text) {}

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    public RespClient(int port) throws IOException {
        socket = new Socket();
        socket.connect(new InetSocketAddress("127.0.0.1", port), 5000);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(20_000);
        in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
        out = new BufferedOutputStream(socket.getOutputStream(), 1 << 16);
    }

    /** Sends one command and reads its reply: String, Long, List, null or {@link Failure}. */
    public @Nullable Object call(String... words) throws IOException {
        send(words);
        flush();
        return read();
    }

    /** The row's JSON or null; any other reply is an exception. */
    public @Nullable String get(String key) throws IOException {
        Object r = call("GET", key);
        if (r == null || r instanceof String) {
            return (String) r;
        }
        throw new IOException("GET " + key + ": " + r);
    }

    public void send(String... words) throws IOException {
        out.write(("*" + words.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
        for (String w : words) {
            byte[] b = w.getBytes(StandardCharsets.UTF_8);
            out.write(("$" + b.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
            out.write(b);
            out.write('\r');
            out.write('\n');
        }
    }

    public void flush() throws IOException {
        out.flush();
    }

    public @Nullable Object read() throws IOException {
        int type = in.read();
        if (type < 0) {
            throw new EOFException("the server closed the connection");
        }
        String line = line();
        return switch (type) {
            case '+' -> line;
            case '-' -> new Failure(line);
            case ':' -> Long.parseLong(line);
            case '$', '=' -> bulk(Integer.parseInt(line));
            case '*', '~', '>' -> array(Integer.parseInt(line));
            case '%' -> array(2 * Integer.parseInt(line));
            case '_' -> null;
            case '#' -> line.equals("t");
            case ',' -> Double.parseDouble(line);
            default -> throw new IOException("reply type " + (char) type);
        };
    }

    private @Nullable String bulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] b = in.readNBytes(length + 2);
        if (b.length < length + 2) {
            throw new EOFException("the server closed the connection inside a reply");
        }
        return new String(b, 0, length, StandardCharsets.UTF_8);
    }

    private @Nullable List<@Nullable Object> array(int count) throws IOException {
        if (count < 0) {
            return null;
        }
        List<@Nullable Object> l = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            l.add(read());
        }
        return l;
    }

    private String line() throws IOException {
        StringBuilder b = new StringBuilder();
        int c;
        while ((c = in.read()) != '\r') {
            if (c < 0) {
                throw new EOFException("the server closed the connection inside a reply");
            }
            b.append((char) c);
        }
        in.read();
        return b.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
