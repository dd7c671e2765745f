package dev.pgnear.resp.command;

import dev.pgnear.resp.Command;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.Session;
import dev.pgnear.rows.RowAdmin;

/** {@code INVALIDATE scope}: drops this node's entries of everything, a database, a table or one key; how many there were. */
final class Invalidate implements Command {
    @Override
    public void run(Session session, Request request, ReplyWriter reply) {
        try {
            reply.integer(session.door().admin().invalidate(request.string(1)));
        } catch (RowAdmin.ScopeException e) {
            reply.error(String.valueOf(e.getMessage()));
        }
    }
}
