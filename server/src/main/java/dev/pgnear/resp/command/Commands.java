package dev.pgnear.resp.command;

import static dev.pgnear.resp.CommandSpec.container;
import static dev.pgnear.resp.CommandSpec.single;

import dev.pgnear.resp.Command;
import dev.pgnear.resp.CommandSpec;
import dev.pgnear.resp.CommandSpec.Flag;
import dev.pgnear.resp.CommandTable;
import dev.pgnear.resp.ReplyWriter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The table of all commands. What is not in it is an unknown command. */
public final class Commands {
    private static final String CONNECTION = "connection";
    private static final String SERVER = "server";
    private static final String GENERIC = "generic";
    private static final String STRING = "string";
    private static final String PGNEAR = "pgnear";

    private Commands() {}

    /** A new table. */
    public static CommandTable table() {
        return new CommandTable(Stream.of(rows(), connection(), clients(), introspection(), cluster())
                .flatMap(List::stream)
                .toList());
    }

    private static List<CommandSpec> rows() {
        Command stats = new StatsCommand();
        return List.of(
                single("get", 2, STRING, "1.0.0", "Returns a row as JSON.", new Get())
                        .keys(1, 1, 1)
                        .flags(Flag.READONLY, Flag.FAST)
                        .categories("read", "string", "fast"),
                single("mget", -2, STRING, "1.0.0", "Returns several rows as JSON.", new MGet())
                        .keys(1, -1, 1)
                        .flags(Flag.READONLY, Flag.FAST)
                        .categories("read", "string", "fast"),
                single("exists", -2, GENERIC, "1.0.0", "Counts the rows that exist.", new Exists())
                        .keys(1, -1, 1)
                        .flags(Flag.READONLY, Flag.FAST)
                        .categories("keyspace", "read", "fast"),
                single("invalidate", 2, PGNEAR, "0.1.0", "Drops entries of this node's cache.", new Invalidate())
                        .flags(Flag.ADMIN)
                        .categories("admin", "slow"),
                single("stats", 1, PGNEAR, "0.1.0", "Returns all figures as JSON.", stats),
                single("stat", 1, PGNEAR, "0.1.0", "Returns all figures as JSON.", stats));
    }

    private static List<CommandSpec> connection() {
        return List.of(
                single("ping", -1, CONNECTION, "1.0.0", "Answers, to show that the server lives.", Connection::ping)
                        .flags(Flag.FAST)
                        .categories("fast", "connection"),
                single("echo", 2, CONNECTION, "1.0.0", "Returns its argument.", Connection::echo)
                        .flags(Flag.LOADING, Flag.STALE, Flag.FAST)
                        .categories("fast", "connection"),
                noAuth(single("quit", -1, CONNECTION, "1.0.0", "Closes the connection.", Connection::quit)),
                noAuth(single("reset", 1, CONNECTION, "6.2.0", "Resets the connection.", Connection::reset)),
                noAuth(single("auth", -2, CONNECTION, "1.0.0", "Authenticates the connection.", Auth::auth)),
                noAuth(single("hello", -1, CONNECTION, "6.0.0", "Negotiates the protocol version.", Auth::hello)),
                single("select", 2, CONNECTION, "1.0.0", "Chooses database 0.", Connection::select)
                        .flags(Flag.LOADING, Flag.STALE, Flag.FAST)
                        .categories("fast", "connection"),
                single("time", 1, SERVER, "2.6.0", "Returns the server's time.", Connection::time)
                        .flags(Flag.LOADING, Flag.STALE, Flag.FAST)
                        .categories("fast"),
                single("role", 1, SERVER, "2.8.12", "Returns the replication role: master.", Connection::role)
                        .flags(Flag.NOSCRIPT, Flag.LOADING, Flag.STALE, Flag.FAST)
                        .categories("admin", "fast", "dangerous"),
                single("wait", 3, GENERIC, "3.0.0", "Returns 0: there are no replicas.", Connection::waitForReplicas),
                single(
                                "dbsize",
                                1,
                                SERVER,
                                "1.0.0",
                                "Counts the keys of the key space; rows are not counted.",
                                Connection::dbSize)
                        .flags(Flag.READONLY, Flag.FAST)
                        .categories("keyspace", "read", "fast"),
                single("debug", -2, SERVER, "1.0.0", "Refused.", Connection::debug)
                        .flags(Flag.ADMIN, Flag.NOSCRIPT, Flag.LOADING, Flag.STALE)
                        .categories("admin", "slow", "dangerous"));
    }

