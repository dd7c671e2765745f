package dev.pgnear.pg.catalog;

import dev.pgnear.coherence.Coherence;
import dev.pgnear.coherence.CommittedTransaction;
import dev.pgnear.coherence.Relation;
import dev.pgnear.coherence.ServerIdentity;
import dev.pgnear.coherence.Snapshot;
import dev.pgnear.coherence.StreamApplier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The attached tables as this node knows them, kept right while the catalog changes.
 *
 * <p><b>Suspend, verify, resume.</b> A message in the stream (attach, detach, DDL), an unreadable relation, a start of the stream or a
 * changed fingerprint makes tables <em>dirty</em>: at once, on the caller's thread and in stream order, the transaction gets a relation event
 * and the relation is suspended, so nothing of it is served from the cache or stored. Then a thread of the control plane verifies, in steps that
 * each leave the other tables alone:
 *
 * <ol>
 *   <li>Read the catalog in one statement with its snapshot, again and again until the snapshot sees every transaction that made something
 *       dirty (with a synchronous standby that is after our acknowledgement) and covers the stream's slot.
 *   <li>Publish the new {@link MappingSet}: from here on the stream decodes by it. A table that may not be cached keeps its mapping with a
 *       reason and is served from PostgreSQL. A detached or dropped one goes; a new table of its name has another oid.
 *   <li>Rule ATTACH_WAITS (F17), if the stream may have missed changes: the table was not decoded before, it may have been out of the
 *       publication, or the stream is new. Note who holds a writer's lock on it now and wait until all of them are gone. Who takes the lock
 *       later is decoded; who was gone is visible to every later fill.
 *   <li>Take the WAL insert position and wait until the stream has applied it.
 *   <li>{@link Coherence#resume}, with the count of suspensions from before the catalog was read: it refuses if anything came between.
 * </ol>
 *
 * <p><b>Settings.</b> Sessions keep the settings of role and database they began with, and those decide how a row's text looks. When they
 * change, or the server's do, all tables are suspended, the {@link FillSessions} renewed, and all tables suspended once more: a fill from
 * before the first suspension, or from between the two, which may be in an old session, has lost its space and is not stored; a later one is
 * in a new session. Only then are the tables verified.
 *
 * <p><b>Concurrency.</b> {@link #set} is volatile and immutable, readers take it as it is. Everything else is guarded by {@link #lock}, which
 * is held for short steps in memory only, never during I/O, so the stream's thread may take it. Lock order: this lock, then those of Coherence.
 */
public final class LiveMappings implements StreamTables, Supplier<MappingSet>, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LiveMappings.class);

    /** Stands for every table among the dirty ones; also what messages mean by it. */
    private static final int ALL = 0;

    /** Instead of a session's settings while a renewal has begun and is not known to have succeeded. */
    private static final String RENEWING = "";

    private static final long BUSY_MILLIS = 10;
    private static final long IDLE_MILLIS = 1000;
    private static final long RECONNECT_MILLIS = 500;

    private final Coherence coherence;
    private final ConnectionSource source;
    private final InvalidationScopes scopes;

    private volatile FillSessions sessions = FillSessions.NONE;
    private volatile MappingSet set = MappingSet.EMPTY;

    private final Object lock = new Object();
    /** By oid; the same mappings as in {@link #set}. */
    private final Map<Integer, Known> known = new HashMap<>();
    /** Tables to be verified, with the number of the event that made them so. */
    private final Map<Integer, Long> dirty = new HashMap<>();
    /** Transactions that made them so. */
    private final Set<Long> awaited = new HashSet<>();
    /** Verified, waiting to be resumed. */
    private final Map<Integer, Resuming> resuming = new HashMap<>();

    private long events;
    private long streams;
    private @Nullable Snapshot slot;
    private boolean loaded;
    private boolean closed;
    private @Nullable String trouble;

    // Only the verifying thread uses these.
    private Map<Integer, String> fingerprints = Map.of();

    private @Nullable String fillSettings;
    private long askedMillis;
    private volatile boolean eventTriggers;
    private long polledMillis;
    private int rounds;

    private final Semaphore wake = new Semaphore(0);
    private final Thread verifier;

    /** A table, and under which circumstances the stream began to decode it without a gap. */
    private record Known(TableMapping mapping, String publicationMark, long stream) {}

    /** A table on its way back into the cache. */
    private static final class Resuming {
        final TableMapping mapping;
        final long suspensions;
        final String publicationMark;
        final long stream;
        /** Null until they were looked for; whoever is in it must be gone. */
        @Nullable
        Set<String> writers;

        long lsn = -1;

        Resuming(TableMapping mapping, long suspensions, String publicationMark, long stream, boolean writersMatter) {
            this.mapping = mapping;
            this.suspensions = suspensions;
            this.publicationMark = publicationMark;
            this.stream = stream;
            this.writers = writersMatter ? null : Set.of();
        }
    }

    /** What one look at the catalog has to answer. */
    private record Question(
            Map<Integer, Long> dirty,
            Set<Long> awaited,
            @Nullable Snapshot slot,
            long stream,
            Map<Integer, Long> suspensions) {}

    /**
     * @param source connections for the control plane
     * @param scopes knows what {@code invalidate} messages name
     */
    public LiveMappings(Coherence coherence, ConnectionSource source, InvalidationScopes scopes) {
        this.coherence = coherence;
        this.source = source;
        this.scopes = scopes;
        this.verifier = Thread.ofVirtual().name("pgnear-mappings").unstarted(this::run);
        dirty.put(ALL, 0L);
    }

    /** Names the sessions that have to be renewed when settings change; before {@link #start}. */
    public void fillSessions(FillSessions fillSessions) {
        sessions = fillSessions;
    }

    /** Begins to read and verify, in the background. */
    public void start() {
        verifier.start();
    }

    /** The tables now. */
    @Override
    public MappingSet get() {
        return set;
    }

    /** Why the catalog cannot be read at present, or null. */
    public @Nullable String trouble() {
        synchronized (lock) {
            return trouble;
        }
    }

    /** Waits until the attached tables are known; false if that took too long. They are not cached before the stream runs. */
    public boolean awaitLoaded(Duration limit) throws InterruptedException {
        return await(limit, () -> loaded);
    }

    /** Waits until nothing is left to be verified or resumed; false if that took too long. */
    public boolean awaitVerified(Duration limit) throws InterruptedException {
        return await(limit, () -> loaded && dirty.isEmpty() && resuming.isEmpty());
    }

    private boolean await(Duration limit, Supplier<Boolean> condition) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        synchronized (lock) {
            while (!condition.get()) {
                long left = (end - System.nanoTime()) / 1_000_000;
                if (left <= 0 || closed) {
                    return false;
                }
                lock.wait(left);
            }
            return true;
        }
    }

    // ---- the stream's thread

    @Override
    public @Nullable TableMapping byOid(int oid) {
        return set.byOid(oid);
    }

    @Override
    public void unreadable(int oid, String reason) {
        synchronized (lock) {
            Known table = known.get(oid);
            if (table != null) {
                LOG.info("table {} is not cached for now: {}", table.mapping.displayName(), reason);
                suspend(table);
                makeDirty(oid);
            }
        }
    }

    @Override
    public void message(String content, CommittedTransaction transaction) {
        int space = content.indexOf(' ');
        String verb = space < 0 ? content : content.substring(0, space);
        String rest = content.substring(space + 1);
        switch (verb) {
            case "mapping", "ddl" -> changed(rest, transaction);
            case "invalidate" -> scopes.addTo(transaction, rest, set);
            default -> {
                // "beat" has done its work by arriving; others are of a newer version, or of anybody: every role can
                // send messages (F35).
            }
        }
    }

    private void changed(String rest, CommittedTransaction transaction) {
        int end = rest.indexOf(' ');
        int oid;
        try {
            oid = Integer.parseUnsignedInt(rest, 0, end < 0 ? rest.length() : end, 10);
        } catch (NumberFormatException e) {
            return;
        }
        synchronized (lock) {
            if (oid == ALL) {
                known.values().forEach(t -> {
                    transaction.relation(t.mapping.relation());
                    suspend(t);
                });
            } else {
                Known table = known.get(oid);
                if (table != null) {
                    transaction.relation(table.mapping.relation());
                    suspend(table);
                }
            }
            awaited.add(transaction.xid());
            makeDirty(oid);
        }
    }

    /** The calls of the stream, with everything verified anew whenever it starts: DDL between two streams is in neither. */
    public StreamApplier applier() {
        return new StreamApplier() {
            @Override
            public void down(String reason) {
                coherence.down(reason);
            }

            @Override
            public void slotReady(ServerIdentity server, Snapshot slotSnapshot, long startLsn) {
                streamStarted(slotSnapshot);
                coherence.slotReady(server, slotSnapshot, startLsn);
            }

            @Override
            public void catchUpTo(long lsn) {
                coherence.catchUpTo(lsn);
            }

            @Override
            public void apply(CommittedTransaction transaction, long endLsn) {
                coherence.apply(transaction, endLsn);
            }

            @Override
            public void applied(long lsn) {
                coherence.applied(lsn);
            }
        };
    }

    /**
     * A slot exists and its stream has not yet delivered anything. The catalog is read again by a snapshot that covers the slot's: DDL that
     * lies before the slot and is not yet visible to others would be missed by both otherwise (as F13 for rows).
     */
    void streamStarted(Snapshot slotSnapshot) {
        synchronized (lock) {
            streams++;
            slot = slotSnapshot;
            awaited.clear(); // of the old server, perhaps; the slot's snapshot stands for them
            known.values().forEach(this::suspend);
            makeDirty(ALL);
        }
    }

    private void suspend(Known table) {
        coherence.suspend(table.mapping.relation());
        resuming.remove(table.mapping.oid());
    }

    private void makeDirty(int oid) {
        dirty.put(oid, ++events);
        wake.release();
    }

    // ---- the verifying thread

    private void run() {
        while (!isClosed()) {
            try (Connection connection = source.open()) {
                MappingReader reader = new MappingReader(connection);
                while (!isClosed()) {
                    pause(tick(reader) ? BUSY_MILLIS : IDLE_MILLIS);
                }
            } catch (SQLException | RuntimeException e) {
                note("the catalog cannot be read: " + e.getMessage());
                LOG.debug("verifying mappings", e);
                pause(RECONNECT_MILLIS);
            }
        }
    }

    private boolean isClosed() {
        synchronized (lock) {
            return closed;
        }
    }

    private void note(@Nullable String problem) {
        synchronized (lock) {
            if (problem != null && !closed && !problem.equals(trouble)) {
                LOG.warn("{}", problem);
            }
            trouble = problem;
        }
    }

    /** Until something becomes dirty, or the time is over. */
    private void pause(long millis) {
        try {
            if (wake.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
                wake.drainPermits();
            }
        } catch (InterruptedException e) {
            close();
        }
    }

    /** One step of everything that is under way; whether more is to come soon. */
    private boolean tick(MappingReader reader) throws SQLException {
        poll(reader, isDirty());
        Question question = question();
        if (!question.dirty.isEmpty()) {
            CatalogView view = reader.tables();
            if (answers(view.snapshot(), question)) {
                publish(view, question);
            }
        }
        lookForWriters(reader);
        resume(reader);
        note(null);
        synchronized (lock) {
            return !dirty.isEmpty() || !resuming.isEmpty();
        }
    }

    private boolean isDirty() {
        synchronized (lock) {
            return !dirty.isEmpty();
        }
    }

    /** Changes that no message announces. Asked before the catalog is read: what changes later makes the next fingerprint differ. */
    private void poll(MappingReader reader, boolean atOnce) throws SQLException {
        long now = System.nanoTime() / 1_000_000;
        boolean first = fingerprints.isEmpty();
        if (!first && !atOnce && now - polledMillis < IDLE_MILLIS) {
            return;
        }
        polledMillis = now;
        boolean announced = reader.eventTriggers();
        Map<Integer, String> next = reader.fingerprints(announced);
        Set<Integer> oids = new HashSet<>();
        if (!first) {
            oids.addAll(next.keySet());
            oids.addAll(fingerprints.keySet());
            oids.removeIf(oid -> Objects.equals(next.get(oid), fingerprints.get(oid)));
        }
        boolean settings = oids.remove(MappingReader.SETTINGS);
        differ(oids);
        if (fillSettingsDiffer() || settings) {
            renewSessions();
        }
        if (!announced && (eventTriggers || first)) {
            LOG.warn(
                    "event triggers pgnear_ddl and pgnear_drop are not there: the catalog is looked at every second instead;"
                            + " run pgnear setup as a superuser to have DDL respected at once");
        }
        eventTriggers = announced;
        fingerprints = next;
    }

    /** Until a session has told them once there is nothing to compare with. */
    private boolean fillSettingsDiffer() {
        String before = fillSettings;
        long millis = System.nanoTime() / 1_000_000;
        if (RENEWING.equals(before) || before != null && millis - askedMillis < IDLE_MILLIS) {
            return RENEWING.equals(before);
        }
        askedMillis = millis;
        String now = sessions.settings();
        if (now != null) {
            fillSettings = now;
        }
        return before != null && now != null && !before.equals(now);
    }

    /** If it fails the tables stay suspended and dirty, and the old fingerprint stays: the next poll comes here again. */
    private void renewSessions() {
        LOG.info(
                "settings of the role, the database or the server have changed: all rows are read again, in new sessions");
        String before = RENEWING.equals(fillSettings) ? null : fillSettings;
        fillSettings = RENEWING;
        differ(Set.of(ALL));
        sessions.renew();
        // Asked before the second suspension: what changes later is found by the next poll.
        String now = sessions.settings();
        fillSettings = now == null ? before : now;
        differ(Set.of(ALL));
    }

    private void differ(Set<Integer> oids) {
        synchronized (lock) {
            for (int oid : oids) {
                if (oid == ALL) {
                    known.values().forEach(this::suspend);
                } else {
                    Known table = known.get(oid);
                    if (table != null) {
                        suspend(table);
                    }
                }
                makeDirty(oid);
            }
        }
    }

    /** Whether event triggers announce DDL in the stream; otherwise it is respected within seconds. */
    public boolean announcesDdl() {
        return eventTriggers;
    }

    private Question question() {
        synchronized (lock) {
            Map<Integer, Long> suspensions = new HashMap<>();
            known.forEach((oid, t) -> suspensions.put(oid, coherence.suspensions(t.mapping.relation())));
            return new Question(Map.copyOf(dirty), Set.copyOf(awaited), slot, streams, suspensions);
        }
    }

    private static boolean answers(Snapshot snapshot, Question question) {
        return question.awaited.stream().allMatch(snapshot::sees)
                && (question.slot == null || snapshot.covers(question.slot));
    }

    private void publish(CatalogView view, Question question) {
        synchronized (lock) {
            if (question.stream != streams) {
                return; // another stream began meanwhile: its slot decides
            }
            Set<Integer> oids = new LinkedHashSet<>(question.dirty.keySet());
            if (oids.remove(ALL)) {
                oids.addAll(known.keySet());
                oids.addAll(view.tables().keySet());
            }
            for (int oid : oids) {
                CatalogTable table = view.tables().get(oid);
                if (table == null) {
                    forget(oid);
                } else {
                    publish(table, question);
                }
            }
            set = new MappingSet(known.values().stream().map(Known::mapping).toList());
            question.dirty.forEach(dirty::remove); // only if no later event came
            awaited.removeAll(question.awaited);
            loaded = true;
            lock.notifyAll();
        }
    }

    private void forget(int oid) {
        Known gone = known.remove(oid);
        resuming.remove(oid);
        if (gone != null) {
            LOG.info("table {} is no longer attached", gone.mapping.displayName());
            coherence.forget(gone.mapping.relation());
        }
    }

    private void publish(CatalogTable table, Question question) {
        Known before = known.get(table.oid());
        boolean sameKey = before != null
                && (table.key().isEmpty() || before.mapping.key().columns().equals(table.key()));
        if (before == null && table.key().isEmpty()) {
            LOG.warn(
                    "table {}.{} is attached but cannot be read by key: {}",
                    table.schema(),
                    table.table(),
                    table.problem());
            return;
        }
        if (before != null && !sameKey) {
            coherence.forget(before.mapping.relation());
        }
        String name = table.schema() + "." + table.table();
        Relation relation = before != null && sameKey ? before.mapping.relation() : coherence.newRelation(name);
        KeyCodec key = before != null && sameKey ? before.mapping.key() : new KeyCodec(table.key());
        TableMapping mapping = new TableMapping(
                table.oid(),
                table.schema(),
                table.table(),
                table.alias(),
                table.writable(),
                key,
                relation,
                table.problem());
        boolean gapless = before != null
                && sameKey
                && before.stream == question.stream
                && before.publicationMark.equals(table.publicationMark());
        // A gap is closed only by resuming; until then the old circumstances stay on record.
        known.put(
                table.oid(),
                new Known(mapping, gapless ? table.publicationMark() : "", gapless ? question.stream : -1));
        report(before, mapping);
        resuming.remove(table.oid());
        if (table.problem() == null && question.stream > 0) {
            Long suspensions = sameKey ? question.suspensions.get(table.oid()) : null;
            resuming.put(
                    table.oid(),
                    new Resuming(
                            mapping,
                            suspensions == null ? coherence.suspensions(relation) : suspensions,
                            table.publicationMark(),
                            question.stream,
                            !gapless));
        } else {
            coherence.suspend(relation);
        }
    }

    private static void report(@Nullable Known before, TableMapping now) {
        String reason = now.bypassReason();
        if (reason != null && (before == null || !reason.equals(before.mapping.bypassReason()))) {
            LOG.warn("table {} is not cached: {}", now.displayName(), reason);
        }
    }

    private void lookForWriters(MappingReader reader) throws SQLException {
        List<Resuming> waiting = new ArrayList<>();
        synchronized (lock) {
            for (Resuming r : resuming.values()) {
                if (r.writers == null || !r.writers.isEmpty()) {
                    waiting.add(r);
                }
            }
        }
        if (waiting.isEmpty()) {
            return;
        }
        Map<Integer, Set<String>> writers =
                reader.writers(waiting.stream().map(r -> r.mapping.oid()).toList());
        for (Resuming r : waiting) {
            Set<String> now = writers.getOrDefault(r.mapping.oid(), Set.of());
            Set<String> left = new HashSet<>(r.writers == null ? now : r.writers);
            left.retainAll(now);
            r.writers = left;
        }
    }

    private void resume(MappingReader reader) throws SQLException {
        List<Resuming> ready = new ArrayList<>();
        synchronized (lock) {
            for (Resuming r : resuming.values()) {
                if (r.writers != null && r.writers.isEmpty()) {
                    ready.add(r);
                }
            }
        }
        if (ready.isEmpty()) {
            return;
        }
        if (ready.stream().anyMatch(r -> r.lsn < 0)) {
            long lsn = reader.insertLsn();
            ready.stream().filter(r -> r.lsn < 0).forEach(r -> r.lsn = lsn);
            rounds = 0;
        }
        long applied = coherence.status().appliedLsn();
        boolean late = false;
        for (Resuming r : ready) {
            if (Long.compareUnsigned(applied, r.lsn) >= 0) {
                resume(r);
            } else {
                late = true;
            }
        }
        // An idle server may never reach the position by itself (F23, F24).
        if (late && ++rounds % 50 == 0) {
            reader.beat();
        }
    }

    private void resume(Resuming r) {
        synchronized (lock) {
            int oid = r.mapping.oid();
            if (resuming.get(oid) != r || dirty.containsKey(oid) || dirty.containsKey(ALL)) {
                return; // it will be verified again
            }
            resuming.remove(oid);
            if (coherence.resume(r.mapping.relation(), r.suspensions)) {
                known.put(oid, new Known(r.mapping, r.publicationMark, r.stream));
                LOG.info("table {} is cached", r.mapping.displayName());
            } else {
                makeDirty(oid);
            }
            lock.notifyAll();
        }
    }

    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
            lock.notifyAll();
        }
        wake.release();
    }
}
