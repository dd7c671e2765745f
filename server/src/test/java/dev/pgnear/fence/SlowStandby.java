package dev.pgnear.fence;

import dev.pgnear.TestPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.postgresql.PGConnection;
import org.postgresql.PGProperty;
import org.postgresql.replication.LogSequenceNumber;
import org.postgresql.replication.PGReplicationStream;

/** A physical standby in name only, which acknowledges what it has received as long as it is told to. */
final class SlowStandby implements AutoCloseable {
    private final Connection connection;
    private final PGReplicationStream stream;
    private final Thread thread;
    private final AtomicBoolean acknowledging = new AtomicBoolean(true);
    private final AtomicBoolean stop = new AtomicBoolean();

    SlowStandby(TestPostgres pg, String name) throws SQLException {
        Properties p = new Properties();
        PGProperty.USER.set(p, "postgres");
        PGProperty.REPLICATION.set(p, "true");
        PGProperty.ASSUME_MIN_SERVER_VERSION.set(p, "10");
        PGProperty.PREFER_QUERY_MODE.set(p, "simple");
        PGProperty.APPLICATION_NAME.set(p, name);
        connection = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + pg.port() + "/postgres", p);
        stream = connection
                .unwrap(PGConnection.class)
                .getReplicationAPI()
                .replicationStream()
                .physical()
                .withStartPosition(LogSequenceNumber.valueOf(pg.query("SELECT pg_current_wal_flush_lsn()")))
                .withStatusInterval(1, java.util.concurrent.TimeUnit.HOURS)
                .start();
        thread = Thread.ofPlatform().name("slow standby").start(this::run);
    }

    private void run() {
        try {
            while (!stop.get()) {
                while (stream.readPending() != null) {
                    // only the position matters
                }
                if (acknowledging.get()) {
                    LogSequenceNumber received = stream.getLastReceiveLSN();
                    stream.setFlushedLSN(received);
                    stream.setAppliedLSN(received);
                    stream.forceUpdateStatus();
                }
                Thread.sleep(1);
            }
        } catch (SQLException | InterruptedException e) {
            if (!stop.get()) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** From now on commits wait. */
    void hold() {
        acknowledging.set(false);
    }

    /** Lets them through. */
    void release() {
        acknowledging.set(true);
    }

    @Override
    public void close() throws Exception {
        stop.set(true);
        thread.join();
        connection.close();
    }
}
