package dev.pgnear.pg.replication;

import static java.util.stream.Collectors.joining;

import dev.pgnear.coherence.CommittedTransaction;
import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.coherence.Snapshot;
import dev.pgnear.coherence.StreamApplier;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** Remembers what a stream says; can be made to take its time over a transaction. */
final class RecordingApplier implements StreamApplier {
    final List<CommittedTransaction> transactions = new CopyOnWriteArrayList<>();
    final List<String> downs = new CopyOnWriteArrayList<>();
    /** Names of the calls that are not about transactions, in order. */
    final List<String> calls = new CopyOnWriteArrayList<>();

    volatile long appliedLsn;
    volatile long catchUpTo;
    volatile @Nullable ServerIdentity server;
    volatile @Nullable Snapshot snapshot;
    volatile CountDownLatch gate = new CountDownLatch(0);

    @Override
    public void down(String reason) {
        downs.add(reason);
        calls.add("down");
    }

    @Override
    public void slotReady(ServerIdentity identity, Snapshot slotSnapshot, long startLsn) {
        server = identity;
        snapshot = slotSnapshot;
        appliedLsn = startLsn;
        calls.add("slotReady");
    }

    @Override
    public void catchUpTo(long lsn) {
        catchUpTo = lsn;
        calls.add("catchUpTo");
    }

    @Override
    public void apply(CommittedTransaction transaction, long endLsn) {
        transactions.add(transaction);
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        appliedLsn = Math.max(appliedLsn, endLsn);
    }

    @Override
    public void applied(long lsn) {
        appliedLsn = Math.max(appliedLsn, lsn);
    }

    /** What the transactions changed, one text each: {@code t[1,2] *u}: keys 1 and 2 of t, the whole of u. */
    List<String> changes() {
        return transactions.stream().map(RecordingApplier::text).toList();
    }

    static String text(CommittedTransaction t) {
        TreeSet<String> parts = new TreeSet<>();
        t.keys()
                .forEach((r, keys) -> parts.add(r.name()
                        + keys.stream()
                                .map(k -> ByteBuffer.wrap(k.bytes()).getLong())
                                .sorted()
                                .map(String::valueOf)
                                .collect(joining(",", "[", "]"))));
        t.relations().forEach(r -> parts.add("*" + r.name()));
        if (t.isEverything()) {
            parts.add("everything");
        }
        return String.join(" ", parts);
    }
}
