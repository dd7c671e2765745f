package dev.pgnear.pg.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgnear.base.Limits;
import dev.pgnear.coherence.CommittedTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Decoding and assembling from constructed bytes, whole, cut short and damaged. */
class PgOutputTest {
    private static final int MAX_KEYS = 10;
    private static final long EPOCH = 7L << 32;

    private TestTables tables;
    private List<CommittedTransaction> committed;
    private List<Long> ends;
    private TransactionAssembler transactions;
    private PgOutputDecoder decoder;

    @BeforeEach
    void prepare() {
        tables = new TestTables();
        tables.add(1, "t", "k");
        tables.add(2, "u", "k");
        committed = new ArrayList<>();
        ends = new ArrayList<>();
        transactions = new TransactionAssembler(tables, new XidEpoch(EPOCH + 1000), MAX_KEYS, (t, end) -> {
            committed.add(t);
            ends.add(end);
        });
        decoder = new PgOutputDecoder(transactions);
    }

    private void feed(byte[]... messages) throws StreamProtocolException {
        for (byte[] m : messages) {
            byte[] shared = new byte[m.length + 7];
            Arrays.fill(shared, (byte) 'x');
            System.arraycopy(m, 0, shared, 3, m.length);
            decoder.decode(shared, 3, 3 + m.length, false);
        }
    }

    private List<String> changes() {
        return committed.stream().map(RecordingApplier::text).toList();
    }

    private static PgOutputBytes m(char type) {
        return new PgOutputBytes(type);
    }

    private static byte[] begin(int xid) {
        return m('B').i64(900).i64(0).i32(xid).bytes();
    }

    private static byte[] commit(long end) {
        return m('C').i8(0).i64(900).i64(end).i64(0).bytes();
    }

    private static byte[] relation(int oid, String table, char identity, boolean key) {
        return relation(m('R'), oid, table, identity, key);
    }

    private static byte[] relation(PgOutputBytes m, int oid, String table, char identity, boolean key) {
        m.i32(oid).text("public").text(table).i8(identity).i16(2);
        m.i8(key ? 1 : 0).text("k").i32(20).i32(-1);
        return m.i8(identity == 'f' ? 1 : 0).text("v").i32(25).i32(-1).bytes();
    }

    private static PgOutputBytes row(PgOutputBytes m, long k) {
        return m.i16(2).i8('b').i32(8).i64(k).i8('t').i32(1).i8('v');
    }

    private static byte[] insert(int oid, long k) {
        return row(m('I').i32(oid).i8('N'), k).bytes();
    }

    private static byte[] streamedInsert(int xid, int oid, long k) {
        return row(m('I').i32(xid).i32(oid).i8('N'), k).bytes();
    }

    private static byte[] streamStart(int xid) {
        return m('S').i32(xid).i8(1).bytes();
    }

    private static byte[] streamStop() {
        return m('E').bytes();
    }

    private static byte[] streamCommit(int xid, long end) {
        return m('c').i32(xid).i8(0).i64(900).i64(end).i64(0).bytes();
    }

    private static byte[] streamAbort(int top, int xid) {
        return m('A').i32(top).i32(xid).bytes();
    }

    /** One message of every type, in a legal order. */
    private static List<byte[]> everyType() {
        return List.of(
                begin(1001),
                m('O').i64(1).text("origin").bytes(),
                m('Y').i32(20000).text("public").text("mood").bytes(),
                relation(1, "t", 'd', true),
                insert(1, 5),
                row(m('U').i32(1).i8('N'), 6).bytes(),
                row(row(m('U').i32(1).i8('K'), 7).i8('N'), 8).bytes(),
                row(m('D').i32(1).i8('K'), 9).bytes(),
                m('M').i8(1).i64(1).text("pgnear").i32(4).raw("beat").bytes(),
                m('T').i32(1).i8(0).i32(2).bytes(),
                commit(1000),
                streamStart(1002),
                relation(m('R').i32(1003), 1, "t", 'd', true),
                streamedInsert(1003, 1, 10),
                m('M').i32(1002).i8(1).i64(1).text("pgnear").i32(4).raw("beat").bytes(),
                streamStop(),
                streamAbort(1002, 1003),
                streamCommit(1002, 2000));
    }

