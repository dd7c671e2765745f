package dev.pgnear.pg.replication;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

/** Forwards TCP connections, and can cut those that exist without a FIN: they stay open and nothing passes any more. */
final class TcpProxy implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int targetPort;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private volatile AtomicBoolean cut = new AtomicBoolean();

    TcpProxy(int targetPort) throws IOException {
        this.targetPort = targetPort;
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    /** Nothing passes any more on the connections of now; new ones work. */
    void cut() {
        cut.set(true);
        cut = new AtomicBoolean();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), targetPort);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                sockets.add(client);
                sockets.add(server);
                AtomicBoolean mine = cut;
                Thread.ofVirtual().start(() -> forward(client, server, mine));
                Thread.ofVirtual().start(() -> forward(server, client, mine));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private static void forward(Socket from, Socket to, AtomicBoolean cut) {
        byte[] buffer = new byte[1 << 16];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int n = in.read(buffer); n >= 0 && !cut.get(); n = in.read(buffer)) {
                out.write(buffer, 0, n);
            }
            if (!cut.get()) {
                to.close();
                from.close();
            }
        } catch (IOException e) {
            // one side is gone
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket s : sockets) {
            s.close();
        }
    }
}
