package dev.pgnear.pg.catalog;

import dev.pgnear.base.UserError;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Attaching, detaching, listing and invalidating, over the functions that {@link Setup} installed. Not thread-safe, as its connection. */
public final class TableAdmin {
    private final Connection connection;

    /**
     * One attached table.
     *
     * @param name schema-qualified, quoted where needed
     * @param bypassReason why its rows are not cached, or null
     */
    public record Attached(
            String name,
            @Nullable String alias,
            boolean writable,
            @Nullable String bypassReason) {}

    /**
     * @param connection from {@link ControlConnection#open}
     */
    public TableAdmin(Connection connection) {
        this.connection = connection;
    }

    /**
     * Attaches a table, or changes alias and writability of an attached one.
     *
     * @param table as in SQL; without a schema it is looked up in {@code public}
     * @param writable null keeps what an attached table has; a new one is not writable then
     * @param alias null keeps what an attached table has; a new one has none then
     * @return the table's qualified name
     * @throws UserError with reason and remedy if it is refused
     */
    public String attach(String table, @Nullable Boolean writable, @Nullable String alias) {
        Found found = find(table);
        try (PreparedStatement s =
                connection.prepareStatement("SELECT local_cache.attach_table(?::oid::regclass, ?, ?)")) {
            s.setLong(1, found.oid);
            s.setObject(2, writable, Types.BOOLEAN);
            s.setString(3, alias);
            s.execute();
            return found.name;
        } catch (SQLException e) {
            throw failed("attach " + found.name, e);
        }
    }

    /**
     * Detaches a table.
     *
     * @return the table's qualified name
     * @throws UserError also if it was not attached
     */
    public String detach(String table) {
        Found found = find(table);
        try (PreparedStatement s = connection.prepareStatement("SELECT local_cache.detach_table(?::oid::regclass)")) {
            s.setLong(1, found.oid);
            try (ResultSet r = s.executeQuery()) {
                if (r.next() && r.getBoolean(1)) {
                    return found.name;
                }
            }
        } catch (SQLException e) {
            throw failed("detach " + found.name, e);
        }
        throw new UserError(
                "Cannot detach " + found.name + ": it is not attached; `pgnear tables` lists the attached ones.");
    }

    /** Every attached table, by name. */
    public List<Attached> tables() {
        String sql = """
                SELECT m.relid::regclass::text, m.alias, m.writable,
                       coalesce((local_cache.table_problem(m.relid)).problem,
                                CASE WHEN NOT local_cache.is_published(m.relid) THEN 'it is not in publication pgnear' END)
                    FROM local_cache.mappings m ORDER BY 1""";
        List<Attached> all = new ArrayList<>();
        try (PreparedStatement s = connection.prepareStatement(sql);
                ResultSet r = s.executeQuery()) {
            while (r.next()) {
                all.add(new Attached(text(r, 1), r.getString(2), r.getBoolean(3), r.getString(4)));
            }
        } catch (SQLException e) {
            throw failed("list the attached tables", e);
        }
        return all;
    }

    /**
     * Drops entries on every node.
     *
     * @param scope {@code CRUD}, {@code CRUD:db}, {@code CRUD:db.schema.table} or a key
     */
    public void invalidate(String scope) {
        try (PreparedStatement s = connection.prepareStatement("SELECT local_cache.invalidate(?)")) {
            s.setString(1, scope);
            s.execute();
        } catch (SQLException e) {
            throw failed("invalidate " + scope, e);
        }
    }

    private record Found(long oid, String name) {}

    private Found find(String table) {
        String sql = """
                SELECT c.oid, c.oid::regclass::text FROM parse_ident(?) p, LATERAL (SELECT to_regclass(CASE cardinality(p)
                    WHEN 1 THEN format('public.%I', p[1]) WHEN 2 THEN format('%I.%I', p[1], p[2]) END)::oid AS oid) c
                    WHERE c.oid IS NOT NULL""";
        try (PreparedStatement s = connection.prepareStatement(sql)) {
            s.setString(1, table);
            try (ResultSet r = s.executeQuery()) {
                if (r.next()) {
                    return new Found(r.getLong(1), text(r, 2));
                }
            }
        } catch (SQLException e) {
            throw ControlConnection.refused("Cannot read the name of a table", e);
        }
        throw new UserError(
                "There is no table " + table + "; check the name, which without a schema is looked up in public.");
    }

    private UserError failed(String what, SQLException e) {
        String state = String.valueOf(e.getSQLState());
        if (state.equals("3F000") || state.equals("42883") || state.equals("42P01")) {
            return new UserError(
                    "Cannot " + what + ": pgnear is not set up in this database; run `pgnear setup` first.", e);
        }
        String reason = ControlConnection.reason(e);
        if (state.equals("42501") && reason.startsWith("permission denied for")) {
            return new UserError(
                    "Cannot " + what + ": " + reason
                            + "; do it as the role that ran setup, or grant USAGE on schema local_cache"
                            + " and EXECUTE on its function.",
                    e);
        }
        // The functions' own messages begin with "cannot attach ...".
        if (reason.startsWith("cannot ")) {
            String hint = ControlConnection.hint(e);
            return new UserError("C" + reason.substring(1) + (hint == null ? "." : "; " + hint), e);
        }
        return ControlConnection.refused("Cannot " + what, e);
    }

    private static String text(ResultSet r, int column) throws SQLException {
        return String.valueOf(r.getString(column));
    }
}