    @Test
    void everyTypeIsUnderstood() throws StreamProtocolException {
        feed(everyType().toArray(byte[][]::new));
        assertThat(changes()).containsExactly("*u t[5,6,7,8,9]", "");
        assertThat(committed.get(0).xid()).isEqualTo(EPOCH + 1001);
        assertThat(ends).containsExactly(1000L, 2000L);
        assertThat(tables.messages).containsExactly("beat", "beat");
    }

    @Test
    void aMessageCutShortAnywhereIsAnErrorAndNotAChange() throws StreamProtocolException {
        List<byte[]> all = everyType();
        for (int i = 0; i < all.size(); i++) {
            for (int length = 0; length < all.get(i).length; length++) {
                prepare();
                feed(all.subList(0, i).toArray(byte[][]::new));
                byte[] part = Arrays.copyOf(all.get(i), length);
                int before = committed.size();
                assertThatThrownBy(() -> feed(part))
                        .as("message %d cut to %d", i, length)
                        .isInstanceOf(StreamProtocolException.class);
                assertThat(committed).hasSize(before);
            }
        }
    }

    @Test
    void aMessageWithBytesTooManyIsAnError() throws StreamProtocolException {
        List<byte[]> all = everyType();
        for (int i = 0; i < all.size(); i++) {
            prepare();
            feed(all.subList(0, i).toArray(byte[][]::new));
            byte[] longer = Arrays.copyOf(all.get(i), all.get(i).length + 1);
            assertThatThrownBy(() -> feed(longer)).as("message %d", i).isInstanceOf(StreamProtocolException.class);
        }
    }

    @Test
    void damagedBytesNeverCrash() {
        List<byte[]> all = everyType();
        java.util.Random random = new java.util.Random(1);
        for (int round = 0; round < 20_000; round++) {
            prepare();
            int broken = random.nextInt(all.size());
            byte[] bad = all.get(broken).clone();
            bad[random.nextInt(bad.length)] = (byte) random.nextInt(256);
            try {
                feed(all.subList(0, broken).toArray(byte[][]::new));
                feed(bad);
            } catch (StreamProtocolException e) {
                assertThat(e.getMessage()).isNotBlank();
            }
        }
    }

    @Test
    void unknownTypesAreErrors() {
        for (char type : "bPKrpQ".toCharArray()) {
            assertThatThrownBy(() -> feed(m(type).i64(0).bytes()))
                    .isInstanceOf(StreamProtocolException.class)
                    .hasMessageContaining("unknown type " + type);
        }
    }

    @Test
    void ordersThatCannotBeAreErrors() {
        for (List<byte[]> order : List.of(
                List.of(commit(1)),
                List.of(begin(1), begin(2)),
                List.of(insert(1, 1)),
                List.of(begin(1), insert(1, 1)),
                List.of(begin(1), streamStart(2)),
                List.of(streamStart(2), begin(1)),
                List.of(streamStart(2), streamStart(3)),
                List.of(streamStop()),
                List.of(streamCommit(1, 1)),
                List.of(streamStart(1), streamCommit(1, 1)),
                List.of(streamStart(1), streamAbort(1, 1)))) {
            prepare();
            assertThatThrownBy(() -> feed(order.toArray(byte[][]::new))).isInstanceOf(StreamProtocolException.class);
        }
    }

