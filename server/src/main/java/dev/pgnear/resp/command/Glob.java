package dev.pgnear.resp.command;

/** Redis's glob patterns over short names, in any case: {@code *}, {@code ?}, {@code [abc]}, {@code [^a-z]}, {@code \x} (util.c, stringmatchlen). */
final class Glob {
    private Glob() {}

    static boolean matches(String pattern, String text) {
        return matches(pattern, 0, text, 0);
    }

    private static boolean matches(String p, int i, String t, int k) {
        while (i < p.length()) {
            char c = p.charAt(i);
            if (c == '*') {
                return star(p, i + 1, t, k);
            }
            if (k == t.length()) {
                return false;
            }
            if (c == '[') {
                int close = p.indexOf(']', i + 2);
                int end = close < 0 ? p.length() : close;
                if (!inClass(p.substring(i + 1, end), t.charAt(k))) {
                    return false;
                }
                i = end + 1;
            } else {
                i += c == '\\' && i + 1 < p.length() ? 1 : 0;
                if (c != '?' && !same(p.charAt(i), t.charAt(k))) {
                    return false;
                }
                i++;
            }
            k++;
        }
        return k == t.length();
    }

    /** Names are short and patterns come from operators, so trying each place is enough; stars in a row count as one. */
    private static boolean star(String p, int i, String t, int k) {
        while (i < p.length() && p.charAt(i) == '*') {
            i++;
        }
        for (int at = k; at <= t.length(); at++) {
            if (matches(p, i, t, at)) {
                return true;
            }
        }
        return false;
    }

    private static boolean inClass(String members, char c) {
        boolean not = members.startsWith("^");
        boolean found = false;
        for (int i = not ? 1 : 0; i < members.length(); i++) {
            if (i + 2 < members.length() && members.charAt(i + 1) == '-') {
                found |= c >= members.charAt(i) && c <= members.charAt(i + 2);
                i += 2;
            } else {
                found |= same(members.charAt(i), c);
            }
        }
        return found != not;
    }

    private static boolean same(char a, char b) {
        return Character.toLowerCase(a) == Character.toLowerCase(b);
    }
}
