package dev.pgnear.rows;

import dev.pgnear.base.Limits;
import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.coherence.Snapshot;
import dev.pgnear.pg.backend.DataRow;
import dev.pgnear.pg.backend.ResultHandler;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One fill query under way: which keys it asks for and what has come of it. Lives on its loop. */
final class FillBatch implements ResultHandler {
    /** A key of the batch and who gets its row. */
    interface Item {
        /** Canonical key. */
        byte[] key();

        /** The row, or null if it is absent. */
        void arrived(ServerIdentity server, Snapshot snapshot, long lsn, byte @Nullable [] row);

        /** No row. */
        void failed(Throwable cause);
    }

    /** Sends a part of a failed batch again. */
    interface Resend {
        void send(FillQuery query, List<Item> items);
    }

    private final FillQuery query;
    private final List<Item> items;
    private final Resend resend;
    private final byte[] @Nullable [] rows;
    private final boolean[] seen;
    private final boolean[] tooLarge;
    private @Nullable Snapshot snapshot;
    private long lsn;

    FillBatch(FillQuery query, List<Item> items, Resend resend) {
        this.query = query;
        this.items = items;
        this.resend = resend;
        this.rows = new byte[items.size()][];
        this.seen = new boolean[items.size()];
        this.tooLarge = new boolean[items.size()];
    }

    @Override
    public void row(DataRow row) {
        int i = Math.toIntExact(row.getLong(FillQuery.ORD)) - 1;
        if (seen[i]) {
            throw new IllegalStateException("PostgreSQL has two rows of one primary key; is its index damaged?");
        }
        seen[i] = true;
        if (!row.isNull(FillQuery.DOC_LENGTH)) {
            query.sawRow(row.getInt(FillQuery.DOC_LENGTH));
            tooLarge[i] = row.isNull(FillQuery.DOC) || row.length(FillQuery.DOC) > Limits.ROW_BYTES;
            rows[i] = tooLarge[i] ? null : row.getBytes(FillQuery.DOC);
        }
        if (!row.isNull(FillQuery.SNAPSHOT)) {
            snapshot = snapshot(row);
            lsn = row.getLong(FillQuery.LSN);
        }
    }

    /** pg_snapshot_send (xid8funcs.c): int4 count, int8 xmin, int8 xmax, the xids in ascending order. */
    private static Snapshot snapshot(DataRow row) {
        ByteBuf in = row.buffer();
        int at = row.index(FillQuery.SNAPSHOT);
        long[] running = new long[in.getInt(at)];
        Arrays.setAll(running, i -> in.getLong(at + 20 + 8 * i));
        return new Snapshot(in.getLong(at + 4), in.getLong(at + 12), running);
    }

    @Override
    public void complete(ServerIdentity server) {
        for (int i = 0; i < items.size(); i++) {
            try {
                complete(i, server);
            } catch (RuntimeException e) {
                items.get(i).failed(e); // and the others still get theirs
            }
        }
    }

    private void complete(int i, ServerIdentity server) {
        Snapshot taken = snapshot;
        if (taken == null || !seen[i]) {
            throw new IllegalStateException("PostgreSQL's answer to a fill lacks a key");
        }
        if (tooLarge[i]) {
            items.get(i).failed(new RowErrors.RowTooLarge());
        } else {
            items.get(i).arrived(server, taken, lsn, rows[i]);
        }
    }

    @Override
    public void failed(Throwable cause) {
        if (items.size() > 1 && RowErrors.isOfOneKey(cause)) {
            // Some key's value or row is at fault. Halves find it in few queries and let the others have their rows.
            int half = items.size() / 2;
            resend.send(query, items.subList(0, half));
            resend.send(query, items.subList(half, items.size()));
            return;
        }
        for (Item item : items) {
            item.failed(cause);
        }
    }
}
