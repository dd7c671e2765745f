package dev.pgnear.pg.catalog;

/**
 * One column of a primary key, in key order.
 *
 * @param name column name
 * @param attributeNumber pg_attribute.attnum
 * @param typeName what the catalog prints (format_type), usable in a cast
 * @param baseTypeOid the type below any domains
 * @param arrayTypeOid the array of {@code baseTypeOid}
 * @param type how its values become canonical bytes
 */
public record KeyColumn(
        String name, int attributeNumber, String typeName, int baseTypeOid, int arrayTypeOid, KeyType type) {

    /** A column of a built-in type. */
    public KeyColumn(String name, int attributeNumber, String typeName, int baseTypeOid, KeyType type) {
        this(name, attributeNumber, typeName, baseTypeOid, type.arrayOid(), type);
    }
}
