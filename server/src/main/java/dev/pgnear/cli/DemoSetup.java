package dev.pgnear.cli;

import dev.pgnear.pg.catalog.ControlConnection;
import dev.pgnear.pg.catalog.Fence;
import dev.pgnear.pg.catalog.Setup;
import dev.pgnear.pg.catalog.TableAdmin;
import dev.pgnear.pg.wire.PgTarget;
import java.sql.Connection;
import java.sql.SQLException;

/** What a user does by hand for his own server: {@code setup}, {@code attach}, {@code fence join}. */
final class DemoSetup {
    private DemoSetup() {}

    static void run(String url) throws SQLException {
        PgTarget target = PgTarget.parse(url);
        Setup.install(target, null);
        try (Connection c = ControlConnection.openLocal(target, "pgnear demo")) {
            TableAdmin admin = new TableAdmin(c);
            admin.attach("public.items", true, "items");
            admin.attach("public.tenant_items", false, "tenant_items");
        }
    }

    static void join(String url, String node) throws SQLException {
        try (Connection c = ControlConnection.openLocal(PgTarget.parse(url), "pgnear demo")) {
            new Fence(c).join(node);
        }
    }

    static void leave(String url, String node) throws SQLException {
        try (Connection c = ControlConnection.openLocal(PgTarget.parse(url), "pgnear demo")) {
            new Fence(c).leave(node);
        }
    }
}
