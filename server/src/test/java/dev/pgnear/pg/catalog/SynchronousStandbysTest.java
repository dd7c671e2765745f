package dev.pgnear.pg.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.pgnear.pg.catalog.Fence.Walsender;
import dev.pgnear.pg.catalog.SynchronousStandbys.Method;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SynchronousStandbysTest {
    private static SynchronousStandbys parse(String s) {
        return SynchronousStandbys.parse(s);
    }

    @Test
    void readsEveryForm() {
        assertThat(parse("")).isEqualTo(SynchronousStandbys.NONE);
        assertThat(parse("  ")).isEqualTo(SynchronousStandbys.NONE);
        assertThat(parse("a")).isEqualTo(new SynchronousStandbys(Method.FIRST, 1, List.of("a")));
        assertThat(parse("a, b")).isEqualTo(new SynchronousStandbys(Method.FIRST, 1, List.of("a", "b")));
        assertThat(parse("2 (a, b)")).isEqualTo(new SynchronousStandbys(Method.FIRST, 2, List.of("a", "b")));
        assertThat(parse("FIRST 2 (a,b,c)"))
                .isEqualTo(new SynchronousStandbys(Method.FIRST, 2, List.of("a", "b", "c")));
        assertThat(parse("any 1(a)")).isEqualTo(new SynchronousStandbys(Method.ANY, 1, List.of("a")));
        assertThat(parse("*")).isEqualTo(new SynchronousStandbys(Method.FIRST, 1, List.of("*")));
        assertThat(parse("\"a \"\"q\"\", (b)\", \"First\"").names()).containsExactly("a \"q\", (b)", "First");
        assertThat(parse("1, 2").names()).containsExactly("1", "2");
        assertThat(parse("a$1_é").names()).containsExactly("a$1_é");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a b",
                "a,",
                ",a",
                "FIRST (a)",
                "FIRST a",
                "ANY 2 a",
                "2 (a",
                "2 ()",
                "0 (a)",
                "\"a",
                "a-b",
                "FIRST",
                "2 (a) b",
                "99999999999 (a)"
            })
    void refusesWhatPostgresqlRefuses(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> parse(text)).withMessageContaining("not a value of");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "FIRST 1 (\"a\")", "ANY 2 (\"a\", \"b\"\"c\", \"d e\")", "FIRST 1 (*)"})
    void printsWhatItReads(String text) {
        assertThat(parse(text)).hasToString(text);
        assertThat(parse(parse(text).toString())).isEqualTo(parse(text));
    }

    @Test
    void requiresOnlyWhereNobodyCanStandIn() {
        assertThat(parse("a").whyNotRequired("a")).isNull();
        assertThat(parse("FIRST 2 (a, b)").whyNotRequired("B")).isNull();
        assertThat(parse("ANY 2 (a, b)").whyNotRequired("a")).isNull();
        assertThat(parse("").whyNotRequired("a")).contains("is empty");
        assertThat(parse("b").whyNotRequired("a")).contains("does not list a");
        assertThat(parse("a, b").whyNotRequired("a")).contains("waits for 1 of 2 names");
        assertThat(parse("ANY 1 (a, b)").whyNotRequired("a")).contains("waits for 1 of 2 names");
        assertThat(parse("FIRST 3 (a, b)").whyNotRequired("a")).contains("waits for 3 of 2 names");
        assertThat(parse("*").whyNotRequired("a")).contains("contains *");
        assertThat(parse("FIRST 2 (a, *)").whyNotRequired("a")).contains("contains *");
        assertThat(parse("FIRST 2 (a, A)").whyNotRequired("a")).contains("lists a name twice");
    }

    @Test
    void joinRequiresEverybodyAndLeaveTakesBack() {
        assertThat(parse("").join("n")).hasToString("FIRST 1 (\"n\")");
        assertThat(parse("a, b").join("n")).hasToString("FIRST 3 (\"a\", \"b\", \"n\")");
        assertThat(parse("ANY 1 (a, N)").join("n")).hasToString("FIRST 2 (\"a\", \"N\")");
        assertThatIllegalArgumentException().isThrownBy(() -> parse("*").join("n"));
        assertThat(parse("FIRST 2 (a, N)").leave("n")).hasToString("FIRST 1 (\"a\")");
        assertThat(parse("n").leave("n")).isEqualTo(SynchronousStandbys.NONE);
        assertThat(parse("ANY 1 (a, b, n)").leave("n")).hasToString("ANY 1 (\"a\", \"b\")");
        assertThat(parse("a, b").leave("n")).isEqualTo(parse("a, b"));
    }

    @Test
    void nodeIsRequiredOnlyIfItsOwnWalsenderShowsIt() {
        List<Walsender> good = List.of(
                new Walsender("n", "streaming", "sync"),
                new Walsender("m", "streaming", "quorum"),
                new Walsender("x", "backup", "async"));
        assertThat(Requirement.whyNot("n", "FIRST 2 (n, m)", good, true, false)).isNull();
        assertThat(Requirement.whyNot("m", "FIRST 2 (n, m)", good, true, false)).isNull();
        assertThat(Requirement.whyNot("n", "FIRST 2 (n, m)", good, false, false))
                .contains("GRANT pg_monitor");
        assertThat(Requirement.whyNot("n", "FIRST 2 (n, m)", good, true, true)).contains("release is announced");
        assertThat(Requirement.whyNot("n", "FIRST 2 (n, n2)", List.of(), true, false))
                .contains("not connected");
        assertThat(Requirement.whyNot("n", "a b", good, true, false)).contains("not a value");
        assertThat(Requirement.whyNot("n", "n", List.of(new Walsender("N", "catchup", "async")), true, false))
                .contains("catchup, async");
        assertThat(Requirement.whyNot(
                        "n", "FIRST 2 (n, m)", List.of(good.get(0), good.get(1), good.get(1)), true, false))
                .isEqualTo("2 walsenders call themselves m");
    }
}
