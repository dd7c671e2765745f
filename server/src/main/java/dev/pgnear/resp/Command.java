package dev.pgnear.resp;

/** What a command does: reads its arguments, runs, replies. */
@FunctionalInterface
public interface Command {
    /**
     * Runs on the session's loop. Writes exactly one complete reply, or hands the session a {@link Waiting} that will, or asks the
     * session to run the command again later.
     *
     * @param session the client's
     * @param request arity is checked already; valid during the call only
     * @param reply aimed at the place of this command's reply
     */
    void run(Session session, Request request, ReplyWriter reply);
}
