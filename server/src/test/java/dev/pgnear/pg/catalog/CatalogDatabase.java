package dev.pgnear.pg.catalog;

import dev.pgnear.TestPostgres;
import dev.pgnear.pg.wire.PgTarget;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** A database of a test's own on a shared server, with a slot of its own that catches pgnear's messages. */
final class CatalogDatabase implements AutoCloseable {
    private static final AtomicInteger NUMBER = new AtomicInteger();

    final TestPostgres server;
    final String name = "catalog" + NUMBER.incrementAndGet();
    private final Connection connection;

    CatalogDatabase(TestPostgres server) throws SQLException {
        this(server, "postgres");
    }

    /** A database owned by somebody; the connection of {@link #sql} is still the superuser's. */
    CatalogDatabase(TestPostgres server, String owner) throws SQLException {
        this.server = server;
        server.sql("create database " + name + " owner " + owner);
        connection = server.connect("postgres", name);
    }

    PgTarget target() {
        return target("postgres");
    }

    PgTarget target(String user) {
        return PgTarget.parse("postgresql://" + user + "@127.0.0.1:" + server.port() + "/" + name);
    }

    void setup() {
        Setup.install(target(), null);
    }

    /** Begins to catch messages. */
    void listen() throws SQLException {
        sql("select pg_create_logical_replication_slot('" + name + "', 'pgoutput')");
    }

    /** What was committed since the last call, in commit order. */
    List<String> messages() throws SQLException {
        List<String> all = new ArrayList<>();
        // The test server commits without a flush; this commit flushes itself and what was before it.
        sql("set synchronous_commit = on", "select pg_logical_emit_message(true, 'flush', '')");
        try (Statement s = connection.createStatement();
                ResultSet r = s.executeQuery("select data from pg_logical_slot_get_binary_changes('" + name
                        + "', null, null, 'proto_version', '1', 'publication_names', 'pgnear', 'messages', 'true')")) {
            while (r.next()) {
                ByteBuffer b = ByteBuffer.wrap(r.getBytes(1));
                if (b.get() == 'M') {
                    all.add(message(b));
                    all.remove("flush!");
                }
            }
        }
        return all;
    }

    /** pgoutput's Message: flags, LSN, prefix, length, content ("Logical Replication Message Formats"). */
    private static String message(ByteBuffer b) {
        boolean transactional = b.get() == 1;
        b.getLong();
        StringBuilder prefix = new StringBuilder();
        for (byte c = b.get(); c != 0; c = b.get()) {
            prefix.append((char) c);
        }
        byte[] content = new byte[b.getInt()];
        b.get(content);
        return (prefix.toString().equals("pgnear") ? "" : prefix + "!")
                + (transactional ? "" : "not transactional!")
                + new String(content, StandardCharsets.UTF_8);
    }

    /** Runs statements as the superuser, each by itself. */
    void sql(String... statements) throws SQLException {
        try (Statement s = connection.createStatement()) {
            for (String x : statements) {
                s.execute(x);
            }
        }
    }

    /** Runs statements as somebody else, each by itself. */
    void sqlAs(String user, String... statements) throws SQLException {
        try (Connection c = server.connect(user, name);
                Statement s = c.createStatement()) {
            for (String x : statements) {
                s.execute(x);
            }
        }
    }

    /** First column of the first row as text, or null. */
    String query(String sql) throws SQLException {
        try (Statement s = connection.createStatement();
                ResultSet r = s.executeQuery(sql)) {
            return r.next() ? r.getString(1) : null;
        }
    }

    String oid(String table) throws SQLException {
        return query("select '" + table + "'::regclass::oid");
    }

    boolean published(String table) throws SQLException {
        return "t".equals(query("select local_cache.is_published('" + table + "'::regclass)"));
    }

    /** SQLSTATE, message and hint of what the statement is refused with, or "no error". */
    String refusal(String sql) {
        try {
            sql(sql);
            return "no error";
        } catch (SQLException e) {
            return describe(e);
        }
    }

    static String describe(SQLException e) {
        ServerErrorMessage m = ((PSQLException) e).getServerErrorMessage();
        return m == null ? e.toString() : m.getSQLState() + " " + m.getMessage() + " | " + m.getHint();
    }

    @Override
    public void close() throws SQLException {
        try (Connection c = connection;
                Statement s = c.createStatement()) {
            s.execute("select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '" + name
                    + "'");
        }
        server.sql("drop database " + name + " with (force)");
    }
}
