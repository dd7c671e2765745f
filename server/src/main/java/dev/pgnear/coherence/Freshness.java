package dev.pgnear.coherence;

import dev.pgnear.base.Limits;
import dev.pgnear.base.NanoClock;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * How fresh the node can prove to be, and for how long it may call itself fenced.
 *
 * <p>A sample says: at the time when it was sent, everything committed lay below its insert position. Once the applied position has reached
 * that, the node is fresh as of that time. Hits and the fenced claim are leases on the newest such time: without samples, or when the stream
 * stands still, both end by themselves. The claim begins with a passed sample that was sent a reload's grace after one that found the node
 * required had passed (F22), and ends at once when a sample finds that it is not.
 *
 * <p>Samples come in from the side connection, and are passed by it or by the stream's thread; both under this object's monitor. Readers
 * look only at the two volatile times. The stream's thread looks at {@code nextLsn} first and takes the monitor only when a sample may have
 * passed: either it sees the sample that was just put there, or the sampler, which looks after putting it there, sees the new position.
 */
final class Freshness {
    private final NanoClock clock;
    private final AppliedPosition position;
    private final long maxStalenessNanos;
    private final long claimNanos;
    private final long graceNanos;
    private final boolean identity;
    private final boolean samplePassed;
    private final boolean grace;
    private final boolean claimBySample;

    private final ArrayDeque<Sample> pending = new ArrayDeque<>();
    private boolean superseded;
    private boolean required;
    private long requiredSince;
    private String reason = "no sample has passed yet";

    /** Smallest position that a pending sample waits for. */
    private volatile long nextLsn = Long.MAX_VALUE;

    private volatile boolean proven;
    private volatile long freshAt;
    private volatile long claimAt;

    Freshness(NanoClock clock, AppliedPosition position, long maxStalenessNanos, long graceNanos, RuleSet rules) {
        this.clock = clock;
        this.position = position;
        this.maxStalenessNanos = maxStalenessNanos;
        this.claimNanos = Math.min(maxStalenessNanos, Limits.CLAIM_LEASE_NANOS);
        this.graceNanos = graceNanos;
        this.identity = rules.on(Rule.IDENTITY) && rules.on(Rule.SAMPLE_IDENTITY);
        this.samplePassed = rules.on(Rule.SAMPLE_PASSED);
        this.grace = rules.on(Rule.GRACE);
        this.claimBySample = rules.on(Rule.CLAIM_BY_SAMPLE);
        reset("no sample has passed yet");
    }

    /** Nothing is proven any more: the stream was lost. */
    synchronized void reset(String why) {
        pending.clear();
        nextLsn = Long.MAX_VALUE;
        proven = false;
        freshAt = clock.nanos() - maxStalenessNanos;
        endClaim(why);
    }

    private void endClaim(String why) {
        required = false;
        reason = why;
        claimAt = clock.nanos() - claimNanos;
    }

    /** Which server is streamed, and which is the newest known: without the newest one's stream nothing is fresh (rule IDENTITY). */
    synchronized void server(@Nullable ServerIdentity streamed, @Nullable ServerIdentity newest) {
        superseded = streamed != null && newest != null && streamed.isBefore(newest) && identity;
        if (superseded) {
            reset("PostgreSQL was restarted or replaced");
        }
    }

    /** An answered sample of the stream's server; false if too many are waiting. */
    synchronized boolean add(Sample sample) {
        if (!sample.required()) {
            endClaim(sample.reason());
        }
        long now = clock.nanos();
        pending.removeIf(s -> now - s.sentNanos() >= maxStalenessNanos);
        boolean room = pending.size() < Limits.PENDING_SAMPLES;
        if (room) {
            pending.add(sample);
            nextLsn = Math.min(nextLsn, sample.insertLsn());
        }
        pass();
        return room;
    }

    /** The applied position moved. */
    void moved() {
        if (position.reached(nextLsn)) {
            pass();
        }
    }

    private synchronized void pass() {
        long next = Long.MAX_VALUE;
        for (Iterator<Sample> all = pending.iterator(); all.hasNext(); ) {
            Sample s = all.next();
            if (!samplePassed || position.reached(s.insertLsn())) {
                all.remove();
                passed(s);
            } else {
                next = Math.min(next, s.insertLsn());
            }
        }
        nextLsn = next;
    }

    private void passed(Sample s) {
        if (superseded) {
            return;
        }
        if (s.sentNanos() - freshAt > 0) {
            freshAt = s.sentNanos();
            proven = true;
        }
        if (!s.required()) {
            return;
        }
        if (!required) {
            required = true;
            requiredSince = clock.nanos();
            reason = "waiting until PostgreSQL's new list of standbys is in force everywhere";
            if (grace) {
                return;
            }
        }
        if ((!grace || s.sentNanos() - requiredSince >= graceNanos) && s.sentNanos() - claimAt > 0) {
            claimAt = s.sentNanos();
        }
    }

    /** Whether the lease of hits holds at this time. */
    boolean fresh(long nowNanos) {
        return nowNanos - freshAt < maxStalenessNanos;
    }

    /** Whether the fenced claim holds at this time. */
    boolean claims(long nowNanos) {
        return nowNanos - claimAt < claimNanos || !claimBySample;
    }

    /** Age of the newest passed sample, or Long.MAX_VALUE. */
    long ageNanos(long nowNanos) {
        return proven ? nowNanos - freshAt : Long.MAX_VALUE;
    }

    /** Why there is no claim. */
    synchronized String reason() {
        return reason.isEmpty() ? "PostgreSQL does not wait for this node" : reason;
    }
}
