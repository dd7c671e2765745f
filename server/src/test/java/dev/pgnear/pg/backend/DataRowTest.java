package dev.pgnear.pg.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgnear.pg.wire.PgProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DataRowTest {
    private final DataRow row = new DataRow();

    @Test
    void readsColumnsInPlace() {
        point("0006 00000008 0000000000000007 ffffffff 00000004 fffffffe 00000001 01 00000000 00000002 c3a4");
        assertThat(row.columns()).isEqualTo(6);
        assertThat(row.getLong(0)).isEqualTo(7);
        assertThat(row.isNull(1)).isTrue();
        assertThat(row.length(1)).isEqualTo(-1);
        assertThat(row.getInt(2)).isEqualTo(-2);
        assertThat(row.getBoolean(3)).isTrue();
        assertThat(row.getBytes(4)).isEmpty();
        assertThat(row.isNull(4)).isFalse();
        assertThat(row.getString(5)).isEqualTo("ä");
        ByteBuf copy = Unpooled.buffer();
        row.getBytes(5, copy);
        assertThat(ByteBufUtil.hexDump(copy)).isEqualTo("c3a4");
    }

    @Test
    void readsMoreColumnsThanBefore() {
        point("0001 ffffffff");
        point("0100" + "ffffffff".repeat(256));
        assertThat(row.columns()).isEqualTo(256);
        assertThat(row.isNull(255)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "00",
                "0001",
                "ffff",
                "0001 00000001",
                "0001 fffffffe",
                "0001 7fffffff 00",
                "0001 80000000 00",
                "0002 00000004 00000000",
                "0000 00",
                "0001 ffffffff 00"
            })
    void refusesColumnsThatDoNotFillTheMessage(String hex) {
        assertThatThrownBy(() -> point(hex)).isInstanceOf(PgProtocolException.class);
    }

    @Test
    void wrongUseIsAProgrammersError() {
        point("0002 00000004 00000001 ffffffff");
        assertThatThrownBy(() -> row.getLong(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> row.getInt(1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> row.getString(1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> row.isNull(2)).isInstanceOf(IllegalArgumentException.class);
    }

    /** The body stands in the middle of a larger buffer, as it does in a connection's. */
    private void point(String hex) {
        byte[] body = ByteBufUtil.decodeHexDump(hex.replace(" ", ""));
        ByteBuf in = Unpooled.buffer().writeLong(-1).writeBytes(body).writeLong(-1);
        row.point(in, 8, body.length);
    }
}
