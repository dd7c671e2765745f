package dev.pgnear.pg.backend;

import dev.pgnear.coherence.ServerIdentity;

/**
 * Receives the result of one execution, on the event loop of its pool, never before {@link BackendPool#execute} has returned. Any number
 * of rows, then exactly one of {@link #complete} and {@link #failed}; rows before a failure are void.
 */
public interface ResultHandler {
    /** One row; valid only during the call. An exception thrown here fails the execution with that exception. */
    void row(DataRow row);

    /** All rows were there and the statement's own transaction is over. */
    void complete(ServerIdentity server);

    /**
     * No result: {@link dev.pgnear.pg.wire.PgException} (PostgreSQL refused it), {@link BackendTimeout} (the deadline passed) or
     * {@link BackendUnavailable} (no connection, or it broke).
     */
    void failed(Throwable cause);
}
