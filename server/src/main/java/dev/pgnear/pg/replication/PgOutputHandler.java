package dev.pgnear.pg.replication;

import org.jspecify.annotations.Nullable;

/**
 * Receives decoded pgoutput messages. {@code xid} is the (sub)transaction of a change inside a streamed chunk and 0 elsewhere; all xids are
 * the 32 bits of the wire.
 */
interface PgOutputHandler {
    /**
     * @param finalLsn where the commit record begins
     */
    void begin(int xid, long finalLsn) throws StreamProtocolException;

    /**
     * @param endLsn the end of the commit record
     */
    void commit(long endLsn) throws StreamProtocolException;

    void relation(int xid, RelationShape shape) throws StreamProtocolException;

    /** An INSERT (no old row), UPDATE or DELETE (no new row). The tuples are valid during the call only. */
    void row(int xid, int oid, @Nullable TupleData oldRow, @Nullable TupleData newRow) throws StreamProtocolException;

    /** The table was changed in a way that is not looked at row by row: TRUNCATE, or a row of more than {@code Limits.STREAM_FRAME_BYTES}. */
    void whole(int xid, int oid) throws StreamProtocolException;

    /** A transactional message of prefix {@code pgnear}; null if it is longer than {@code Limits.STREAM_MESSAGE_BYTES}. */
    void message(int xid, @Nullable String content) throws StreamProtocolException;

    /** A chunk of a transaction in progress begins. */
    void streamStart(int topXid) throws StreamProtocolException;

    void streamStop() throws StreamProtocolException;

    /**
     * @param endLsn the end of the commit record
     */
    void streamCommit(int topXid, long endLsn) throws StreamProtocolException;

    /** Transaction {@code xid} of {@code topXid} rolled back; the whole transaction if they are equal. */
    void streamAbort(int topXid, int xid) throws StreamProtocolException;
}
