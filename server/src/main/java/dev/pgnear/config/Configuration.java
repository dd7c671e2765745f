package dev.pgnear.config;

import dev.pgnear.base.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.toml.TomlMapper;

/**
 * The effective configuration: for each key the value that won and where it came from. Flags win over the environment, the environment over
 * the file, the file over the defaults. Immutable; every value was checked when it was built.
 */
public final class Configuration {
    private static final Pattern BYTES = Pattern.compile("(\\d{1,12})\\s*(B|KiB|MiB|GiB|KB|MB|GB)?");
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})\\s*(ms|s|min)");
    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_-]{0,39}");

    /**
     * A value and where it came from.
     *
     * @param text as written
     * @param origin "default", "file PATH", "environment PGNEAR_X" or "flag --x"
     */
    public record Value(String text, String origin) {}

    private final Map<ConfigKey, Value> values;

    private Configuration(Map<ConfigKey, Value> values) {
        this.values = values;
        for (ConfigKey k : ConfigKey.values()) {
            check(k);
        }
    }

    /**
     * Puts the sources together.
     *
     * @param file TOML file or null
     * @param flags what the command line gave
     * @throws UserError if a key is unknown or a value does not fit
     */
    public static Configuration of(@Nullable Path file, Map<String, String> environment, Map<ConfigKey, String> flags) {
        Map<ConfigKey, Value> values = new EnumMap<>(ConfigKey.class);
        for (ConfigKey k : ConfigKey.values()) {
            values.put(k, new Value(k.defaultText(), "default"));
        }
        if (file != null) {
            readFile(file, values);
        }
        for (ConfigKey k : ConfigKey.values()) {
            String e = environment.get(k.environment());
            if (e != null) {
                values.put(k, new Value(e, "environment " + k.environment()));
            }
            String f = flags.get(k);
            if (f != null) {
                values.put(k, new Value(f, "flag --" + k.key()));
            }
        }
        return new Configuration(values);
    }

    private static void readFile(Path file, Map<ConfigKey, Value> values) {
        JsonNode root;
        try {
            root = new TomlMapper().readTree(Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new UserError("There is no configuration file " + file + "; check --config.", e);
        } catch (IOException e) {
            throw new UserError(
                    "The configuration file " + file + " cannot be read (" + e.getMessage() + "); check its rights.",
                    e);
        } catch (JacksonException e) {
            throw new UserError(
                    "The configuration file " + file + " is not valid TOML: " + e.getOriginalMessage() + " (line "
                            + (e.getLocation() == null ? "?" : e.getLocation().getLineNr()) + "); correct it.",
                    e);
        }
        for (Map.Entry<String, JsonNode> e : root.properties()) {
            ConfigKey k = ConfigKey.byName(e.getKey())
                    .orElseThrow(() -> new UserError("The configuration file " + file + " has the unknown key \""
                            + e.getKey() + "\"; `pgnear config --print` lists the keys."));
            if (!e.getValue().isValueNode()) {
                throw new UserError("The key \"" + e.getKey() + "\" in " + file + " must have a single value; write "
                        + k.key() + " = \"" + k.defaultText() + "\", for example.");
            }
            values.put(k, new Value(e.getValue().asString(), "file " + file));
        }
    }

    private void check(ConfigKey k) {
        switch (k.kind()) {
            case TEXT -> {}
            case PORT -> number(k, 0, 65_535);
            case SWITCH -> flag(k);
            case BYTES -> bytes(k);
            case COUNT -> number(k, 0, 1_000_000);
            case DURATION -> duration(k);
            case COHERENCE -> oneOf(k, "fenced", "tracked");
            case TRANSPORT -> oneOf(k, "auto", "io_uring", "epoll", "nio");
            case NAME -> {
                if (!NAME.matcher(text(k)).matches()) {
                    throw wrong(k, "a letter followed by at most 39 letters, digits, _ or -");
                }
            }
        }
        if (k == ConfigKey.MEMORY_BUDGET && bytes(k) < 16L << 20) {
            throw wrong(k, "at least 16MiB");
        }
        if (k == ConfigKey.MAX_STALENESS
                && (duration(k).toMillis() < 100 || duration(k).toSeconds() > 60)) {
            throw wrong(k, "100ms to 60s");
        }
    }

    private UserError wrong(ConfigKey k, String expected) {
        Value v = value(k);
        return UserError.usage("The value \"" + v.text() + "\" of " + k.key() + " (" + v.origin()
                + ") does not fit; give " + expected + ".");
    }

    private void oneOf(ConfigKey k, String... allowed) {
        if (!java.util.List.of(allowed).contains(text(k))) {
            throw wrong(k, String.join(" or ", allowed));
        }
    }

    /** The value and its origin. */
    public Value value(ConfigKey k) {
        Value v = values.get(k);
        if (v == null) {
            throw new IllegalStateException("no value for " + k);
        }
        return v;
    }

    /** The text of a value; empty if there is none. */
    public String text(ConfigKey k) {
        return value(k).text();
    }

    /** A switch. */
    public boolean flag(ConfigKey k) {
        return switch (text(k)) {
            case "true", "on", "yes", "1" -> true;
            case "false", "off", "no", "0" -> false;
            default -> throw wrong(k, "true or false");
        };
    }

    /** A whole number within the bounds. */
    public int number(ConfigKey k, int min, int max) {
        try {
            int n = Integer.parseInt(text(k));
            if (n >= min && n <= max) {
                return n;
            }
        } catch (NumberFormatException e) {
            // falls through to the same sentence
        }
        throw wrong(k, "a whole number from " + min + " to " + max);
    }

    /** A whole number whose bounds were checked when the configuration was built. */
    public int number(ConfigKey k) {
        return number(k, 0, 1_000_000);
    }

    /** A size in bytes. */
    public long bytes(ConfigKey k) {
        Matcher m = BYTES.matcher(text(k));
        if (!m.matches()) {
            throw wrong(k, "a size such as 384MiB or 2GiB");
        }
        String unit = m.group(2) == null ? "B" : m.group(2);
        long factor = switch (unit) {
            case "KiB" -> 1L << 10;
            case "MiB" -> 1L << 20;
            case "GiB" -> 1L << 30;
            case "KB" -> 1_000L;
            case "MB" -> 1_000_000L;
            case "GB" -> 1_000_000_000L;
            default -> 1L;
        };
        return Math.multiplyExact(Long.parseLong(m.group(1)), factor);
    }

    /** A duration. */
    public Duration duration(ConfigKey k) {
        Matcher m = DURATION.matcher(text(k));
        if (!m.matches()) {
            throw wrong(k, "a duration such as 250ms, 2s or 5min");
        }
        long n = Long.parseLong(m.group(1));
        return switch (m.group(2)) {
            case "ms" -> Duration.ofMillis(n);
            case "s" -> Duration.ofSeconds(n);
            default -> Duration.ofMinutes(n);
        };
    }

    /** Whether the node was told to be fenced. */
    public boolean fenced() {
        return text(ConfigKey.COHERENCE).equals("fenced");
    }

    /** All keys as TOML with their origins; secrets hidden. */
    public String print() {
        StringBuilder b = new StringBuilder();
        for (ConfigKey k : ConfigKey.values()) {
            String shown = k.secret() ? text(k).replaceAll("(://[^:/@]*):[^@]*@", "$1:***@") : text(k);
            b.append(String.format(Locale.ROOT, "%-18s = %-40s # %s%n", k.key(), '"' + shown + '"', value(k).origin()));
        }
        return b.toString();
    }
}
