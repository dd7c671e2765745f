package dev.pgnear.resp;

import io.netty.channel.Channel;
import java.util.Collection;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** All connections of the RESP door, in order of arrival, never more than the limit. Thread-safe. */
public final class Clients {
    private final int limit;
    private final ConcurrentSkipListMap<Long, Client> all = new ConcurrentSkipListMap<>();
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();
    private final AtomicLong ids = new AtomicLong();
    private final AtomicLong rejected = new AtomicLong();

    Clients(int limit) {
        this.limit = limit;
    }

    /** The new client, or null if there are too many. */
    @Nullable
    Client enter(Channel channel, long nowNanos) {
        int now = count.incrementAndGet();
        if (now > limit) {
            count.decrementAndGet();
            rejected.incrementAndGet();
            return null;
        }
        peak.accumulateAndGet(now, Math::max);
        Client client = new Client(ids.incrementAndGet(), channel, nowNanos);
        all.put(client.id(), client);
        return client;
    }

    void leave(Client client) {
        if (all.remove(client.id()) != null) {
            count.decrementAndGet();
        }
    }

    /** Connected now. */
    public Collection<Client> all() {
        return all.values();
    }

    /** The client with this id, or null. */
    public @Nullable Client byId(long id) {
        return all.get(id);
    }

    /** Connected now. */
    public int count() {
        return count.get();
    }

    /** Most at one time. */
    public int peak() {
        return peak.get();
    }

    /** Refused at the limit. */
    public long rejected() {
        return rejected.get();
    }

    /** Ever accepted. */
    public long accepted() {
        return ids.get();
    }

    /** How many may be connected. */
    public int limit() {
        return limit;
    }
}
