package dev.pgnear.pg.replication;

import dev.pgnear.base.Limits;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decodes pgoutput, protocol version 2 (PostgreSQL documentation, "Logical Replication Message Formats"), in place from a reused buffer.
 *
 * <p>Messages of version 2 are those of version 1, plus the chunks of transactions in progress: between Stream Start and Stream Stop every
 * message carries the xid of the (sub)transaction that it belongs to right after its type. A message that is not understood is an error: a
 * change that was overlooked would leave a stale row for ever. Not thread-safe.
 */
final class PgOutputDecoder {
    private static final String PREFIX = "pgnear";

    private final PgOutputHandler handler;
    private final MessageReader in = new MessageReader();
    private final TupleData oldRow = new TupleData();
    private final TupleData newRow = new TupleData();
    private boolean inChunk;

    PgOutputDecoder(PgOutputHandler handler) {
        this.handler = handler;
    }

    /**
     * Decodes one message.
     *
     * @param cut whether the message goes on beyond {@code to}, because it is longer than is looked at
     */
    void decode(byte[] buffer, int from, int to, boolean cut) throws StreamProtocolException {
        in.over(buffer, from, to);
        int type = in.u8();
        if (cut) {
            decodeCut(type);
            return;
        }
        switch (type) {
            case 'I' -> insert();
            case 'U' -> update();
            case 'D' -> delete();
            case 'B' -> begin();
            case 'C' -> commit();
            case 'R' -> relation();
            case 'T' -> truncate();
            case 'M' -> message(false);
            case 'Y' -> type();
            case 'O' -> origin();
            case 'S' -> streamStart();
            case 'E' -> streamStop();
            case 'c' -> streamCommit();
            case 'A' -> streamAbort();
            default -> throw unknown(type);
        }
        in.mustBeAtEnd();
    }

    private static StreamProtocolException unknown(int type) {
        return new StreamProtocolException("a replication message of unknown type " + (char) type);
    }

    private void decodeCut(int type) throws StreamProtocolException {
        switch (type) {
            case 'I', 'U', 'D' -> handler.whole(xid(), in.i32());
            case 'M' -> message(true);
            default ->
                throw new StreamProtocolException("a replication message of type " + (char) type + " is too long");
        }
    }

    private int xid() throws StreamProtocolException {
        return inChunk ? in.i32() : 0;
    }

    private void begin() throws StreamProtocolException {
        long finalLsn = in.i64();
        in.i64(); // time of the commit
        handler.begin(in.i32(), finalLsn);
    }

    private void commit() throws StreamProtocolException {
        in.u8(); // flags, unused
        in.i64(); // begin of the commit record
        long end = in.i64();
        in.i64(); // time
        in.mustBeAtEnd();
        handler.commit(end);
    }

    private void insert() throws StreamProtocolException {
        int xid = xid();
        int oid = in.i32();
        expect('N', in.u8());
        newRow.read(in);
        in.mustBeAtEnd();
        handler.row(xid, oid, null, newRow);
    }

    private void update() throws StreamProtocolException {
        int xid = xid();
        int oid = in.i32();
        int kind = in.u8();
        @Nullable TupleData before = null;
        if (kind != 'N') {
            before = oldRow(kind);
            kind = in.u8();
        }
        expect('N', kind);
        newRow.read(in);
        in.mustBeAtEnd();
        handler.row(xid, oid, before, newRow);
    }

    private void delete() throws StreamProtocolException {
        int xid = xid();
        int oid = in.i32();
        TupleData before = oldRow(in.u8());
        in.mustBeAtEnd();
        handler.row(xid, oid, before, null);
    }

    /** K: the replica identity's columns, others null. O: the whole row. */
    private TupleData oldRow(int kind) throws StreamProtocolException {
        if (kind != 'K' && kind != 'O') {
            throw new StreamProtocolException("an old row of unknown kind " + kind);
        }
        return oldRow.read(in);
    }

    private static void expect(int wanted, int found) throws StreamProtocolException {
        if (wanted != found) {
            throw new StreamProtocolException("a row of unknown kind " + found);
        }
    }

    private void truncate() throws StreamProtocolException {
        int xid = xid();
        int count = in.i32();
        in.u8(); // CASCADE, RESTART IDENTITY
        if (count < 0 || in.remaining() != count * 4L) {
            throw new StreamProtocolException("a TRUNCATE of " + count + " tables in " + in.remaining() + " bytes");
        }
        for (int i = 0; i < count; i++) {
            handler.whole(xid, in.i32());
        }
    }

    private void relation() throws StreamProtocolException {
        int xid = xid();
        int oid = in.i32();
        String schema = in.string();
        String name = in.string();
        char identity = (char) in.u8();
        int count = in.u16();
        List<RelationShape.Column> columns = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            boolean key = (in.u8() & 1) != 0;
            String column = in.string();
            columns.add(new RelationShape.Column(column, key, in.i32()));
            in.i32(); // typmod
        }
        in.mustBeAtEnd();
        handler.relation(xid, new RelationShape(oid, schema, name, identity, List.copyOf(columns)));
    }

    private void type() throws StreamProtocolException {
        xid();
        in.i32();
        in.string();
        in.string();
    }

    private void origin() throws StreamProtocolException {
        in.i64();
        in.string();
    }

    private void message(boolean cut) throws StreamProtocolException {
        int xid = xid();
        boolean transactional = (in.u8() & 1) != 0;
        in.i64(); // position
        boolean ours = in.string().equals(PREFIX) && transactional;
        int length = in.i32();
        if (length < 0 || (cut ? length < in.remaining() : length != in.remaining())) {
            throw new StreamProtocolException("a logical message of " + length + " bytes");
        }
        boolean readable = !cut && length <= Limits.STREAM_MESSAGE_BYTES;
        int content = in.take(in.remaining());
        if (ours) {
            handler.message(xid, readable ? new String(in.bytes(), content, length, StandardCharsets.UTF_8) : null);
        }
    }

    private void streamStart() throws StreamProtocolException {
        int xid = in.i32();
        in.u8(); // whether it is the first chunk
        if (inChunk) {
            throw new StreamProtocolException("a chunk inside a chunk");
        }
        inChunk = true;
        handler.streamStart(xid);
    }

    private void streamStop() throws StreamProtocolException {
        if (!inChunk) {
            throw new StreamProtocolException("the end of a chunk that did not begin");
        }
        inChunk = false;
        handler.streamStop();
    }

    private void streamCommit() throws StreamProtocolException {
        int xid = in.i32();
        in.u8(); // flags, unused
        in.i64(); // begin of the commit record
        long end = in.i64();
        in.i64(); // time
        in.mustBeAtEnd();
        handler.streamCommit(xid, end);
    }

    private void streamAbort() throws StreamProtocolException {
        int top = in.i32();
        int xid = in.i32();
        in.mustBeAtEnd();
        handler.streamAbort(top, xid);
    }
}
