package dev.pgnear.torture;

import dev.pgnear.TestPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * One session that changes rows in all the ways there are. Each change of a key first takes the key's next version from {@code versions} (and
 * keeps its row lock), so that the auditor can order them. A transaction that will be rolled back writes rows marked so.
 */
public final class Writer implements Runnable {
    private final TestPostgres pg;
    private final Auditor auditor;
    private final int keys;
    private final SplittableRandom random;
    private final AtomicBoolean stop;
    private final AtomicLong commits;
    private final boolean survivesFaults;
    private final Map<Integer, Map.Entry<Long, Boolean>> changes = new LinkedHashMap<>();

    /** @param survivesFaults connects again after a lost connection, and commits only synchronously (a crash may take back the others) */
    public Writer(
            TestPostgres pg,
            Auditor auditor,
            int keys,
            long seed,
            AtomicBoolean stop,
            AtomicLong commits,
            boolean survivesFaults) {
        this.survivesFaults = survivesFaults;
        this.pg = pg;
        this.auditor = auditor;
        this.keys = keys;
        this.random = new SplittableRandom(seed);
        this.stop = stop;
        this.commits = commits;
    }

    @Override
    public void run() {
        do {
            session();
        } while (survivesFaults && !stop.get());
    }

    private void session() {
        try (Connection c = pg.connect()) {
            c.setAutoCommit(false);
            while (!stop.get()) {
                try {
                    transaction(c);
                } catch (SQLException e) {
                    c.rollback();
                    if (!"40P01".equals(e.getSQLState()) && !"23505".equals(e.getSQLState())) {
                        throw e;
                    }
                }
            }
        } catch (SQLException e) {
            if (!survivesFaults) {
                auditor.violation("a writer failed: " + e);
            } else {
                LockSupport.parkNanos(20_000_000);
            }
        }
    }

    private void transaction(Connection c) throws SQLException {
        changes.clear();
        boolean asynchronous = random.nextInt(4) == 0 && !survivesFaults;
        boolean rollBack = random.nextInt(6) == 0;
        try (Statement s = c.createStatement()) {
            s.execute("SET LOCAL synchronous_commit = " + (asynchronous ? "off" : "on"));
            int kind = random.nextInt(1000);
            if (kind < 500) {
                put(c, random.nextInt(keys), rollBack);
            } else if (kind < 600) {
                remove(c, random.nextInt(keys));
            } else if (kind < 700) {
                move(c, rollBack);
            } else if (kind < 850) {
                for (int i = 2 + random.nextInt(6); i > 0; i--) {
                    put(c, random.nextInt(keys), rollBack);
                }
            } else if (kind < 995) {
                savepoints(c, rollBack);
            } else {
                truncate(c, rollBack);
            }
        }
        if (rollBack) {
            c.rollback();
            return;
        }
        changes.forEach((k, v) -> auditor.announce(k, v.getKey(), v.getValue()));
        c.commit();
        long now = System.nanoTime();
        changes.forEach((k, v) -> auditor.confirm(k, v.getKey(), !asynchronous, now));
        commits.incrementAndGet();
    }

    private long next(Connection c, int key) throws SQLException {
        try (PreparedStatement p =
                c.prepareStatement("UPDATE versions SET version = version + 1 WHERE id = ? RETURNING version")) {
            p.setInt(1, key);
            try (ResultSet r = p.executeQuery()) {
                r.next();
                return r.getLong(1);
            }
        }
    }

    private void put(Connection c, int key, boolean doomed) throws SQLException {
        long version = next(c, key);
        try (PreparedStatement p = c.prepareStatement(
                "INSERT INTO torture VALUES (?, ?, ?, ?)"
                        + " ON CONFLICT (id) DO UPDATE SET version = excluded.version, doomed = excluded.doomed, pad = excluded.pad")) {
            p.setLong(1, key);
            p.setLong(2, version);
            p.setBoolean(3, doomed);
            p.setString(4, "x".repeat(random.nextInt(300)));
            p.executeUpdate();
        }
        changes.put(key, Map.entry(version, true));
    }

    private void remove(Connection c, int key) throws SQLException {
        long version = next(c, key);
        try (PreparedStatement p = c.prepareStatement("DELETE FROM torture WHERE id = ?")) {
            p.setLong(1, key);
            p.executeUpdate();
        }
        changes.put(key, Map.entry(version, false));
    }

    /** Moves a row to another key; if there is none, or the other is taken, it is removed there first. */
    private void move(Connection c, boolean doomed) throws SQLException {
        int from = random.nextInt(keys);
        int to = (from + 1 + random.nextInt(keys - 1)) % keys;
        remove(c, to);
        long gone = next(c, from);
        long here = next(c, to);
        try (PreparedStatement p =
                c.prepareStatement("UPDATE torture SET id = ?, version = ?, doomed = ? WHERE id = ?")) {
            p.setLong(1, to);
            p.setLong(2, here);
            p.setBoolean(3, doomed);
            p.setLong(4, from);
            changes.put(to, Map.entry(here, p.executeUpdate() == 1));
        }
        changes.put(from, Map.entry(gone, false));
    }

    private void savepoints(Connection c, boolean doomed) throws SQLException {
        put(c, random.nextInt(keys), doomed);
        Map<Integer, Map.Entry<Long, Boolean>> before = new LinkedHashMap<>(changes);
        Savepoint sp = c.setSavepoint();
        put(c, random.nextInt(keys), true);
        remove(c, random.nextInt(keys));
        c.rollback(sp);
        changes.clear();
        changes.putAll(before);
        put(c, random.nextInt(keys), doomed);
    }

    private void truncate(Connection c, boolean doomed) throws SQLException {
        try (Statement s = c.createStatement();
                ResultSet r = s.executeQuery("UPDATE versions SET version = version + 1 RETURNING id, version")) {
            while (r.next()) {
                changes.put(r.getInt(1), Map.entry(r.getLong(2), false));
            }
        }
        try (Statement s = c.createStatement()) {
            s.execute("TRUNCATE torture");
        }
        for (int i = random.nextInt(4); i > 0; i--) {
            put(c, random.nextInt(keys), doomed);
        }
    }
}