    @Test
    void absurdLengthsAllocateNothing() {
        assertThatThrownBy(
                        () -> feed(begin(1), m('T').i32(Integer.MAX_VALUE).i8(0).bytes()))
                .isInstanceOf(StreamProtocolException.class);
        assertThatThrownBy(() -> feed(m('I').i32(1)
                        .i8('N')
                        .i16(1)
                        .i8('b')
                        .i32(Integer.MAX_VALUE)
                        .bytes()))
                .isInstanceOf(StreamProtocolException.class);
        assertThatThrownBy(() -> feed(m('I').i32(1).i8('N').i16(-1).bytes()))
                .isInstanceOf(StreamProtocolException.class);
    }

    // ---- keys

    @Test
    void unattachedTablesAreIgnored() throws StreamProtocolException {
        feed(begin(1), insert(99, 1), m('T').i32(1).i8(0).i32(98).bytes(), commit(1));
        assertThat(changes()).containsExactly("");
    }

    @Test
    void textValuesAreReadToo() throws StreamProtocolException {
        feed(
                begin(1),
                relation(1, "t", 'd', true),
                m('D').i32(1).i8('K').i16(2).i8('t').i32(2).raw("42").i8('n').bytes(),
                commit(1));
        assertThat(changes()).containsExactly("t[42]");
    }

    @Test
    void aKeyLeftOutAsUnchangedComesFromTheOldRow() throws StreamProtocolException {
        byte[] both =
                row(m('U').i32(1).i8('O'), 3).i8('N').i16(2).i8('u').i8('n').bytes();
        byte[] alone = m('U').i32(1).i8('N').i16(2).i8('u').i8('n').bytes();
        feed(begin(1), relation(1, "t", 'f', true), both, commit(1));
        feed(begin(2), alone, commit(2));
        assertThat(changes()).containsExactly("t[3]", "*t");
    }

    @Test
    void aKeyThatCannotBeToldIsAChangeOfTheTable() throws StreamProtocolException {
        byte[] none = m('D').i32(1).i8('K').i16(2).i8('n').i8('n').bytes();
        byte[] width =
                m('D').i32(1).i8('K').i16(2).i8('b').i32(4).i32(1).i8('n').bytes();
        byte[] columns = m('D').i32(1).i8('K').i16(0).bytes();
        for (byte[] message : List.of(none, width, columns)) {
            feed(begin(1), relation(1, "t", 'd', true), message, commit(1));
        }
        assertThat(changes()).containsExactly("*t", "*t", "*t");
    }

    @Test
    void identitiesThatDoNotHoldTheKeyAreToldOnce() throws StreamProtocolException {
        feed(begin(1), relation(1, "t", 'i', false), insert(1, 1), insert(1, 2), commit(1));
        feed(begin(2), relation(1, "t", 'n', false), insert(1, 1), commit(2));
        feed(begin(3), relation(1, "t", 'd', true), insert(1, 1), commit(3));
        tables.add(1, "t", "k", "l");
        feed(begin(4), insert(1, 1), commit(4));
        tables.add(1, "t", "gone");
        feed(begin(5), insert(1, 1), commit(5));
        assertThat(changes()).containsExactly("*t", "*t", "t[1]", "*t", "*t");
        assertThat(tables.unreadable)
                .containsExactly(
                        "t: key column k is not part of its replica identity",
                        "t: its replica identity is NOTHING",
                        "t: key column l is not in the stream (renamed, dropped or generated)",
                        "t: key column gone is not in the stream (renamed, dropped or generated)");
    }

    @Test
    void anotherTypeOrAWiderPrimaryKeyMakesTheTableUnreadable() throws StreamProtocolException {
        PgOutputBytes type = m('R').i32(1).text("public").text("t").i8('d').i16(1);
        PgOutputBytes wider = m('R').i32(1).text("public").text("t").i8('d').i16(2);
        feed(begin(1), type.i8(1).text("k").i32(23).i32(-1).bytes(), insert(1, 1));
        feed(
                wider.i8(1)
                        .text("k")
                        .i32(20)
                        .i32(-1)
                        .i8(1)
                        .text("v")
                        .i32(25)
                        .i32(-1)
                        .bytes(),
                insert(1, 1),
                commit(1));
        assertThat(tables.unreadable)
                .containsExactly("t: key column k has another type now", "t: its primary key has other columns now");
    }