    private static CommandSpec noAuth(CommandSpec spec) {
        return spec.flags(Flag.NOSCRIPT, Flag.LOADING, Flag.STALE, Flag.FAST, Flag.NO_AUTH)
                .categories("fast", "connection");
    }

    private static List<CommandSpec> clients() {
        return List.of(withHelp(container(
                "client",
                CONNECTION,
                "2.4.0",
                "Commands about connections.",
                sub("client|id", 2, "5.0.0", "Returns the connection's id.", ClientCommand::id),
                sub("client|getname", 2, "2.6.9", "Returns the connection's name.", ClientCommand::getName),
                sub("client|setname", 3, "2.6.9", "Names the connection.", ClientCommand::setName),
                sub(
                        "client|setinfo",
                        4,
                        "7.2.0",
                        "Tells the client library's name or version.",
                        ClientCommand::setInfo),
                sub("client|info", 2, "6.2.0", "Returns facts of this connection.", ClientCommand::info),
                sub("client|list", -2, "2.4.0", "Lists connections.", ClientSelection::list)
                        .flags(Flag.ADMIN),
                sub("client|kill", -3, "2.4.0", "Closes connections.", ClientSelection::kill)
                        .flags(Flag.ADMIN),
                sub("client|no-evict", 3, "7.0.0", "Accepted: clients are never evicted.", ClientCommand::noEvict)
                        .flags(Flag.ADMIN),
                sub("client|no-touch", 3, "7.2.0", "Accepted without effect.", ClientCommand::noTouch),
                sub("client|reply", 3, "3.2.0", "Turns replies on or off.", ClientCommand::reply),
                sub("client|tracking", -3, "6.0.0", "Only OFF is supported.", ClientCommand::tracking),
                sub("client|trackinginfo", 2, "6.2.0", "Returns that tracking is off.", ClientCommand::trackingInfo),
                sub("client|getredir", 2, "6.0.0", "Returns -1: tracking is off.", ClientCommand::getRedirection),
                sub("client|caching", 3, "6.0.0", "An error, since tracking is off.", ClientCommand::caching),
                sub("client|unblock", -3, "5.0.0", "Returns 0: nothing blocks.", ClientCommand::unblock))));
    }

    private static CommandSpec sub(String name, int arity, String since, String summary, Command command) {
        return single(name, arity, CONNECTION, since, summary, command).flags(Flag.NOSCRIPT, Flag.LOADING, Flag.STALE);
    }

    private static CommandSpec server(String name, int arity, String since, String summary, Command command) {
        return single(name, arity, SERVER, since, summary, command).flags(Flag.LOADING, Flag.STALE);
    }

