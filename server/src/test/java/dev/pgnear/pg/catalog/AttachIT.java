package dev.pgnear.pg.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgnear.TestPostgres;
import dev.pgnear.base.UserError;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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
class AttachIT {
    private static TestPostgres server;

    @Parameter
    int major;

    private CatalogDatabase db;

    @BeforeParameterizedClassInvocation
    static void start(int major) throws SQLException {
        server = TestPostgres.start(major);
        server.sql("create role app login", "create role other login");
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    @BeforeEach
    void create() throws SQLException {
        db = new CatalogDatabase(server);
        db.setup();
    }

    @AfterEach
    void drop() throws SQLException {
        db.close();
    }

    private String attach(String table) {
        return db.refusal("select local_cache.attach_table('" + table + "')");
    }

    @Test
    void publishesWholeRowsAndTellsTheNodes() throws SQLException {
        db.sql("create table t (id int primary key, v text)");
        db.listen();
        db.sql("select local_cache.attach_table('t')");
        assertThat(db.messages()).containsExactly("mapping " + db.oid("t"));
        assertThat(db.published("t")).isTrue();
        db.sql("select local_cache.attach_table('t', alias => 'tt', writable => true)");
        assertThat(db.messages()).containsExactly("mapping " + db.oid("t"));
        assertThat(db.query("select alias || writable from local_cache.mappings"))
                .isEqualTo("tttrue");
        assertThat(db.query("select local_cache.detach_table('t')")).isEqualTo("t");
        assertThat(db.messages()).contains("mapping " + db.oid("t")).doesNotContain("ddl 0 ALTER PUBLICATION");
        assertThat(db.published("t")).isFalse();
        assertThat(db.query("select count(*) from local_cache.mappings")).isEqualTo("0");
        assertThat(db.query("select local_cache.detach_table('t')")).isEqualTo("f");
    }

    @Test
    void repeatedAttachKeepsWhatIsNotGiven() throws Exception {
        db.sql("create table t (id int primary key)", "select local_cache.attach_table('t')");
        String mapping = "select concat_ws(' ', alias, writable) from local_cache.mappings";
        assertThat(db.query(mapping)).isEqualTo("f");
        db.sql("select local_cache.attach_table('t', true, 'x')", "select local_cache.attach_table('t')");
        assertThat(db.query(mapping)).isEqualTo("x t");
        db.sql("select local_cache.attach_table('t', alias => 'y')");
        assertThat(db.query(mapping)).isEqualTo("y t");
        db.sql("select local_cache.attach_table('t', writable => false)");
        assertThat(db.query(mapping)).isEqualTo("y f");
        try (Connection c = ControlConnection.open(db.target(), "test")) {
            TableAdmin admin = new TableAdmin(c);
            admin.attach("t", true, "z");
            admin.attach("t", null, null);
            assertThat(db.query(mapping)).isEqualTo("z t");
        }
    }

    @Test
    void takesEveryListedKeyType() throws SQLException {
        db.sql(
                "create type mood as enum ('a', 'b')",
                "create domain positive as int check (value > 0)",
                "create domain small_positive as positive check (value < 10)");
        List<String> types = List.of(
                "int2",
                "int4",
                "int8",
                "text",
                "varchar(10)",
                "varchar",
                "char(5)",
                "uuid",
                "numeric(10,2)",
                "numeric",
                "date",
                "timestamp(3)",
                "timestamptz",
                "bytea",
                "mood",
                "small_positive",
                "text collate \"C\"");
        int n = 0;
        for (String type : types) {
            String table = "t" + n++;
            db.sql("create table " + table + " (id " + type + " primary key, v int)");
            assertThat(attach(table)).as(type).isEqualTo("no error");
        }
        String columns = IntStream.range(0, 16).mapToObj(i -> "c" + i).collect(Collectors.joining(", "));
        db.sql("create table wide (" + columns.replace(",", " int,") + " int, v int, primary key (" + columns
                + ") include (v))");
        assertThat(attach("wide")).isEqualTo("no error");
        db.sql("create table \"Odd \"\"name'\" (\"the ID\" int primary key)");
        assertThat(db.refusal("select local_cache.attach_table('\"Odd \"\"name''\"')"))
                .isEqualTo("no error");
        db.sql("create table whole (id int primary key)", "alter table whole replica identity full");
        assertThat(attach("whole")).isEqualTo("no error");
        db.sql("create table named (id int primary key)", "alter table named replica identity using index named_pkey");
        assertThat(attach("named")).isEqualTo("no error");
    }

    @Test
    void refusesWithReasonAndHint() throws SQLException {
        db.sql("create table nokey (id int)");
        assertThat(attach("nokey"))
                .isEqualTo(
                        "55000 cannot attach public.nokey: it has no primary key | ALTER TABLE public.nokey ADD PRIMARY KEY (...);");
        db.sql("create table deferred (id int primary key deferrable)");
        assertThat(attach("deferred")).startsWith("55000 cannot attach public.deferred: its primary key is deferrable");
        db.sql("create table rls (id int primary key)", "alter table rls enable row level security");
        assertThat(attach("rls"))
                .startsWith("55000 cannot attach public.rls: it has row-level security")
                .contains("DISABLE ROW LEVEL SECURITY");
        db.sql("create temporary table temp (id int primary key)");
        assertThat(attach("temp")).startsWith("55000 cannot attach temp: it is temporary");
        db.sql("create unlogged table unlogged (id int primary key)");
        assertThat(attach("unlogged"))
                .startsWith("55000 cannot attach public.unlogged: it is unlogged")
                .endsWith("| ALTER TABLE public.unlogged SET LOGGED;");
        db.sql("create view v as select 1 as id", "create materialized view mv as select 1 as id", "create sequence s");
        assertThat(attach("v")).startsWith("55000 cannot attach public.v: it is a view");
        assertThat(attach("mv")).startsWith("55000 cannot attach public.mv: it is a materialized view");
        assertThat(attach("s")).startsWith("55000 cannot attach public.s: it is not a table");
        db.sql(
                "create foreign data wrapper w",
                "create server srv foreign data wrapper w",
                "create foreign table ft (id int) server srv");
        assertThat(attach("ft")).startsWith("55000 cannot attach public.ft: it is a foreign table");
        assertThat(attach("pg_class")).startsWith("55000 cannot attach pg_class: it is a system table");
        assertThat(attach("local_cache.mappings"))
                .startsWith("55000 cannot attach local_cache.mappings: it belongs to pgnear itself");
        db.sql(
                "create table part (id int primary key) partition by list (id)",
                "create table part1 partition of part for values in (1)");
        assertThat(attach("part")).startsWith("55000 cannot attach public.part: it is partitioned");
        assertThat(attach("part1")).startsWith("55000 cannot attach public.part1: it is a partition");
        db.sql("create table parent (id int primary key)", "create table child (primary key (id)) inherits (parent)");
        assertThat(attach("parent")).startsWith("55000 cannot attach public.parent: it takes part in inheritance");
        assertThat(attach("child")).startsWith("55000 cannot attach public.child: it takes part in inheritance");
        db.sql("create table identity (id int primary key, o int not null unique)");
        db.sql("alter table identity replica identity nothing");
        assertThat(attach("identity"))
                .startsWith("55000 cannot attach public.identity: its replica identity is NOTHING")
                .endsWith("REPLICA IDENTITY DEFAULT;");
        db.sql("alter table identity replica identity using index identity_o_key");
        assertThat(attach("identity"))
                .startsWith("55000 cannot attach public.identity: its replica identity is another index");
        assertThat(db.refusal("select local_cache.attach_table(null)"))
                .startsWith("22004 cannot attach: no table given");
        assertThat(db.refusal("select local_cache.attach_table('none')"))
                .startsWith("42P01 relation \"none\" does not exist");
        assertThat(db.query("select count(*) from local_cache.mappings")).isEqualTo("0");
        assertThat(db.query("select count(*) from pg_publication_rel")).isEqualTo("0");
    }

    @Test
    void refusesColumnsWhoseTextDependsOnOtherObjects() throws SQLException {
        db.sql(
                "create domain d as regrole",
                "create type inner_pair as (a int, b regtype[])",
                "create type pair as (a int, b inner_pair)",
                "create type span as range (subtype = regclass)");
        for (String type : List.of(
                "regclass",
                "regcollation",
                "regconfig",
                "regdictionary",
                "regnamespace",
                "regoper",
                "regoperator",
                "regproc",
                "regprocedure",
                "regrole",
                "regtype",
                "aclitem",
                "regclass[]",
                "d",
                "d[]",
                "pair",
                "span",
                "multirange_of_span")) {
            String actual = type.equals("multirange_of_span")
                    ? db.query("select rngmultitypid::regtype from pg_range where rngtypid = 'span'::regtype")
                    : type;
            db.sql("drop table if exists r", "create table r (id int primary key, v text, \"C\" " + actual + ")");
            assertThat(attach("r"))
                    .as(type)
                    .startsWith("55000 cannot attach public.r: column \"C\" has type ")
                    .endsWith("whose text changes when other objects are renamed or dropped"
                            + " | Keep the name as text, or the number as oid.");
        }
        db.sql("alter table r drop column \"C\"", "alter table r add column o oid, add column n int4range");
        assertThat(attach("r")).isEqualTo("no error");
        db.listen();
        db.sql("create type plain as (a int)", "alter table r add column p plain");
        assertThat(db.published("r")).isTrue();
        db.messages();
        db.sql("alter type plain add attribute b regclass");
        assertThat(db.messages()).contains("ddl 0 ALTER TYPE");
        assertThat(db.query("select problem from local_cache.table_problem('r'::regclass)"))
                .startsWith("column p has type public.plain");
        db.sql("alter table r drop column p", "alter table r add column c regclass");
        assertThat(db.published("r")).isFalse();
    }

    @Test
    void leavesVirtualColumnsToTheirOwner() throws SQLException {
        if (major < 18) {
            return; // there are no virtual columns
        }
        db.sql("create table g (id int primary key, v int generated always as (id + 1) virtual)");
        assertThat(attach("g"))
                .startsWith("55000 cannot attach public.g: column v is a virtual generated column")
                .contains("| Make it STORED");
        db.sql("alter table g drop column v");
        assertThat(attach("g")).isEqualTo("no error");
        db.sql(
                "alter table g add column v int generated always as (id + 1) virtual",
                "alter table g alter column v set expression as (id + 2)");
        assertThat(db.published("g")).isFalse();
        db.sql("alter table g drop column v");
        assertThat(db.published("g")).isTrue();
        db.sql("alter table g add column v int generated always as (id + 1) stored");
        assertThat(db.published("g")).isTrue();
    }

    @Test
    void refusesTablesOfExtensions() throws SQLException {
        db.sql("create table owned (id int primary key)", "alter extension plpgsql add table owned");
        assertThat(attach("owned")).startsWith("55000 cannot attach public.owned: it belongs to an extension");
        db.sql("alter extension plpgsql drop table owned");
        assertThat(attach("owned")).isEqualTo("no error");
    }

    @Test
    void refusesKeysThatCannotBeCanonical() throws SQLException {
        for (String type : List.of("bool", "real", "inet", "int[]", "interval", "jsonb", "name")) {
            db.sql("drop table if exists k", "create table k (id " + type + " primary key)");
            assertThat(attach("k"))
                    .as(type)
                    .startsWith("55000 cannot attach public.k: key column id has type ")
                    .contains("| Key types are smallint");
        }
        db.sql("drop table k", "create domain flag as bool", "create table k (\"Id\" flag primary key)");
        assertThat(attach("k")).startsWith("55000 cannot attach public.k: key column \"Id\" has type public.flag");
        db.sql(
                "drop table k",
                "create collation nd (provider = icu, locale = 'und', deterministic = false)",
                "create table k (id text collate nd primary key)");
        assertThat(attach("k"))
                .startsWith("55000 cannot attach public.k: key column id has a non-deterministic collation");
        db.sql("drop table k", "create table k (id int generated always as (o * 2) stored primary key, o int)");
        assertThat(attach("k")).startsWith("55000 cannot attach public.k: key column id is generated");
        String columns = IntStream.range(0, 17).mapToObj(i -> "c" + i).collect(Collectors.joining(", "));
        db.sql(
                "drop table k",
                "create table k (" + columns.replace(",", " int,") + " int, primary key (" + columns + "))");
        assertThat(attach("k"))
                .startsWith("55000 cannot attach public.k: its primary key has 17 columns, more than 16");
    }

    @Test
    void refusesAnOperatorClassThatIsNotTheDefault() throws SQLException {
        db.sql("create table k (id text not null)", "create unique index k_id on k (id text_pattern_ops)");
        // PostgreSQL makes no primary key of such an index; as an administrator with catalog rights could:
        db.sql(
                "set allow_system_table_mods = on",
                "update pg_index set indisprimary = true where indexrelid = 'k_id'::regclass",
                "reset allow_system_table_mods");
        assertThat(attach("k"))
                .startsWith(
                        "55000 cannot attach public.k: key column id has an operator class that is not the default");
        db.sql("update pg_index set indisprimary = false where indexrelid = 'k_id'::regclass");
    }

    @Test
    void refusesAliases() throws SQLException {
        db.sql(
                "create table a (id int primary key)",
                "create table b (id int primary key)",
                "select local_cache.attach_table('a', false, 'x')");
        for (String alias : List.of("", "CRUD", "crud", "a:b", "1a", "a b", "ä", "a".repeat(64), "a\n")) {
            assertThat(db.refusal("select local_cache.attach_table('b', false, E'" + alias.replace("\n", "\\n") + "')"))
                    .as(alias)
                    .startsWith("22023 cannot attach public.b: ")
                    .contains("is no usable alias | An alias is a letter");
        }
        assertThat(db.refusal("select local_cache.attach_table('b', false, 'x')"))
                .isEqualTo("42710 cannot attach public.b: alias 'x' is in use by public.a | Choose another alias.");
        assertThat(db.refusal("select local_cache.attach_table('b', false, 'X')"))
                .isEqualTo("no error");
    }

    @Test
    void refusesMoreThanTheLimit() throws SQLException {
        db.sql(
                "create table t (id int primary key)",
                "insert into local_cache.mappings (relid) select 4000000000 + g from generate_series(1, 1024) g");
        assertThat(attach("t")).startsWith("54000 cannot attach public.t: 1024 tables are attached already");
        db.sql("delete from local_cache.mappings where relid = 4000000001");
        assertThat(attach("t")).isEqualTo("no error");
    }

    @Test
    void refusesWhoDoesNotOwnTheTable() throws SQLException {
        db.sql(
                "grant create on schema public to app",
                "grant usage on schema local_cache to app",
                "grant execute on all functions in schema local_cache to app",
                "create table t (id int primary key)");
        db.sqlAs("app", "create table mine (id int primary key)", "select local_cache.attach_table('mine')");
        for (String f : List.of("attach", "detach", "reconcile")) {
            assertThatThrownBy(() -> db.sqlAs("app", "select local_cache." + f + "_table('t')"))
                    .hasMessageContaining("cannot " + f + " public.t: app does not own it");
        }
        assertThat(db.refusal("set role app; select local_cache.attach_table('t')"))
                .startsWith("42501 cannot attach public.t: app does not own it");
    }

    @Test
    void resetsAnAdministratorsColumnList() throws SQLException {
        db.sql(
                "create table t (id int primary key, v int)",
                "alter publication pgnear add table t (id) where (id > 5)");
        assertThat(db.published("t")).isFalse();
        assertThat(attach("t")).isEqualTo("no error");
        assertThat(db.published("t")).isTrue();
    }

    @Test
    void objectsOfAUserInFrontOfPgCatalogTakeNoPart() throws SQLException {
        db.sql("create schema evil", "grant usage on schema evil to public");
        db.sql(
                "create function evil.boom() returns int language plpgsql as $$ begin raise exception 'hijacked'; end $$",
                "create function evil.eq(oid, oid) returns bool language plpgsql as $$ begin raise exception 'hijacked'; end $$",
                "create function evil.eq(text, text) returns bool language plpgsql as $$ begin raise exception 'hijacked'; end $$",
                "create function evil.eq(name, name) returns bool language plpgsql as $$ begin raise exception 'hijacked'; end $$",
                "create function evil.eq(\"char\", \"char\") returns bool language plpgsql as $$ begin raise exception 'hijacked'; end $$",
                "create function evil.cat(text, text) returns text language plpgsql as $$ begin raise exception 'hijacked'; end $$",
                "create operator evil.= (leftarg = oid, rightarg = oid, function = evil.eq)",
                "create operator evil.= (leftarg = text, rightarg = text, function = evil.eq)",
                "create operator evil.= (leftarg = name, rightarg = name, function = evil.eq)",
                "create operator evil.= (leftarg = \"char\", rightarg = \"char\", function = evil.eq)",
                "create operator evil.|| (leftarg = text, rightarg = text, function = evil.cat)",
                "create function evil.format(text, variadic \"any\") returns text language internal as 'text_format_nv'",
                "create function evil.pg_logical_emit_message(bool, text, text) returns pg_lsn language plpgsql as $$ begin raise exception 'hijacked'; end $$",
                "create function evil.current_database() returns name language plpgsql as $$ begin raise exception 'hijacked'; end $$",
                "create function evil.pg_has_role(name, name, text) returns bool language sql as 'select true'",
                "create view evil.pg_class as select evil.boom()",
                "create view evil.pg_index as select evil.boom()",
                "create view evil.pg_roles as select evil.boom()");
        db.sql("create table public.t (id int primary key, v int)");
        db.listen();
        try (Connection c = server.connect("postgres", db.name);
                Statement s = c.createStatement()) {
            s.execute("set search_path = evil, pg_catalog, public");
            s.execute("create temporary table pg_publication (x int)");
            s.execute("create temporary table mappings (x int)");
            s.execute("create temporary table pg_inherits (x int)");
            s.execute("set search_path = pg_temp, evil, pg_catalog, public");
            s.execute("select local_cache.attach_table('public.t', true, 'x')");
            s.execute("select local_cache.invalidate('CRUD:" + db.name + ".public.t')");
            s.execute("alter table public.t add column w int");
            s.execute("select local_cache.reconcile_table('public.t')");
            s.execute("select * from local_cache.reconcile_all()");
            s.execute("select local_cache.health(), local_cache.stats()");
            s.execute("alter table public.t drop constraint t_pkey");
            s.execute("select local_cache.detach_table('public.t')");
            s.execute("drop table public.t");
        }
        assertThat(db.messages().toString())
                .contains("mapping", "invalidate", "ddl")
                .doesNotContain("ddl 0");
        // set-up and the control plane's connections under such a default
        db.sql("alter database " + db.name + " set search_path = evil, pg_catalog, public");
        db.setup();
        db.sql("create table public.u (id int primary key)");
        try (Connection c = ControlConnection.open(db.target(), "test")) {
            TableAdmin admin = new TableAdmin(c);
            assertThat(admin.attach("u", false, null)).isEqualTo("public.u");
            assertThat(admin.tables()).containsExactly(new TableAdmin.Attached("public.u", null, false, null));
        }
        assertThat(Preflight.run(db.target(), "n1", false))
                .filteredOn(f -> f.level() != Preflight.Level.OK)
                .isEmpty();
    }

    @Test
    void administrationSpeaksSentences() throws Exception {
        db.sql("create table t (id int primary key)", "create table nokey (id int)");
        try (Connection c = ControlConnection.open(db.target(), "test")) {
            TableAdmin admin = new TableAdmin(c);
            assertThat(admin.attach("t", true, "al")).isEqualTo("public.t");
            assertThat(admin.tables()).containsExactly(new TableAdmin.Attached("public.t", "al", true, null));
            admin.invalidate("CRUD");
            admin.invalidate("al:1");
            assertThatThrownBy(() -> admin.attach("nokey", false, null))
                    .isInstanceOf(UserError.class)
                    .hasMessage(
                            "Cannot attach public.nokey: it has no primary key; ALTER TABLE public.nokey ADD PRIMARY KEY (...);");
            assertThatThrownBy(() -> admin.attach("absent", false, null))
                    .hasMessageStartingWith("There is no table absent;");
            assertThatThrownBy(() -> admin.attach("a.b.c", false, null))
                    .hasMessageStartingWith("There is no table a.b.c;");
            assertThatThrownBy(() -> admin.attach("a..", false, null)).isInstanceOf(UserError.class);
            assertThatThrownBy(() -> admin.invalidate("nonsense"))
                    .hasMessageStartingWith("Cannot invalidate 'nonsense': no such scope");
            assertThat(admin.detach("public.t")).isEqualTo("public.t");
            assertThatThrownBy(() -> admin.detach("t")).hasMessageContaining("it is not attached");
            db.sql("drop schema local_cache cascade");
            assertThatThrownBy(() -> admin.attach("t", false, null))
                    .hasMessageContaining("not set up in this database; run `pgnear setup` first");
            assertThatThrownBy(admin::tables).hasMessageContaining("run `pgnear setup` first");
        }
    }
}
