package dev.pgnear;

import dev.pgnear.admin.Health;
import dev.pgnear.coherence.Coherence;
import dev.pgnear.coherence.CoherenceStatus;
import dev.pgnear.pg.catalog.LiveMappings;
import dev.pgnear.pg.replication.InvalidationStream;
import dev.pgnear.pg.replication.StreamStatus;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What the HTTP door tells about this node. */
final class NodeHealth implements Health {
    private final Coherence coherence;
    private final InvalidationStream stream;
    private final LiveMappings mappings;

    NodeHealth(Coherence coherence, InvalidationStream stream, LiveMappings mappings) {
        this.coherence = coherence;
        this.stream = stream;
        this.mappings = mappings;
    }

    @Override
    public String unreadyReason() {
        CoherenceStatus c = coherence.status();
        if (!c.hitsAllowed()) {
            return c.reason().isEmpty() ? "hits are not served now" : c.reason();
        }
        String trouble = mappings.trouble();
        return trouble == null ? "" : trouble;
    }

    @Override
    public Map<String, Object> status() {
        CoherenceStatus c = coherence.status();
        StreamStatus s = stream.status();
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("coherence", c.mode().name().toLowerCase(Locale.ROOT));
        all.put("reason", c.reason());
        all.put("hits_allowed", c.hitsAllowed());
        all.put("stream_state", s.state().name().toLowerCase(Locale.ROOT));
        all.put("stream_error", s.error());
        all.put("applied_lsn", dev.pgnear.base.Lsn.format(c.appliedLsn()));
        all.put("fences", c.fences());
        all.put("tables", tables());
        return all;
    }

    private List<Map<String, Object>> tables() {
        return mappings.get().all().stream()
                .map(m -> {
                    Map<String, Object> t = new LinkedHashMap<>();
                    t.put("table", m.schema() + "." + m.table());
                    t.put("alias", m.alias());
                    t.put("writable", m.writable());
                    t.put("caching", m.relation().caching());
                    t.put("bypass_reason", m.bypassReason());
                    return t;
                })
                .toList();
    }
}
