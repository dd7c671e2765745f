package dev.pgnear.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgnear.TestPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The verbs over the database as a user types them: output, sentence of an error, exit code. */
class CatalogCommandsIT {
    private static TestPostgres server;

    private record Result(int code, String out, String err) {}

    @BeforeAll
    static void start() {
        server = TestPostgres.start(18);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Result run(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Main.run(args, new PrintWriter(out, true), new PrintWriter(err, true));
        return new Result(code, out.toString(), err.toString());
    }

    private static Result at(String... args) {
        List<String> all = new ArrayList<>(List.of(args));
        all.add("--postgres");
        all.add(server.url());
        return run(all.toArray(String[]::new));
    }

    private static void failed(Result r, String sentence) {
        assertThat(r.err()).startsWith("pgnear: " + sentence).hasLineCount(1);
        assertThat(r.code()).isEqualTo(1);
        assertThat(r.out()).isEmpty();
    }

    @Test
    void fromSetupToDetach() throws Exception {
        server.sql("create table t (id int primary key)", "create table nokey (id int)");
        failed(
                at("tables"),
                "Cannot list the attached tables: pgnear is not set up in this database; run `pgnear setup` first.");
        Result r = at("check");
        assertThat(r.code()).isEqualTo(1);
        assertThat(r.out())
                .contains("problem  schema local_cache is not installed")
                .contains("mend:  pgnear setup");

        r = at("setup");
        assertThat(r).isEqualTo(new Result(0, "pgnear is set up in " + server.url() + "\n", ""));
        assertThat(at("check").out()).contains("note     no table is attached").doesNotContain("problem");
        assertThat(at("check").code()).isZero();
        assertThat(at("tables").out()).startsWith("No table is attached");

        assertThat(at("attach", "t", "--alias", "tt", "--writable"))
                .isEqualTo(new Result(0, "attached public.t\n", ""));
        assertThat(at("tables").out().lines().toList().get(1)).matches("public\\.t +tt +yes +cached");
        failed(
                at("attach", "nokey"),
                "Cannot attach public.nokey: it has no primary key; ALTER TABLE public.nokey ADD PRIMARY KEY (...);");
        failed(at("attach", "absent"), "There is no table absent;");
        assertThat(at("invalidate", "CRUD")).isEqualTo(new Result(0, "invalidated CRUD\n", ""));
        failed(at("invalidate", "x"), "Cannot invalidate 'x': no such scope in this database; Use CRUD,");
        server.sql("alter table t enable row level security");
        assertThat(at("tables").out()).contains("bypassed: it has row-level security");
        assertThat(at("detach", "t")).isEqualTo(new Result(0, "detached public.t\n", ""));
        failed(at("detach", "t"), "Cannot detach public.t: it is not attached;");
    }

    @Test
    void setupPrintsWithoutAServer() {
        Result r = run("setup", "--print", "--node-role", "my \"node\"");
        assertThat(r.code()).isZero();
        assertThat(r.out())
                .startsWith("BEGIN;")
                .contains("TO \"my \"\"node\"\"\";")
                .endsWith("COMMIT;\n");
    }

    @Test
    void fenceIsEnteredOnlyByAConnectedNodeAndLeftInSteps() throws Exception {
        at("setup");
        assertThat(at("fence", "status").out()).isEqualTo("synchronous_standby_names = ''\n");
        failed(
                at("fence", "join", "--node-name", "n9"),
                "Node n9 is not connected, so every COMMIT of the server would wait for it;");
        assertThat(at("fence", "join", "--node-name", "n9", "--force").out())
                .isEqualTo("synchronous_standby_names = 'FIRST 1 (\"n9\")'\n");
        assertThat(at("fence", "status").out()).contains("n9: every COMMIT waits for it");
        server.sql("set synchronous_commit = local", "insert into local_cache.leases values ('n9', '400 ms')");
        long begun = System.nanoTime();
        Result r = at("fence", "release", "--node-name", "n9", "--max-staleness", "60s");
        assertThat(System.nanoTime() - begun).isBetween(400_000_000L, 30_000_000_000L);
        assertThat(r).isEqualTo(new Result(0, "synchronous_standby_names = ''\n", ""));
        assertThat(server.query("select node from local_cache.releases")).isEqualTo("n9");
    }

    @Test
    void wrongUsageIsTwo() {
        assertThat(run("attach").code()).isEqualTo(2);
        assertThat(run("fence", "leave").code()).isEqualTo(2);
        assertThat(run("check", "--postgres", "mysql://x").code()).isEqualTo(2);
        Result r = run("tables");
        assertThat(r.code()).isEqualTo(2);
        assertThat(r.err()).startsWith("pgnear: No PostgreSQL was named; give --postgres");
        failed(
                run("tables", "--postgres", "postgresql://u:secret@127.0.0.1:1/db"),
                "Cannot connect to postgresql://u@127.0.0.1:1/db (");
    }
}