    @Test
    void rowsLongerThanAreLookedAtChangeTheTable() throws StreamProtocolException {
        feed(begin(1), relation(1, "t", 'd', true));
        byte[] row = insert(1, 1);
        decoder.decode(row, 0, 8, true);
        feed(commit(1));
        assertThat(changes()).containsExactly("*t");
        byte[] message =
                m('M').i8(1).i64(1).text("pgnear").i32(1 << 30).raw("x").bytes();
        feed(begin(2));
        decoder.decode(message, 0, message.length, true);
        feed(commit(2));
        assertThat(changes()).last().isEqualTo("everything");
        assertThatThrownBy(() -> decoder.decode(begin(3), 0, 5, true)).isInstanceOf(StreamProtocolException.class);
    }

    // ---- transactions

    @Test
    void nothingIsHandedOnBeforeTheCommit() throws StreamProtocolException {
        feed(begin(1), relation(1, "t", 'd', true), insert(1, 1));
        assertThat(committed).isEmpty();
        assertThat(transactions.applied(899)).isEqualTo(899);
        assertThat(transactions.applied(5000)).isEqualTo(900);
        feed(commit(1000));
        assertThat(changes()).containsExactly("t[1]");
        assertThat(transactions.applied(5000)).isEqualTo(5000);
    }

    @Test
    void tooManyKeysCollapse() throws StreamProtocolException {
        feed(begin(1), relation(1, "t", 'd', true), relation(2, "u", 'd', true));
        for (int i = 0; i < MAX_KEYS; i++) {
            feed(insert(1, i), insert(1, i));
        }
        feed(commit(1), begin(2), insert(2, 1));
        for (int i = 0; i < MAX_KEYS + 1; i++) {
            feed(insert(1, i));
        }
        feed(commit(2));
        assertThat(changes()).containsExactly("t[0,1,2,3,4,5,6,7,8,9]", "*t *u");
        assertThat(committed).extracting(CommittedTransaction::isCollapsed).containsExactly(false, true);
    }

    @Test
    void streamedTransactionsInterleaveAndLoseParts() throws StreamProtocolException {
        feed(
                streamStart(10),
                relation(m('R').i32(10), 1, "t", 'd', true),
                streamedInsert(10, 1, 1),
                streamedInsert(11, 1, 2),
                streamStop(),
                streamStart(20),
                relation(m('R').i32(20), 1, "t", 'd', true),
                streamedInsert(20, 1, 3),
                m('M').i32(20).i8(1).i64(1).text("pgnear").i32(1).raw("a").bytes(),
                m('M').i32(21).i8(1).i64(1).text("pgnear").i32(1).raw("b").bytes(),
                streamStop(),
                streamAbort(10, 11),
                streamStart(10),
                relation(m('R').i32(12), 1, "t", 'd', true),
                streamedInsert(12, 1, 4),
                streamStop(),
                streamAbort(20, 21));
        assertThat(transactions.streamedKeys()).isEqualTo(3);
        feed(streamCommit(20, 100), streamAbort(30, 30), streamCommit(10, 200));
        assertThat(changes()).containsExactly("t[3]", "t[1,4]");
        assertThat(tables.messages).containsExactly("a");
        assertThat(transactions.streamedKeys()).isZero();
    }

    @Test
    void aStreamedTransactionThatRolledBackLeavesNothing() throws StreamProtocolException {
        feed(streamStart(10), relation(m('R').i32(10), 1, "t", 'd', true), streamedInsert(10, 1, 1), streamStop());
        feed(streamAbort(10, 10));
        assertThat(transactions.streamedKeys()).isZero();
        assertThat(committed).isEmpty();
        assertThatThrownBy(() -> feed(streamCommit(10, 1))).isInstanceOf(StreamProtocolException.class);
    }

