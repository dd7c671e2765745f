package dev.pgnear.pg.wire;

import io.netty.buffer.ByteBuf;

/**
 * Finds the next protocol 3 frame in a buffer, for both roles: {@code type:1 length:4 body:length-4}, or without the type for the first
 * message of a client. Nothing is copied: the body is read in place by index and stays valid as long as the caller keeps the buffer's
 * bytes. A length is compared with the bound as soon as its four bytes are there, before anything is waited for or allocated.
 *
 * <p>One reader per connection, used by one thread.
 */
public final class FrameReader {
    private static final int TYPED_HEADER = 5;
    private static final int UNTYPED_HEADER = 4;

    private final int maxBodyBytes;
    private byte type;
    private int bodyIndex;
    private int bodyLength;

    /**
     * @param maxBodyBytes longest body that is accepted
     */
    public FrameReader(int maxBodyBytes) {
        this.maxBodyBytes = maxBodyBytes;
    }

    /**
     * Moves the reader index past the next whole frame; if it is not whole yet, leaves the buffer as it is.
     *
     * @return whether {@link #type}, {@link #bodyIndex} and {@link #bodyLength} describe a frame
     * @throws PgProtocolException if the length is below 4 or above the bound
     */
    public boolean read(ByteBuf in) {
        if (in.readableBytes() < TYPED_HEADER) {
            return false;
        }
        type = in.getByte(in.readerIndex());
        return take(in, in.getInt(in.readerIndex() + 1), TYPED_HEADER);
    }

    /**
     * The same for the first message of a client: StartupMessage, SSLRequest, GSSENCRequest, CancelRequest. {@link #type} becomes 0.
     *
     * @throws PgProtocolException if the length is below 8 or above the bound
     */
    public boolean readUntyped(ByteBuf in) {
        if (in.readableBytes() < UNTYPED_HEADER) {
            return false;
        }
        type = 0;
        int length = in.getInt(in.readerIndex());
        if (length < 8) {
            throw tooShort(length);
        }
        return take(in, length, UNTYPED_HEADER);
    }

    private boolean take(ByteBuf in, int length, int header) {
        if (length < 4) {
            throw tooShort(length);
        }
        if (length - 4 > maxBodyBytes) {
            throw new PgProtocolException("a PostgreSQL message" + name() + " of " + (length - 4)
                    + " bytes is longer than the limit of " + maxBodyBytes);
        }
        int whole = header + length - 4;
        if (in.readableBytes() < whole) {
            return false;
        }
        bodyIndex = in.readerIndex() + header;
        bodyLength = length - 4;
        in.skipBytes(whole);
        return true;
    }

    private PgProtocolException tooShort(int length) {
        return new PgProtocolException(
                "a PostgreSQL message" + name() + " has the impossible length " + Integer.toUnsignedString(length));
    }

    private String name() {
        return type > ' ' && type < 127 ? " '" + (char) type + "'" : "";
    }

    /** Type byte of the frame, see {@link Protocol}. */
    public byte type() {
        return type;
    }

    /** Where the body begins in the buffer. */
    public int bodyIndex() {
        return bodyIndex;
    }

    /** Bytes of the body. */
    public int bodyLength() {
        return bodyLength;
    }
}
