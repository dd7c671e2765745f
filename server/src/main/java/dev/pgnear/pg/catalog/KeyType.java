package dev.pgnear.pg.catalog;

import java.util.Optional;

/** Types that a primary key may have here, with PostgreSQL's fixed oids (pg_type.dat). */
public enum KeyType {
    INT2(2, 21, 1005),
    INT4(4, 23, 1007),
    INT8(8, 20, 1016),
    TEXT(0, 25, 1009),
    VARCHAR(0, 1043, 1015),
    BPCHAR(0, 1042, 1014),
    UUID(16, 2950, 2951),
    NUMERIC(0, 1700, 1231),
    DATE(4, 1082, 1182),
    TIMESTAMP(8, 1114, 1115),
    TIMESTAMPTZ(8, 1184, 1185),
    BYTEA(0, 17, 1001),
    /** Every enum has oids of its own. */
    ENUM(0, 0, 0);

    private final int width;
    private final int typeOid;
    private final int arrayOid;

    KeyType(int width, int typeOid, int arrayOid) {
        this.width = width;
        this.typeOid = typeOid;
        this.arrayOid = arrayOid;
    }

    /** Bytes of every canonical (and binary) value, 0 if they differ. */
    public int width() {
        return width;
    }

    /** pg_type.oid, 0 for {@link #ENUM}. */
    public int typeOid() {
        return typeOid;
    }

    /** pg_type.oid of the array type, 0 for {@link #ENUM}. */
    public int arrayOid() {
        return arrayOid;
    }

    /**
     * The type of a key column.
     *
     * @param baseTypeOid pg_type.oid below any domains
     * @param isEnum whether that type's typtype is {@code e}
     * @return empty if keys may not have this type
     */
    public static Optional<KeyType> of(int baseTypeOid, boolean isEnum) {
        if (isEnum) {
            return Optional.of(ENUM);
        }
        for (KeyType t : values()) {
            if (t != ENUM && t.typeOid == baseTypeOid) {
                return Optional.of(t);
            }
        }
        return Optional.empty();
    }
}
