package dev.pgnear.pg.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgnear.TestPostgres;
import dev.pgnear.base.UserError;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

@ParameterizedClass
@ValueSource(ints = {15, 18})
class SetupIT {
    private static TestPostgres server;

    @Parameter
    int major;

    private CatalogDatabase db;

    @BeforeParameterizedClassInvocation
    static void start(int major) throws SQLException {
        server = TestPostgres.start(major);
        server.sql("create role app login", "create role other login", "create role node login replication");
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    @BeforeEach
    void create() throws SQLException {
        db = new CatalogDatabase(server);
    }

    @AfterEach
    void drop() throws SQLException {
        db.close();
    }

    @Test
    void mayBeRepeatedAndKeepsTheMappings() throws SQLException {
        assertThat(Setup.install(db.target(), null)).isEmpty();
        db.sql("create table t (id int primary key)", "select local_cache.attach_table('t', true, 't')");
        assertThat(Setup.install(db.target(), null)).isEmpty();
        assertThat(db.query("select relid || ' ' || alias || ' ' || writable from local_cache.mappings"))
                .isEqualTo("t t true");
        assertThat(db.published("t")).isTrue();
    }

    @Test
    void printedScriptIsTheWholeSetup() throws Exception {
        try (var c = ControlConnection.connect(db.target(), "test", "", Map.of("preferQueryMode", "simple"));
                var s = c.createStatement()) {
            s.setEscapeProcessing(false);
            s.execute(Setup.script("node"));
        }
        assertThat(db.query("select local_cache.schema_version()")).isEqualTo(Integer.toString(Setup.VERSION));
        assertThat(db.query("select has_table_privilege('node', 'local_cache.mappings', 'SELECT')"))
                .isEqualTo("t");
        assertThat(Setup.script(null))
                .startsWith("BEGIN;")
                .endsWith("COMMIT;\n")
                .doesNotContain("${");
    }

    @Test
    void leavesNothingBehindWhenItFails() throws SQLException {
        assertThatThrownBy(() -> Setup.install(db.target(), "no such role"))
                .isInstanceOf(UserError.class)
                .hasMessage("Setup of database " + db.name
                        + " failed and changed nothing: role \"no such role\" does not exist.");
        assertThat(db.query("select count(*) from pg_namespace where nspname = 'local_cache'"))
                .isEqualTo("0");
        assertThat(db.query("select count(*) from pg_publication")).isEqualTo("0");
        assertThat(db.query("select count(*) from pg_event_trigger")).isEqualTo("0");
    }

    @Test
    void grantsNothingToPublic() throws SQLException {
        db.setup();
        assertThat(db.query("select has_schema_privilege('app', 'local_cache', 'USAGE')"))
                .isEqualTo("f");
        assertThat(db.query("select count(*) from pg_proc where pronamespace = 'local_cache'::regnamespace"))
                .isNotEqualTo("0");
        assertThat(db.query(
                        "select string_agg(oid::regprocedure::text, ',') from pg_proc where pronamespace = 'local_cache'::regnamespace"
                                + " and has_function_privilege('app', oid, 'EXECUTE')"))
                .isNull();
        assertThat(
                        db.query(
                                "select string_agg(relname, ',') from pg_class where relnamespace = 'local_cache'::regnamespace"
                                        + " and relkind = 'r' and has_table_privilege('app', oid, 'SELECT,INSERT,UPDATE,DELETE')"))
                .isNull();
    }

    @Test
    void givesTheNodesRoleWhatItReadsAndNoMore() throws SQLException {
        Setup.install(db.target(), "node");
        db.sqlAs(
                "node",
                "select * from local_cache.mappings",
                "select * from local_cache.releases",
                "select * from local_cache.table_problem(0)",
                "select local_cache.health(), local_cache.stats()",
                "select * from local_cache.metrics()");
        for (String refused : List.of(
                "select local_cache.attach_table('pg_class')",
                "delete from local_cache.mappings",
                "select local_cache.invalidate('CRUD')")) {
            assertThatThrownBy(() -> db.sqlAs("node", refused)).hasMessageContaining("permission denied");
        }
    }

    @Test
    void worksForAnOwnerWhoIsNoSuperuserWithoutEventTriggers() throws SQLException {
        try (CatalogDatabase own = new CatalogDatabase(server, "app")) {
            assertThat(Setup.install(own.target("app"), null))
                    .hasSize(1)
                    .first()
                    .asString()
                    .startsWith("event triggers need a superuser");
            assertThat(Setup.install(own.target("app"), null)).hasSize(1);
            own.sql("grant create on schema public to app, other");
            own.sqlAs("app", "create table mine (id int primary key)", "select local_cache.attach_table('mine')");
            assertThat(own.published("mine")).isTrue();
            own.sqlAs("other", "create table theirs (id int primary key)");
            assertThat(own.refusal("select local_cache.attach_table('theirs')"))
                    .isEqualTo(
                            "42501 cannot attach public.theirs: app, who ran setup, owns the publication but not the table"
                                    + " | GRANT other TO app; or run setup as a superuser.");
            assertThatThrownBy(() -> Setup.install(own.target("postgres"), null))
                    .hasMessageContaining("schema local_cache belongs to app, who is not a superuser");
        }
    }

    @Test
    void refusesWhatItMustNotTouch() throws SQLException {
        db.sql("grant create on database " + db.name + " to app", "create schema local_cache authorization other");
        assertThatThrownBy(() -> Setup.install(db.target("app"), null))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("schema local_cache belongs to other; Run setup as other.");
        db.sql("drop schema local_cache", "create publication pgnear for all tables");
        assertThatThrownBy(() -> Setup.install(db.target(), null))
                .hasMessageContaining("publication pgnear is FOR ALL TABLES");
        db.sql("drop publication pgnear");
        db.setup();
        db.sql(
                "create or replace function local_cache.schema_version() returns integer language sql immutable as 'select 999'");
        assertThatThrownBy(() -> Setup.install(db.target(), null))
                .hasMessageContaining("version 999, newer than this pgnear's " + Setup.VERSION);
    }

    @Test
    void mendsThePublication() throws SQLException {
        db.setup();
        db.sql(
                "set session_replication_role = replica",
                "alter event trigger pgnear_ddl disable",
                "alter publication pgnear set (publish = 'insert')");
        db.setup();
        assertThat(db.query("select pubupdate and pubdelete and pubtruncate and pubviaroot from pg_publication"))
                .isEqualTo("t");
        assertThat(db.query("select string_agg(evtenabled::text, '') from pg_event_trigger"))
                .isEqualTo("AA");
    }

    @Test
    void publishesTheAttachedTablesAgain() throws SQLException {
        db.setup();
        db.sql(
                "create table t (id int primary key)",
                "create table u (id int primary key)",
                "create table v (id int primary key)",
                "select local_cache.attach_table('t'), local_cache.attach_table('u'), local_cache.attach_table('v')",
                "drop publication pgnear",
                "alter table u drop constraint u_pkey");
        assertThat(Setup.install(db.target(), null))
                .containsExactly("table public.u is not cached: it has no primary key");
        assertThat(db.published("t")).isTrue();
        assertThat(db.published("u")).isFalse();
        assertThat(db.published("v")).isTrue();
    }

    @Test
    void upgradesInPlaceToNamesThatADumpCarries() throws SQLException {
        db.setup();
        db.sql(
                "create table t (id int primary key)",
                "select local_cache.attach_table('t')",
                "alter table local_cache.mappings alter column relid type oid",
                "drop table local_cache.leases");
        db.setup();
        assertThat(db.query("select relid from local_cache.mappings")).isEqualTo("t");
        assertThat(db.query("select count(*) from local_cache.leases")).isEqualTo("0");
    }
}
