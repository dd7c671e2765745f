package dev.pgnear.resp;

import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/**
 * What CLIENT LIST and CLIENT KILL may know of a connection. Written by the connection's loop, read by any: plain fields of immutable
 * values, of which another loop may see an older one.
 */
public final class Client {
    private final long id;
    private final Channel channel;
    private final long createdNanos;
    private String name = "";
    private String libName = "";
    private String libVersion = "";
    private String lastCommand = "NULL";
    private long activeNanos;
    private int protocol = 2;
    private boolean noEvict;

    Client(long id, Channel channel, long nowNanos) {
        this.id = id;
        this.channel = channel;
        this.createdNanos = nowNanos;
        this.activeNanos = nowNanos;
    }

    /** Never used again by another connection of this process. */
    public long id() {
        return id;
    }

    /** Its channel. */
    public Channel channel() {
        return channel;
    }

    /** As {@code ip:port}. */
    public String address() {
        return text(channel.remoteAddress());
    }

    /** The door's address that it came to. */
    public String localAddress() {
        return text(channel.localAddress());
    }

    private static String text(SocketAddress address) {
        return address instanceof InetSocketAddress inet && inet.getAddress() != null
                ? inet.getAddress().getHostAddress() + ":" + inet.getPort()
                : String.valueOf(address);
    }

    /** From CLIENT SETNAME or HELLO, or empty. */
    public String name() {
        return name;
    }

    /** See {@link #name()}. */
    public void name(String newName) {
        name = newName;
    }

    /** From CLIENT SETINFO. */
    public void library(String newName) {
        libName = newName;
    }

    /** From CLIENT SETINFO. */
    public void libraryVersion(String version) {
        libVersion = version;
    }

    /** From CLIENT NO-EVICT; it has no effect, since clients are never evicted. */
    public void noEvict(boolean on) {
        noEvict = on;
    }

    /** Protocol version, for the listing. */
    public void protocol(int version) {
        protocol = version;
    }

    void active(long nanos) {
        activeNanos = nanos;
    }

    void lastCommand(String command) {
        lastCommand = command;
    }

    /** One line of CLIENT LIST, in the order of Redis 7.2. */
    public String line(long nowNanos) {
        return "id=" + id + " addr=" + address() + " laddr=" + localAddress() + " fd=-1 name=" + name + " age="
                + seconds(nowNanos - createdNanos) + " idle=" + seconds(nowNanos - activeNanos)
                + " flags=" + (noEvict ? "e" : "N")
                + " db=0 sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0"
                + " events=r cmd=" + lastCommand + " user=default redir=-1 resp=" + protocol + " lib-name="
                + libName + " lib-ver=" + libVersion + "\n";
    }

    private static long seconds(long nanos) {
        return Math.max(nanos, 0) / 1_000_000_000;
    }
}
