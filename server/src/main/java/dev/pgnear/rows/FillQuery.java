package dev.pgnear.rows;

import dev.pgnear.base.Limits;
import dev.pgnear.pg.backend.Statement;
import dev.pgnear.pg.catalog.KeyColumn;
import dev.pgnear.pg.catalog.TableMapping;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The SQL of one table's reads. A fill asks for many keys at once, one array of binary values per key column:
 *
 * <pre>
 *   SELECT k.ord, doc if not too large, its length,
 *          snapshot and WAL insert position in the row of the first key
 *     FROM ROWS FROM (unnest($1), unnest($2)) WITH ORDINALITY AS k(c1, c2, ord)
 *     LEFT JOIN LATERAL (SELECT row_to_json(t.*)::text AS doc FROM ONLY s.t AS t WHERE t.a = k.c1 AND t.b = k.c2 OFFSET 0) AS j ON true
 * </pre>
 *
 * Every key gets exactly one row. OFFSET 0 keeps the sub-select apart, so that it stays one index scan per key and the document is made once.
 * Everything is qualified, since the session's search_path is the user's (and shows in what regclass columns print). {@code t.*} instead of
 * {@code t}: the table may have a column of that name. The position is read when the first row is made, which is after the statement's
 * snapshot was taken (F06), and a document calls no volatile function unless a column's type does (F08).
 */
final class FillQuery {
    /** Result columns. */
    static final int ORD = 0;

    static final int DOC = 1;
    static final int DOC_LENGTH = 2;
    static final int SNAPSHOT = 3;
    static final int LSN = 4;

    private final TableMapping mapping;
    private final Statement rows;
    private final Statement convert;
    private int largestRow = Limits.FILL_BYTES / Limits.FILL_KEYS;

    FillQuery(TableMapping mapping) {
        this.mapping = mapping;
        List<KeyColumn> key = mapping.key().columns();
        int[] arrays = key.stream().mapToInt(KeyColumn::arrayTypeOid).toArray();
        int[] texts = key.stream().mapToInt(c -> TEXT_OID).toArray();
        this.rows = new Statement(rowsSql(mapping), arrays);
        this.convert = new Statement(convertSql(mapping), texts);
    }

    private static final int TEXT_OID = 25;

    /** Whether the SQL still fits what is known of the table. */
    boolean fits(TableMapping now) {
        return now == mapping
                || now.schema().equals(mapping.schema())
                        && now.table().equals(mapping.table())
                        && now.key().columns().equals(mapping.key().columns());
    }

    /** Reads rows by keys. */
    Statement rows() {
        return rows;
    }

    /** Turns the texts of one key into its binary columns. */
    Statement convert() {
        return convert;
    }

    /** Keys to ask for at once. */
    int batch() {
        return Math.clamp(Limits.FILL_BYTES / largestRow, 1, Limits.FILL_KEYS);
    }

    void sawRow(int bytes) {
        largestRow = Math.max(largestRow, bytes);
    }

    static String rowsSql(TableMapping mapping) {
        List<KeyColumn> key = mapping.key().columns();
        StringBuilder arrays = new StringBuilder();
        StringBuilder names = new StringBuilder();
        StringBuilder where = new StringBuilder();
        for (int i = 1; i <= key.size(); i++) {
            KeyColumn c = key.get(i - 1);
            arrays.append(i == 1 ? "" : ", ")
                    .append("pg_catalog.unnest($")
                    .append(i)
                    .append(')');
            names.append('c').append(i).append(", ");
            // A domain over an enum finds no operator of its own; for other types the cast is no more than a label.
            where.append(i == 1 ? "" : " AND ").append("t.").append(quote(c.name()));
            where.append("::")
                    .append(c.typeName())
                    .append(" OPERATOR(pg_catalog.=) k.c")
                    .append(i);
        }
        String small = "pg_catalog.octet_length(j.doc) OPERATOR(pg_catalog.<=) " + Limits.ROW_BYTES;
        return "SELECT k.ord, CASE WHEN " + small + " THEN j.doc END, pg_catalog.octet_length(j.doc),"
                + " CASE WHEN k.ord OPERATOR(pg_catalog.=) 1 THEN pg_catalog.pg_current_snapshot() END,"
                + " CASE WHEN k.ord OPERATOR(pg_catalog.=) 1 THEN pg_catalog.pg_current_wal_insert_lsn() END"
                + " FROM ROWS FROM (" + arrays + ") WITH ORDINALITY AS k(" + names + "ord)"
                + " LEFT JOIN LATERAL (SELECT pg_catalog.row_to_json(t.*)::pg_catalog.text AS doc FROM ONLY "
                + quote(mapping.schema()) + "." + quote(mapping.table()) + " AS t WHERE " + where
                + " OFFSET 0) AS j ON true";
    }

    static String convertSql(TableMapping mapping) {
        List<KeyColumn> key = mapping.key().columns();
        StringBuilder sql = new StringBuilder("SELECT ");
        for (int i = 1; i <= key.size(); i++) {
            sql.append(i == 1 ? "" : ", ").append("$").append(i).append("::");
            sql.append(key.get(i - 1).typeName());
        }
        return sql.toString();
    }

    /** An SQL identifier. */
    static String quote(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    /**
     * Binary arrays of the keys' columns (array_recv: dimensions, has-nulls flag, element type, length, lower bound, elements).
     *
     * @param keys canonical keys
     */
    byte[][] parameters(List<byte[]> keys) {
        List<KeyColumn> columns = mapping.key().columns();
        byte[][][] values = new byte[keys.size()][][];
        for (int k = 0; k < values.length; k++) {
            values[k] = mapping.key().toBinary(keys.get(k));
        }
        byte[][] parameters = new byte[columns.size()][];
        for (int c = 0; c < parameters.length; c++) {
            parameters[c] = array(columns.get(c).baseTypeOid(), values, c);
        }
        return parameters;
    }

    private static byte[] array(int elementType, byte[][][] values, int column) {
        int bytes = 20;
        for (byte[][] v : values) {
            bytes += 4 + v[column].length;
        }
        ByteBuffer b = ByteBuffer.allocate(bytes);
        b.putInt(1).putInt(0).putInt(elementType).putInt(values.length).putInt(1);
        for (byte[][] v : values) {
            b.putInt(v[column].length).put(v[column]);
        }
        return b.array();
    }
}
