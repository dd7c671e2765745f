package dev.pgnear;

import dev.pgnear.pg.catalog.Setup;
import dev.pgnear.pg.wire.PgTarget;

/** Prepares a test's database as a user would. */
public final class TestDatabase {
    private TestDatabase() {}

    /** What {@code pgnear setup} does. */
    public static void setup(TestPostgres pg) {
        Setup.install(PgTarget.parse(pg.url()), null);
    }
}
