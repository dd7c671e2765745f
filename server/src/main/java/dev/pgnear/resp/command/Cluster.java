package dev.pgnear.resp.command;

import dev.pgnear.resp.Errors;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.Session;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** {@code CLUSTER}: the answer of a cluster of one node that has all slots, for drivers in cluster mode. */
final class Cluster {
    private static final int SLOTS = 16_384;
    private static final int POLYNOMIAL = 0x1021;

    private Cluster() {}

    static void info(Session session, Request request, ReplyWriter reply) {
        String lines = """
                cluster_enabled:0
                cluster_state:ok
                cluster_slots_assigned:16384
                cluster_slots_ok:16384
                cluster_slots_pfail:0
                cluster_slots_fail:0
                cluster_known_nodes:1
                cluster_size:1
                cluster_current_epoch:1
                cluster_my_epoch:1
                """;
        reply.verbatim(lines.replace("\n", "\r\n"));
    }

    static void myId(Session session, Request request, ReplyWriter reply) {
        reply.bulk(id(session));
    }

    /** Forty hexadecimal digits that stay the same for an address. */
    private static String id(Session session) {
        String digits = "%016x".formatted(0x9E3779B97F4A7C15L * (host(session).hashCode() * 65_536L + port(session)));
        return (digits + digits + digits).substring(0, 40);
    }

    private static String host(Session session) {
        return session.client().channel().localAddress() instanceof InetSocketAddress inet
                ? inet.getAddress().getHostAddress()
                : "127.0.0.1";
    }

    private static int port(Session session) {
        return session.client().channel().localAddress() instanceof InetSocketAddress inet ? inet.getPort() : 0;
    }

    static void slots(Session session, Request request, ReplyWriter reply) {
        reply.array(1);
        reply.array(3);
        reply.integer(0);
        reply.integer(SLOTS - 1);
        reply.array(4);
        reply.bulk(host(session));
        reply.integer(port(session));
        reply.bulk(id(session));
        reply.array(0);
    }

    static void shards(Session session, Request request, ReplyWriter reply) {
        reply.array(1);
        reply.map(2);
        reply.bulk("slots");
        reply.array(2);
        reply.integer(0);
        reply.integer(SLOTS - 1);
        reply.bulk("nodes");
        reply.array(1);
        reply.map(7);
        pair(reply, "id", id(session));
        reply.bulk("port");
        reply.integer(port(session));
        pair(reply, "ip", host(session));
        pair(reply, "endpoint", host(session));
        pair(reply, "role", "master");
        reply.bulk("replication-offset");
        reply.integer(0);
        pair(reply, "health", "online");
    }

    private static void pair(ReplyWriter reply, String name, String value) {
        reply.bulk(name);
        reply.bulk(value);
    }

    static void nodes(Session session, Request request, ReplyWriter reply) {
        String address = host(session) + ":" + port(session) + "@" + (port(session) + 10_000);
        reply.verbatim(id(session) + " " + address + " myself,master - 0 0 1 connected 0-" + (SLOTS - 1) + "\n");
    }

    static void countKeysInSlot(Session session, Request request, ReplyWriter reply) {
        long slot = request.integer(2, Long.MIN_VALUE);
        if (slot == Long.MIN_VALUE) {
            reply.error(Errors.NOT_AN_INTEGER);
        } else if (slot < 0 || slot >= SLOTS) {
            reply.error("ERR Invalid slot");
        } else {
            reply.integer(0);
        }
    }

    static void keySlot(Session session, Request request, ReplyWriter reply) {
        reply.integer(slot(request.string(2)));
    }

    /** CRC16 (XMODEM) of the key, or of its hash tag, modulo 16384 (redis.io, "Redis cluster specification"). */
    static int slot(String key) {
        int open = key.indexOf('{');
        int close = open < 0 ? -1 : key.indexOf('}', open + 1);
        String hashed = close > open + 1 ? key.substring(open + 1, close) : key;
        int crc = 0;
        for (byte b : hashed.getBytes(StandardCharsets.UTF_8)) {
            crc ^= (b & 0xFF) << 8;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 0x8000) != 0 ? crc << 1 ^ POLYNOMIAL : crc << 1;
            }
            crc &= 0xFFFF;
        }
        return crc % SLOTS;
    }
}
