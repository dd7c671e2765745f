package dev.pgnear.pg.replication;

import dev.pgnear.base.Check;
import java.time.Duration;
import java.util.Locale;

/**
 * How a stream presents itself, and its times.
 *
 * @param node application_name while streaming, the name in synchronous_standby_names; one per node and database (F20), at most 50 bytes
 * @param publication the publication of the database
 * @param standIn whether a stand-in acknowledges under the node's name while the slot is made: needed when commits wait for this node (F15)
 * @param connectTimeout for connecting and for each answer while starting, except for the slot, which waits for running transactions (F34)
 * @param firstStatusInterval between status messages until the server is surely streaming (F33)
 * @param statusInterval between status messages afterwards
 * @param askAfter silence after which the server is asked to say something
 * @param lostAfter silence after which the link counts as lost; more than {@code askAfter}
 * @param firstBackoff pause after the first failed attempt; doubled up to {@code lastBackoff}
 */
public record StreamOptions(
        String node,
        String publication,
        boolean standIn,
        Duration connectTimeout,
        Duration firstStatusInterval,
        Duration statusInterval,
        Duration askAfter,
        Duration lostAfter,
        Duration firstBackoff,
        Duration lastBackoff) {

    private static final int NODE_BYTES = 50;

    public StreamOptions {
        Check.that(!node.isEmpty() && node.length() <= NODE_BYTES, "a node's name has 1 to 50 bytes");
        Check.that(node.chars().allMatch(c -> c >= ' ' && c < 127), "a node's name is printable ASCII");
        Check.that(lostAfter.compareTo(askAfter) > 0, "a link cannot be lost before it was asked");
    }

    /** The product's times. */
    public static StreamOptions of(String node, boolean standIn) {
        return new StreamOptions(
                node,
                "pgnear",
                standIn,
                Duration.ofSeconds(10),
                Duration.ofMillis(100),
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                Duration.ofSeconds(5),
                Duration.ofMillis(50),
                Duration.ofSeconds(1));
    }

    /** The same with other times of silence. */
    public StreamOptions withSilence(Duration ask, Duration lost) {
        return new StreamOptions(
                node,
                publication,
                standIn,
                connectTimeout,
                firstStatusInterval,
                statusInterval,
                ask,
                lost,
                firstBackoff,
                lastBackoff);
    }

    /** The name before the node's own is taken: commits must not wait for a connection that does not stream yet (F16). */
    String startingName() {
        return node + "-starting";
    }

    /** Name of a slot, which no other connection has (slots die with their connection, but not at once). */
    String slotName(int random) {
        String safe = node.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_]", "_");
        return "pgnear_%.40s_%08x".formatted(safe, random);
    }
}
