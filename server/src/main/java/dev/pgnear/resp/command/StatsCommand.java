package dev.pgnear.resp.command;

import dev.pgnear.resp.Command;
import dev.pgnear.resp.ReplyWriter;
import dev.pgnear.resp.Request;
import dev.pgnear.resp.Session;

/** {@code STATS} and {@code STAT}: all figures as one JSON object. */
final class StatsCommand implements Command {
    @Override
    public void run(Session session, Request request, ReplyWriter reply) {
        reply.bulk(session.door().stats().json());
    }
}
