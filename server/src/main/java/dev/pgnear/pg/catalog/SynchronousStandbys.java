package dev.pgnear.pg.catalog;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A value of {@code synchronous_standby_names}: which standbys a COMMIT waits for. Grammar and meaning: PostgreSQL documentation, "Write
 * Ahead Log / Replication / synchronous_standby_names", and src/backend/replication/syncrep_scanner.l. Names compare without regard to case;
 * {@code *} stands for any.
 *
 * @param method how many of the names count, and which
 * @param count how many must acknowledge; 0 if the list is empty
 * @param names in order, as written, without quotes
 */
public record SynchronousStandbys(Method method, int count, List<String> names) {

    /** FIRST waits for the first {@code count} that are connected, ANY for any {@code count}. */
    public enum Method {
        FIRST,
        ANY
    }

    /** Defensive copy. */
    public SynchronousStandbys {
        names = List.copyOf(names);
    }

    /** Nobody is waited for. */
    public static final SynchronousStandbys NONE = new SynchronousStandbys(Method.FIRST, 0, List.of());

    /**
     * Parses the setting's text.
     *
     * @throws IllegalArgumentException if PostgreSQL would refuse it
     */
    public static SynchronousStandbys parse(String setting) {
        return new Parser(setting).parse();
    }

    /** Whether the name is in the list. */
    public boolean contains(String name) {
        return names.stream().anyMatch(name::equalsIgnoreCase);
    }

    /**
     * Why not every COMMIT waits for the standby of this name, as far as the rule tells, or null if it does: every name listed must be
     * waited for, or another one may stand in for it (F19).
     */
    public @Nullable String whyNotRequired(String name) {
        if (names.isEmpty()) {
            return "synchronous_standby_names is empty";
        }
        if (names.contains("*")) {
            return "synchronous_standby_names contains *, so another standby may stand in";
        }
        if (!contains(name)) {
            return "synchronous_standby_names does not list " + name;
        }
        Set<String> distinct = new HashSet<>();
        names.forEach(n -> distinct.add(n.toLowerCase(Locale.ROOT)));
        if (distinct.size() != names.size()) {
            return "synchronous_standby_names lists a name twice";
        }
        if (count != names.size()) {
            return "synchronous_standby_names waits for " + count + " of " + names.size()
                    + " names, so another standby may stand in";
        }
        return null;
    }

    /**
     * The list with this name in it and every name required.
     *
     * @throws IllegalArgumentException if the list contains {@code *}, which no rule can require
     */
    public SynchronousStandbys join(String name) {
        if (names.contains("*")) {
            throw new IllegalArgumentException(
                    "synchronous_standby_names contains *, which cannot be combined with a required name");
        }
        List<String> all = new ArrayList<>();
        names.stream().filter(n -> all.stream().noneMatch(n::equalsIgnoreCase)).forEach(all::add);
        if (!contains(name)) {
            all.add(name);
        }
        return new SynchronousStandbys(Method.FIRST, all.size(), all);
    }

    /** The list without this name; the others are required as far as they were. */
    public SynchronousStandbys leave(String name) {
        List<String> rest =
                names.stream().filter(n -> !n.equalsIgnoreCase(name)).toList();
        if (rest.isEmpty()) {
            return NONE;
        }
        return rest.size() == names.size() ? this : new SynchronousStandbys(method, Math.min(count, rest.size()), rest);
    }

    /** As PostgreSQL reads it; names quoted. */
    @Override
    public String toString() {
        if (names.isEmpty()) {
            return "";
        }
        List<String> shown =
                names.stream().map(n -> n.equals("*") ? n : Setup.quoted(n)).toList();
        return method + " " + count + " (" + String.join(", ", shown) + ")";
    }

    /** Recursive descent over the five forms: empty, list, {@code n (list)}, {@code FIRST n (list)}, {@code ANY n (list)}. */
    private static final class Parser {
        private record Token(char kind, String text) {}