    private static List<CommandSpec> introspection() {
        CommandSpec command = withHelp(container(
                "command",
                SERVER,
                "2.8.13",
                "Facts of all commands.",
                server("command|count", 2, "2.8.13", "Counts the commands.", CommandCommand::count),
                server("command|info", -2, "2.8.13", "Returns facts of commands.", CommandCommand::info),
                server("command|docs", -2, "7.0.0", "Returns documentation of commands.", CommandCommand::docs),
                server("command|list", -2, "7.0.0", "Lists names of commands.", CommandCommand::list),
                server("command|getkeys", -3, "2.8.13", "Finds the keys of a command.", CommandCommand::getKeys)));
        return List.of(
                command.alone(-1, CommandCommand::all),
                single("info", -1, SERVER, "1.0.0", "Returns figures of the server.", new Info())
                        .flags(Flag.LOADING, Flag.STALE)
                        .categories("slow", "dangerous"),
                withHelp(container(
                        "config",
                        SERVER,
                        "2.0.0",
                        "The configuration.",
                        server("config|get", -3, "2.0.0", "Returns settings.", Config::get)
                                .flags(Flag.ADMIN),
                        server("config|set", -4, "2.0.0", "Refused: settings are made at start.", Config::set)
                                .flags(Flag.ADMIN),
                        server("config|resetstat", 2, "2.0.0", "Accepted without effect.", Config::resetStat)
                                .flags(Flag.ADMIN))),
                withHelp(container(
                        "acl",
                        SERVER,
                        "6.0.0",
                        "Users.",
                        server("acl|whoami", 2, "6.0.0", "Returns the user's name.", Acl::whoAmI),
                        server("acl|users", 2, "6.0.0", "Lists users' names.", Acl::users),
                        server("acl|list", 2, "6.0.0", "Lists users.", Acl::list),
                        server("acl|cat", -2, "6.0.0", "Lists categories.", Acl::categories))),
                withHelp(container(
                        "memory",
                        SERVER,
                        "4.0.0",
                        "Memory use.",
                        server(
                                        "memory|usage",
                                        -3,
                                        "4.0.0",
                                        "Returns the bytes of a cached row.",
                                        Introspection::memoryUsage)
                                .keys(2, 2, 1),
                        server("memory|doctor", 2, "4.0.0", "Returns the cache's use.", Introspection::memoryDoctor))),
                withHelp(container(
                        "object",
                        GENERIC,
                        "2.2.3",
                        "How a value is kept.",
                        server("object|encoding", 3, "2.2.3", "Returns raw for a cached row.", Introspection::encoding)
                                .keys(2, 2, 1))),
                withHelp(container(
                        "latency",
                        SERVER,
                        "2.8.13",
                        "Latency events: none are kept here.",
                        server("latency|latest", 2, "2.8.13", "Returns no events.", Introspection::emptyArray),
                        server("latency|history", 3, "2.8.13", "Returns no events.", Introspection::emptyArray),
                        server("latency|histogram", -2, "7.0.0", "Returns no histograms.", Introspection::emptyMap),
                        server("latency|reset", -2, "2.8.13", "Returns 0.", Introspection::zero),
                        server(
                                "latency|doctor",
                                2,
                                "2.8.13",
                                "Tells where latencies are.",
                                Introspection::latencyDoctor))));
    }

    private static List<CommandSpec> cluster() {
        return List.of(withHelp(container(
                "cluster",
                "cluster",
                "3.0.0",
                "A cluster of one node.",
                server("cluster|info", 2, "3.0.0", "Returns the cluster's state.", Cluster::info),
                server("cluster|myid", 2, "3.0.0", "Returns the node's id.", Cluster::myId),
                server("cluster|nodes", 2, "3.0.0", "Lists the node.", Cluster::nodes),
                server("cluster|slots", 2, "3.0.0", "Lists the slots.", Cluster::slots),
                server("cluster|shards", 2, "7.0.0", "Lists the shard.", Cluster::shards),
                server("cluster|keyslot", 3, "3.0.0", "Returns a key's slot.", Cluster::keySlot),
                server("cluster|countkeysinslot", 3, "3.0.0", "Returns 0.", Cluster::countKeysInSlot))));
    }

    /** Adds {@code HELP}, written from the subcommands. */
    private static CommandSpec withHelp(CommandSpec container) {
        String name = container.name();
        CommandSpec help = single(
                name + "|help",
                2,
                container.group(),
                "5.0.0",
                "Lists the subcommands.",
                (session, request, reply) -> help(container, reply));
        return container.with(help);
    }

    private static void help(CommandSpec container, ReplyWriter reply) {
        reply.array(1 + 2 * container.subcommands().size());
        reply.simple(container.name().toUpperCase(Locale.ROOT)
                + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
        for (CommandSpec sub : container.subcommands()) {
            reply.simple(sub.name().substring(sub.name().indexOf('|') + 1).toUpperCase(Locale.ROOT));
            reply.simple("    " + sub.summary());
        }
    }
}
