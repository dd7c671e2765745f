package dev.pgnear.rows;

/** INVALIDATE and the figures of tables, for any thread. */
public interface RowAdmin {
    /**
     * Drops entries of this node.
     *
     * @param scope {@code CRUD}, {@code CRUD:db}, {@code CRUD:db.schema.table}, or an exact key
     * @return how many entries were dropped
     * @throws ScopeException with a complete Redis error line if the scope names nothing
     */
    long invalidate(String scope);

    /** A scope that names nothing; the message is a complete Redis error line. */
    final class ScopeException extends RuntimeException {
        /** With a complete Redis error line. */
        public ScopeException(String redisError) {
            super(redisError);
        }
    }
}
