package dev.pgnear.resp;

import java.nio.charset.StandardCharsets;

/** Redis's own error lines, word for word (Redis 7.2, server.c, networking.c, acl.c). */
public final class Errors {
    /** A command before AUTH. */
    public static final String NOAUTH = "NOAUTH Authentication required.";

    /** HELLO before AUTH without an AUTH of its own. */
    public static final String NOAUTH_HELLO =
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used"
                    + " to authenticate the client and select the RESP protocol version at the same time";

    /** AUTH failed. */
    public static final String WRONGPASS = "WRONGPASS invalid username-password pair or user is disabled.";

    /** HELLO with another version than 2 or 3. */
    public static final String NOPROTO = "NOPROTO unsupported protocol version";

    /** Arguments that do not make sense. */
    public static final String SYNTAX = "ERR syntax error";

    /** A number was expected. */
    public static final String NOT_AN_INTEGER = "ERR value is not an integer or out of range";

    /** One client too many. */
    public static final String MAX_CLIENTS = "ERR max number of clients reached";

    private static final int SHOWN_BYTES = 128;

    private Errors() {}

    /** The command is not in the table; shows up to 128 bytes of its name and of its arguments. */
    public static String unknownCommand(Request request) {
        StringBuilder args = new StringBuilder();
        for (int i = 1; i < request.count() && args.length() < SHOWN_BYTES; i++) {
            String shown = shown(request, i, SHOWN_BYTES - args.length());
            args.append('\'').append(shown).append("' ");
        }
        return "ERR unknown command '" + shown(request, 0, SHOWN_BYTES) + "', with args beginning with: " + args;
    }

    private static String shown(Request request, int i, int limit) {
        return new String(
                request.bytes(), request.offset(i), Math.min(request.length(i), limit), StandardCharsets.UTF_8);
    }

    /** The subcommand is not in the table. */
    public static String unknownSubcommand(CommandSpec container, Request request) {
        return "ERR unknown subcommand '" + shown(request, 1, SHOWN_BYTES) + "'. Try "
                + container.name().toUpperCase(java.util.Locale.ROOT) + " HELP.";
    }

    /** Too few or too many arguments. */
    public static String wrongArity(CommandSpec spec) {
        return "ERR wrong number of arguments for '" + spec.name() + "' command";
    }
}
