package dev.pgnear.pg.backend;

import dev.pgnear.base.Check;

/**
 * One SQL statement with parameters {@code $1}, {@code $2}, ..., prepared on each connection when it is first used there. Parameters and
 * results are in binary format. Compared by identity: keep one object per statement.
 */
public final class Statement {
    private final String sql;
    private final int[] parameterTypes;
    private final boolean repeatable;

    private Statement(String sql, int[] parameterTypes, boolean repeatable) {
        Check.that(sql.indexOf('\0') < 0, "NUL in a statement");
        this.sql = sql;
        this.parameterTypes = parameterTypes.clone();
        this.repeatable = repeatable;
    }

    /**
     * A statement that changes nothing: the pool may send it a second time on another connection when the first hangs.
     *
     * @param parameterTypes type OIDs; those left out are inferred by PostgreSQL
     */
    public Statement(String sql, int... parameterTypes) {
        this(sql, parameterTypes, true);
    }

    /** A statement that must not run twice. */
    public static Statement write(String sql, int... parameterTypes) {
        return new Statement(sql, parameterTypes, false);
    }

    public String sql() {
        return sql;
    }

    int[] parameterTypes() {
        return parameterTypes;
    }

    boolean repeatable() {
        return repeatable;
    }

    @Override
    public String toString() {
        return sql;
    }
}
