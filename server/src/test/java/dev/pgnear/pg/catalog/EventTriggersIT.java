package dev.pgnear.pg.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** What DDL tells the nodes, and that no statement of a user fails because a table is attached. */
@ParameterizedClass
@ValueSource(ints = {15, 18})
class EventTriggersIT {
    private static TestPostgres server;

    @Parameter
    int major;

    private CatalogDatabase db;
    private String oid = "";

    @BeforeParameterizedClassInvocation
    static void start(int major) throws SQLException {
        server = TestPostgres.start(major);
        server.sql("create role app login", "create role reader");
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    @BeforeEach
    void create() throws SQLException {
        db = new CatalogDatabase(server);
        db.setup();
        db.sql(
                "grant create on schema public to app",
                "create table t (id int primary key, v text, o int not null default 1)",
                "insert into t values (1, 'a', 1), (2, 'b', 2)",
                "create unique index t_o on t (o)",
                "alter table t owner to app",
                "select local_cache.attach_table('t')");
        oid = db.oid("t");
        db.listen();
    }

    @AfterEach
    void drop() throws SQLException {
        db.close();
    }

    /** The owner, who has no rights on local_cache, can still change rows. */
    private void rowsCanBeChanged() throws SQLException {
        db.sqlAs(
                "app",
                "update t set v = v || 'x'",
                "delete from t where v = 'none'",
                "insert into t values (100, 'new', 100)",
                "delete from t where o = 100");
    }

    private List<String> ddlOnly() throws SQLException {
        return db.messages().stream().filter(m -> m.startsWith("ddl")).toList();
    }

    @Test
    void dropEndsTheMappingAndTheNameIsFree() throws SQLException {
        db.sqlAs("app", "begin; drop table t; rollback");
        assertThat(db.messages()).isEmpty();
        assertThat(db.query("select count(*) from local_cache.mappings")).isEqualTo("1");
        db.sqlAs("app", "drop table t", "create table t (id int primary key)");
        assertThat(db.messages()).containsExactly("mapping " + oid);
        assertThat(db.query("select count(*) from local_cache.mappings")).isEqualTo("0");
    }

    @Test
    void dropOfTheSchemaEndsTheMappingToo() throws SQLException {
        db.sql("create schema s", "create table s.u (id int primary key)", "select local_cache.attach_table('s.u')");
        String u = db.oid("s.u");
        db.messages();
        db.sql("drop schema s cascade");
        assertThat(db.messages()).contains("mapping " + u);
        assertThat(db.query("select relid::oid from local_cache.mappings")).isEqualTo(oid);
    }

    @Test
    void primaryKeyDroppedAndMadeAgain() throws SQLException {
        db.sqlAs("app", "alter table t drop constraint t_pkey");
        assertThat(ddlOnly()).contains("ddl " + oid + " ALTER TABLE");
        assertThat(db.published("t")).isFalse();
        rowsCanBeChanged();
        db.sqlAs("app", "alter table t add primary key (id)");
        assertThat(db.messages()).contains("ddl " + oid + " ALTER TABLE", "mapping " + oid);
        assertThat(db.published("t")).isTrue();
        rowsCanBeChanged();
    }

    @Test
    void keyColumnDroppedWithItsType() throws SQLException {
        db.sql("create domain d as int");
        db.sqlAs(
                "app",
                "alter table t drop constraint t_pkey, add column k d, alter column k set default 0",
                "update t set k = id",
                "alter table t add primary key (k)");
        assertThat(db.published("t")).isTrue();
        db.messages();
        db.sql("drop domain d cascade");
        assertThat(ddlOnly()).contains("ddl " + oid + " DROP DOMAIN");
        assertThat(db.published("t")).isFalse();
        rowsCanBeChanged();
    }

    @Test
    void replicaIdentityTakenAway() throws SQLException {
        db.sqlAs("app", "alter table t replica identity nothing");
        assertThat(ddlOnly()).contains("ddl " + oid + " ALTER TABLE");
        rowsCanBeChanged();
        db.sqlAs("app", "alter table t replica identity default");
        assertThat(db.published("t")).isTrue();
        db.sqlAs("app", "alter table t replica identity full");
        assertThat(db.published("t")).isTrue();
        rowsCanBeChanged();
        db.sqlAs("app", "alter table t replica identity using index t_o");
        assertThat(db.published("t")).isFalse();
        rowsCanBeChanged();
        db.sqlAs("app", "drop index t_o");
        rowsCanBeChanged();
        db.sqlAs("app", "alter table t replica identity using index t_pkey");
        assertThat(db.published("t")).isTrue();
        rowsCanBeChanged();
    }

    @Test
    void identityIndexDropped() throws SQLException {
        db.sql("alter event trigger pgnear_ddl disable");
        db.sqlAs("app", "alter table t replica identity using index t_o");
        db.sql("alter event trigger pgnear_ddl enable always");
        assertThat(db.published("t")).isTrue();
        db.sqlAs("app", "drop index t_o");
        assertThat(ddlOnly()).contains("ddl " + oid + " DROP INDEX");
        rowsCanBeChanged();
    }

    @Test
    void generatedColumnOnAFullIdentity() throws SQLException {
        db.sqlAs(
                "app",
                "alter table t replica identity full",
                "alter table t add column g int generated always as (o + 1) stored");
        rowsCanBeChanged();
        assertThat(db.published("t")).isEqualTo(major < 18);
    }

    @Test
    void administratorsColumnListDoesNotBreakWrites() throws SQLException {
        db.sql("alter publication pgnear set table t (id) where (id > 1)");
        assertThat(db.published("t")).isTrue();
        assertThat(ddlOnly()).contains("ddl " + oid + " ALTER PUBLICATION");
        db.sql("alter publication pgnear set (publish = 'insert')");
        assertThat(db.published("t")).isTrue();
        assertThat(ddlOnly()).contains("ddl 0 ALTER PUBLICATION");
        rowsCanBeChanged();
        db.sql("alter publication pgnear drop table t");
        assertThat(ddlOnly()).contains("ddl " + oid + " ALTER PUBLICATION");
        assertThat(db.published("t")).isFalse();
        assertThat(db.query("select local_cache.reconcile_table('t')")).isNull();
        assertThat(db.published("t")).isTrue();
        db.messages();
        db.sql("drop publication pgnear");
        assertThat(ddlOnly()).contains("ddl 0 DROP PUBLICATION");
        rowsCanBeChanged();
    }

    @Test
    void everyChangeOfTheTableIsTold() throws SQLException {
        db.sql("create schema s2 authorization app");
        List<String> statements = List.of(
                "alter table t add column w int default 3",
                "alter table t rename column w to x",
                "alter table t alter column x type text using x || '!'",
                "alter table t drop column x",
                "alter table t rename to u",
                "alter table u set schema s2",
                "alter table s2.u set schema public",
                "alter table u rename to t",
                "alter table t enable row level security",
                "alter table t disable row level security",
                "alter table t alter id type bigint");
        for (String s : statements) {
            db.sqlAs("app", s);
            assertThat(db.messages()).as(s).contains("ddl " + oid + " ALTER TABLE");
        }
        assertThat(db.published("t")).isTrue();
        db.sqlAs("app", "create function f() returns trigger language plpgsql as 'begin return new; end'");
        assertThat(db.messages()).isEmpty();
        db.sqlAs("app", "create trigger tr after update on t execute function f()");
        assertThat(db.messages()).containsExactly("ddl " + oid + " CREATE TRIGGER");
        db.sqlAs("app", "drop trigger tr on t");
        assertThat(db.messages()).containsExactly("ddl " + oid + " DROP TRIGGER");
        db.sqlAs("app", "create policy p on t using (true)");
        assertThat(db.messages()).containsExactly("ddl " + oid + " CREATE POLICY");
        db.sqlAs("app", "drop policy p on t");
        assertThat(db.messages()).containsExactly("ddl " + oid + " DROP POLICY");
    }

    @Test
    void whatReachesRowsFromElsewhereIsToldToAll() throws SQLException {
        db.sql(
                "create type mood as enum ('a')",
                "create type pair as (x int)",
                "create table other (a int)",
                "create schema s3",
                "create domain dom as int");
        db.sql("alter table t add column m mood", "alter table t add column r other");
        db.messages();
        db.sql("alter type mood add value 'b'");
        assertThat(db.messages()).containsExactly("ddl 0 ALTER TYPE");
        db.sql("alter domain dom set default 3");
        assertThat(db.messages()).containsExactly("ddl 0 ALTER DOMAIN");
        db.sql("alter table other rename column a to b");
        assertThat(db.messages()).containsExactly("ddl 0 ALTER TABLE");
        db.sqlAs("app", "grant select on t to reader");
        assertThat(db.messages()).containsExactly("ddl 0 GRANT");
        db.sqlAs("app", "revoke select (v) on t from reader");
        assertThat(db.messages()).containsExactly("ddl 0 REVOKE");
        db.sql("revoke usage on schema s3 from reader");
        assertThat(db.messages()).containsExactly("ddl 0 REVOKE");
        db.sql("alter schema s3 rename to s4");
        assertThat(db.messages()).containsExactly("ddl 0 ALTER SCHEMA");
        db.sql("create cast (pair as json) with inout");
        assertThat(db.messages()).containsExactly("ddl 0 CREATE CAST");
        db.sql("drop cast (pair as json)");
        assertThat(db.messages()).containsExactly("ddl 0 DROP CAST");
    }

    @Test
    void childrenByInheritanceWithdrawAndReturnIt() throws SQLException {
        db.sqlAs("app", "create table kid () inherits (t)");
        assertThat(ddlOnly()).contains("ddl " + oid + " CREATE TABLE");
        assertThat(db.published("t")).isFalse();
        rowsCanBeChanged();
        db.sqlAs("app", "drop table kid");
        assertThat(ddlOnly()).contains("ddl " + oid + " DROP TABLE");
        assertThat(db.published("t")).isTrue();
        db.sqlAs(
                "app", "create table root (id int not null, v text, o int not null default 1) partition by range (id)");
        db.messages();
        db.sqlAs("app", "alter table root attach partition t for values from (0) to (1000)");
        assertThat(ddlOnly()).contains("ddl " + oid + " ALTER TABLE");
        assertThat(db.published("t")).isFalse();
        rowsCanBeChanged();
    }

    @Test
    void ddlOnOtherTablesSaysNothingAndWorksWithoutRights() throws SQLException {
        db.sqlAs(
                "app",
                "create table mine (id int primary key, v text)",
                "alter table mine add column w int",
                "alter table mine rename to mine2",
                "create index on mine2 (w)",
                "create view vw as select * from mine2",
                "drop view vw",
                "create temporary table tmp (id int primary key)",
                "alter table tmp add column x int",
                "drop table tmp",
                "alter table mine2 drop constraint mine_pkey",
                "create type ty as enum ('a')",
                "drop type ty",
                "drop table mine2");
        assertThat(db.messages()).isEmpty();
        assertThat(db.query("select has_schema_privilege('app', 'local_cache', 'usage')"))
                .isEqualTo("f");
    }

    @Test
    void toldInTheTransactionAndOnlyIfItCommits() throws SQLException {
        try (Connection c = server.connect("app", db.name);
                Statement s = c.createStatement()) {
            c.setAutoCommit(false);
            s.execute("alter table t add column w int");
            s.execute("savepoint a");
            s.execute("alter table t drop constraint t_pkey");
            s.execute("rollback to a");
            assertThat(db.messages()).isEmpty();
            c.commit();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
        assertThat(db.messages()).containsExactly("ddl " + oid + " ALTER TABLE");
        assertThat(db.published("t")).isTrue();
    }

    @Test
    void alsoInSessionsOfReplicationWorkers() throws SQLException {
        db.sql(
                "set session_replication_role = replica",
                "alter table t add column w int",
                "reset session_replication_role");
        assertThat(db.messages()).containsExactly("ddl " + oid + " ALTER TABLE");
    }

    @Test
    void aBrokenInstallationNeverStopsTheUser() throws SQLException {
        db.sql("alter table local_cache.mappings rename to gone");
        db.sqlAs("app", "alter table t add column w int", "drop table t");
        assertThat(db.messages()).contains("ddl 0 ALTER TABLE", "ddl 0 DROP TABLE");
    }
}