    @Test
    void aShapeInsideATransactionHoldsForOthersOnlyAfterItsCommit() throws StreamProtocolException {
        feed(begin(1), relation(1, "t", 'd', true), commit(1));
        feed(streamStart(10), relation(m('R').i32(10), 1, "t", 'i', false), streamedInsert(10, 1, 1), streamStop());
        feed(begin(2), insert(1, 2), commit(2));
        feed(streamCommit(10, 3));
        feed(begin(4), insert(1, 4), commit(4));
        assertThat(changes()).containsExactly("", "t[2]", "*t", "*t");
    }

    @Test
    void collapsedPartsStayEvenIfRolledBackLater() throws StreamProtocolException {
        feed(streamStart(10), relation(m('R').i32(10), 1, "t", 'd', true));
        for (int i = 0; i <= MAX_KEYS; i++) {
            feed(streamedInsert(11, 1, i));
        }
        feed(streamStop(), streamAbort(10, 11), streamCommit(10, 1));
        assertThat(changes()).containsExactly("*t");
    }

    @Test
    void manySubtransactionsAreBoundedToo() throws StreamProtocolException {
        feed(streamStart(10));
        for (int i = 0; i <= MAX_KEYS; i++) {
            feed(m('T').i32(100 + i).i32(1).i8(0).i32(1).bytes());
        }
        feed(streamStop());
        for (int i = 0; i <= MAX_KEYS; i++) {
            feed(streamAbort(10, 100 + i));
        }
        feed(streamCommit(10, 1));
        assertThat(changes()).containsExactly("*t");
    }

    @Test
    void allOpenTransactionsTogetherAreBounded() throws StreamProtocolException {
        int max = Limits.STREAMED_KEYS;
        int open = max / MAX_KEYS + 10;
        for (int x = 0; x < open; x++) {
            feed(streamStart(x), relation(m('R').i32(x), 1, "t", 'd', true));
            for (int i = 0; i < MAX_KEYS; i++) {
                feed(streamedInsert(x, 1, i));
            }
            feed(streamStop());
            assertThat(transactions.streamedKeys()).isLessThanOrEqualTo(max);
        }
        for (int x = 0; x < open; x++) {
            feed(streamCommit(x, x));
        }
        assertThat(transactions.streamedKeys()).isZero();
        assertThat(changes()).hasSize(open).contains("t[0,1,2,3,4,5,6,7,8,9]").contains("*t");
    }

    @Test
    void tooManyMessagesAreAChangeOfEverything() throws StreamProtocolException {
        feed(begin(1));
        for (int i = 0; i <= Limits.STREAM_MESSAGES; i++) {
            feed(m('M').i8(1).i64(1).text("pgnear").i32(1).raw("x").bytes());
        }
        feed(commit(1));
        assertThat(changes()).containsExactly("everything");
        assertThat(tables.messages).hasSize(Limits.STREAM_MESSAGES + 1).last().isEqualTo("ddl 0 overflow");
    }

    @Test
    void xidsKeepTheirOrderAcrossAWraparound() {
        XidEpoch xids = new XidEpoch((3L << 32) + 0xFFFF_FFF0L);
        assertThat(xids.extend(0xFFFF_FFFF)).isEqualTo((3L << 32) + 0xFFFF_FFFFL);
        assertThat(xids.extend(3)).isEqualTo((4L << 32) + 3);
        assertThat(xids.extend(0xFFFF_FF00)).isEqualTo((3L << 32) + 0xFFFF_FF00L);
        assertThat(xids.extend(4)).isEqualTo((4L << 32) + 4);
        assertThatCode(() -> new XidEpoch(5).extend(7)).doesNotThrowAnyException();
    }
}
