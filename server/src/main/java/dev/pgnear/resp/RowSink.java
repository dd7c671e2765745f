package dev.pgnear.resp;

import dev.pgnear.base.Check;
import dev.pgnear.base.ValueSink;
import io.netty.buffer.ByteBuf;
import java.lang.foreign.MemorySegment;

/**
 * Copies a cached row from the slab into a reply: length line, bytes, CR and LF. One copy, no allocation: native memory is written through
 * one segment that spans all of it, at the buffer's address; the bytes were reserved before, and each chunk is held against that, so the copy cannot leave the buffer. A buffer
 * without an address is written through its NIO view. Taking back moves the writer index, since nothing has been handed on yet.
 */
final class RowSink implements ValueSink {
    /** All native memory. Restricted, because the JVM cannot check what it is used for; used for reserved bytes of a live buffer only. */
    @SuppressWarnings("restricted")
    private static final MemorySegment NATIVE = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private final ReplyWriter reply;
    private int mark;
    private int left;

    RowSink(ReplyWriter reply) {
        this.reply = reply;
    }

    @Override
    public void begin(int length) {
        ByteBuf out = reply.buffer();
        mark = out.writerIndex();
        reply.header('$', length);
        out.ensureWritable(length + 2);
        left = length;
        if (length == 0) {
            reply.crlf();
        }
    }

    @Override
    public void chunk(MemorySegment source, long offset, int length) {
        Check.that(length >= 0 && length <= left, "a chunk is longer than what was reserved for the row");
        ByteBuf out = reply.buffer();
        int at = out.writerIndex();
        if (out.hasMemoryAddress()) {
            MemorySegment.copy(source, offset, NATIVE, out.memoryAddress() + at, length);
        } else {
            MemorySegment.copy(source, offset, MemorySegment.ofBuffer(out.nioBuffer(at, length)), 0, length);
        }
        out.writerIndex(at + length);
        left -= length;
        if (left == 0) {
            reply.crlf();
        }
    }

    @Override
    public void rollback() {
        reply.buffer().writerIndex(mark);
    }
}
