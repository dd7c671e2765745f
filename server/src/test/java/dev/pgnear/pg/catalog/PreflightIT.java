package dev.pgnear.pg.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.TestPostgres;
import dev.pgnear.pg.catalog.Preflight.Finding;
import dev.pgnear.pg.catalog.Preflight.Level;
import dev.pgnear.pg.wire.PgTarget;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PreflightIT {
    private static TestPostgres server;
    private CatalogDatabase db;

    @BeforeAll
    static void start() throws SQLException {
        server = TestPostgres.start(18);
        server.sql("create role node login replication", "create role plain login");
    }

    @AfterAll
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

    private List<Finding> notOk(String user, boolean fenced) {
        return Preflight.run(db.target(user), "n1", fenced).stream()
                .filter(f -> f.level() != Level.OK)
                .toList();
    }

    @Test
    void emptyDatabaseNeedsSetup() {
        assertThat(notOk("node", false))
                .singleElement()
                .satisfies(f -> assertThat(f.level()).isEqualTo(Level.PROBLEM))
                .satisfies(f -> assertThat(f.fix()).startsWith("pgnear setup --postgres URL --node-role \"node\""));
    }

    @Test
    void eachMendLeadsToAPass() throws SQLException {
        Setup.install(db.target(), "node");
        assertThat(notOk("node", false))
                .containsExactly(new Finding(Level.NOTE, "no table is attached", "pgnear attach schema.table"));
        db.sql(
                "create schema s",
                "create table s.\"T 1\" (id int primary key)",
                "select local_cache.attach_table('s.\"T 1\"')");
        List<Finding> findings = notOk("node", false);
        assertThat(findings).hasSize(2).extracting(Finding::level).containsOnly(Level.PROBLEM);
        assertThat(findings)
                .extracting(Finding::what)
                .containsExactly("the role may not read s.\"T 1\"", "the role may not use schema s");
        for (Finding f : findings) {
            db.sql(f.fix());
        }
        assertThat(notOk("node", false)).isEmpty();
        findings = notOk("node", true);
        assertThat(findings)
                .extracting(Finding::what)
                .containsExactly(
                        "the role may not see the state of walsenders, so the node cannot know that it is fenced and serves as degraded",
                        "fenced was asked for, but synchronous_standby_names is empty: the node will serve as degraded until it joins");
        db.sql(findings.getFirst().fix());
        assertThat(notOk("node", true)).hasSize(1);
        db.sql("revoke pg_monitor from node");
    }

    @Test
    void roleWithoutRights() throws SQLException {
        Setup.install(db.target(), null);
        List<Finding> findings = notOk("plain", false);
        assertThat(findings)
                .extracting(Finding::what)
                .containsExactly("the role has no REPLICATION privilege", "the role may not use schema local_cache");
        assertThat(findings.getFirst().fix()).isEqualTo("ALTER ROLE \"plain\" REPLICATION;");
        assertThat(Preflight.passed(findings)).isFalse();
    }

    @Test
    void whatIsBypassedIsANote() throws SQLException {
        Setup.install(db.target(), null);
        db.sql(
                "create table a (id int primary key)",
                "create table b (id int primary key)",
                "create table c (id int primary key)",
                "select local_cache.attach_table('a'), local_cache.attach_table('b'), local_cache.attach_table('c')",
                "alter table a enable row level security",
                "alter publication pgnear drop table b",
                "alter event trigger pgnear_drop disable",
                "drop table c");
        List<Finding> findings = notOk("postgres", false);
        assertThat(Preflight.passed(findings)).isTrue();
        assertThat(findings.toString())
                .contains(
                        "public.a is attached but not cached: it has row-level security",
                        "public.b is attached but not cached: it is not in publication",
                        "it does not exist",
                        "event triggers are not installed or not enabled");
        db.sql("select * from local_cache.reconcile_all()");
        assertThat(notOk("postgres", false)).hasSize(2);
    }

    @Test
    void publicationTurnedAround() throws SQLException {
        Setup.install(db.target(), null);
        db.sql(
                "alter event trigger pgnear_ddl disable",
                "alter publication pgnear set (publish = 'insert')",
                "alter publication pgnear owner to plain");
        assertThat(notOk("postgres", false))
                .extracting(Finding::what)
                .contains("publication pgnear does not publish every kind of change");
        db.sql("drop publication pgnear");
        assertThat(notOk("postgres", false)).extracting(Finding::what).contains("publication pgnear is missing");
        db.sql(
                "create or replace function local_cache.schema_version() returns int language sql immutable as 'select 0'");
        assertThat(notOk("postgres", false))
                .singleElement()
                .satisfies(f -> assertThat(f.what()).contains("has version 0, this pgnear needs"));
    }

    @Test
    void serverThatCannotStream() throws SQLException {
        try (TestPostgres other =
                TestPostgres.start(15, "wal_level", "replica", "max_replication_slots", "0", "max_wal_senders", "1")) {
            List<Finding> findings = Preflight.run(PgTarget.parse(other.url()), "n1", false);
            assertThat(findings)
                    .filteredOn(f -> f.level() == Level.PROBLEM)
                    .extracting(Finding::what)
                    .contains(
                            "wal_level is replica",
                            "max_replication_slots has no room: 0 of 0 are used and a node needs 1",
                            "max_wal_senders has no room: 0 of 1 are used and a node needs 2");
        }
    }

    @Test
    void whatCannotBeReached() {
        Finding gone = Preflight.run(PgTarget.parse("postgresql://postgres@127.0.0.1:1/postgres"), "n1", false)
                .getFirst();
        assertThat(gone.level()).isEqualTo(Level.PROBLEM);
        assertThat(gone.what())
                .startsWith("Cannot connect to postgresql://postgres@127.0.0.1:1/postgres (")
                .endsWith("check that it runs and that host, port and TLS mode are right.");
        assertThat(Preflight.run(db.target("nobody"), "n1", false).getFirst().what())
                .contains("role \"nobody\" does not exist");
        PgTarget absent = db.target().withDatabase("absent");
        assertThat(Preflight.run(absent, "n1", false).getFirst().what())
                .contains("database \"absent\" does not exist); check the database's name");
    }
}
