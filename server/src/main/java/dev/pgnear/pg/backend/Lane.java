package dev.pgnear.pg.backend;

/**
 * The queries of one statement that hangs, most likely in a lock of its table. While the lane exists, further queries of the statement are
 * parked here instead of filling the pipelines of one connection after the other.
 */
final class Lane {
    final Statement statement;
    final QueryQueue parked = new QueryQueue();

    Lane(Statement statement) {
        this.statement = statement;
    }
}
