package dev.pgnear.pg.catalog;

/**
 * One column of a primary key, in key order.
 *
 * @param name column name
 * @param attributeNumber pg_attribute.attnum
 * @param typeName what the catalog prints (format_type), usable in a cast
 * @param baseTypeOid the type below any domains
 * @param type how its values become canonical bytes
 */
public record KeyColumn(String name, int attributeNumber, String typeName, int baseTypeOid, KeyType type) {}
