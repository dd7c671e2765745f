package dev.pgnear;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** A link that can be cut without a FIN: bytes stop, both ends stay open. New connections while cut are accepted and stay silent. */
public final class TcpProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final int target;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile boolean cut;
    private volatile boolean closed;

    public TcpProxy(int target) throws IOException {
        this.target = target;
        this.listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().name("proxy").start(this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** No byte passes any more; those connections are lost for good, as after a router lost its state. */
    public void cut() {
        cut = true;
    }

    /** New connections work again; the old ones stay silent. */
    public void heal() {
        Set<Socket> old = Set.copyOf(sockets);
        silent.addAll(old);
        cut = false;
    }

    private final Set<Socket> silent = ConcurrentHashMap.newKeySet();

    private void accept() {
        while (!closed) {
            try {
                Socket client = listener.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                sockets.add(client);
                sockets.add(server);
                Thread.ofVirtual().start(() -> pump(client, server));
                Thread.ofVirtual().start(() -> pump(server, client));
            } catch (IOException e) {
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private void pump(Socket from, Socket to) {
        byte[] buffer = new byte[1 << 16];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            int n;
            while ((n = in.read(buffer)) >= 0) {
                while ((cut || silent.contains(from)) && !closed) {
                    LockSupport.parkNanos(5_000_000);
                }
                out.write(buffer, 0, n);
            }
            while ((cut || silent.contains(from)) && !closed) {
                LockSupport.parkNanos(5_000_000);
            }
            to.close();
        } catch (IOException e) {
            try {
                if (!cut && !silent.contains(from)) {
                    from.close();
                    to.close();
                }
            } catch (IOException again) {
                // both ends are gone
            }
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        listener.close();
        for (Socket s : sockets) {
            s.close();
        }
    }
}
