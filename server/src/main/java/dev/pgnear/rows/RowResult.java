package dev.pgnear.rows;

/** Receives the outcome of one {@link RowReads#load}. Exactly one method is called, once, on the loop that asked, maybe before {@code load} returns. */
public interface RowResult {
    /** The row as JSON; the array may be shared, it must not be changed. */
    void found(byte[] json);

    /** There is no such row. */
    void absent();

    /** The complete Redis error line without CR and LF, for example {@code ERR PostgreSQL: 42501 permission denied for table items}. */
    void failed(String redisError);
}