        private static final char NAME = 'n';
        private static final char QUOTED = 'q';
        private static final char NUMBER = '0';
        private static final char END = '$';

        private final String text;
        private final List<Token> tokens = new ArrayList<>();
        private int at;

        Parser(String text) {
            this.text = text;
            scan();
        }

        SynchronousStandbys parse() {
            if (peek(0).kind == END) {
                return NONE;
            }
            Method method = isWord("ANY") ? Method.ANY : Method.FIRST;
            boolean keyword = isWord("FIRST") || isWord("ANY");
            if (keyword) {
                at++;
            }
            if (peek(0).kind == NUMBER && peek(1).kind == '(') {
                int count = number(peek(0).text);
                at += 2;
                List<String> names = list();
                expect(')');
                expect(END);
                return new SynchronousStandbys(method, count, names);
            }
            if (keyword) {
                throw wrong();
            }
            List<String> names = list();
            expect(END);
            return new SynchronousStandbys(Method.FIRST, 1, names);
        }

        /** FIRST and ANY are reserved, so they are never bare names. */
        private boolean isWord(String word) {
            return peek(0).kind == NAME && peek(0).text.equalsIgnoreCase(word);
        }

        private List<String> list() {
            List<String> names = new ArrayList<>();
            do {
                Token t = peek(0);
                if (t.kind != NAME && t.kind != QUOTED && t.kind != NUMBER) {
                    throw wrong();
                }
                names.add(t.text);
                at++;
            } while (accept(','));
            return names;
        }

        private int number(String digits) {
            try {
                int n = Integer.parseInt(digits);
                if (n > 0) {
                    return n;
                }
            } catch (NumberFormatException e) {
                // the same answer as for zero
            }
            throw wrong();
        }

        private boolean accept(char kind) {
            if (peek(0).kind != kind) {
                return false;
            }
            at++;
            return true;
        }

        private void expect(char kind) {
            if (peek(0).kind != kind) {
                throw wrong();
            }
            at++;
        }

        private Token peek(int ahead) {
            return at + ahead < tokens.size() ? tokens.get(at + ahead) : new Token(END, "");
        }

        private void scan() {
            int i = 0;
            while (i < text.length()) {
                char c = text.charAt(i);
                int from = i;
                if (Character.isWhitespace(c)) {
                    i++;
                } else if (c == '(' || c == ')' || c == ',') {
                    tokens.add(new Token(c, String.valueOf(c)));
                    i++;
                } else if (c == '*') {
                    tokens.add(new Token(NAME, "*"));
                    i++;
                } else if (c == '"') {
                    i = quoted(i + 1);
                } else if (c >= '0' && c <= '9') {
                    while (i < text.length() && Character.isDigit(text.charAt(i))) {
                        i++;
                    }
                    tokens.add(new Token(NUMBER, text.substring(from, i)));
                } else if (starts(c)) {
                    while (i < text.length()
                            && (starts(text.charAt(i)) || Character.isDigit(text.charAt(i)) || text.charAt(i) == '$')) {
                        i++;
                    }
                    tokens.add(new Token(NAME, text.substring(from, i)));
                } else {
                    throw wrong();
                }
            }
        }

        private int quoted(int from) {
            StringBuilder name = new StringBuilder();
            int i = from;
            while (i < text.length()) {
                if (text.charAt(i) != '"') {
                    name.append(text.charAt(i++));
                } else if (i + 1 < text.length() && text.charAt(i + 1) == '"') {
                    name.append('"');
                    i += 2;
                } else {
                    tokens.add(new Token(QUOTED, name.toString()));
                    return i + 1;
                }
            }
            throw wrong();
        }

        private static boolean starts(char c) {
            return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80;
        }

        private IllegalArgumentException wrong() {
            return new IllegalArgumentException("not a value of synchronous_standby_names: " + text);
        }
    }
}
