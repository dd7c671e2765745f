package dev.pgnear.resp;

import dev.pgnear.base.Limits;
import dev.pgnear.base.ValueSink;
import dev.pgnear.rows.RowResult;
import org.jspecify.annotations.Nullable;

/**
 * Rows as the commands of one event loop see them. A key is parsed into a numbered slot ({@code 0} to {@link Limits#MGET_KEYS}-1), so that
 * all keys of a command can be checked before any is read; slots are reused by the next command. Only that loop calls.
 */
public interface RowSource {
    /**
     * Parses a key.
     *
     * @return null if it names a row, else the complete Redis error line
     */
    @Nullable
    String parse(int slot, byte[] bytes, int offset, int length);

    /** Equal for equal rows; unequal rows share it only by accident. */
    long identity(int slot);

    /** See {@link dev.pgnear.rows.RowReads#read}. */
    int read(int slot, ValueSink sink);

    /** See {@link dev.pgnear.rows.RowReads#load}. */
    void load(int slot, long deadlineNanos, RowResult result);

    /** Sends what {@link #load} has collected. */
    void flush();
}
