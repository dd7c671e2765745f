package dev.pgnear.pg.catalog;

import java.sql.Connection;
import java.sql.SQLException;

/** Opens control-plane connections to the served database, as the node's role. */
@FunctionalInterface
public interface ConnectionSource {
    /** A new connection in autocommit mode; the caller closes it. */
    Connection open() throws SQLException;
}
