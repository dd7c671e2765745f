package dev.pgnear;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CrashAndRestartIT {
    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void startsCrashesAndStartsAgainWithItsData(int major) throws Exception {
        try (TestPostgres pg = TestPostgres.start(major)) {
            assertThat(pg.query("show server_version")).startsWith(Integer.toString(major));
            pg.sql("create table t (a int)", "insert into t values (1)", "checkpoint");
            pg.crash();
            pg.restart();
            assertThat(pg.query("select a from t")).isEqualTo("1");
        }
    }
}
