package dev.pgnear.pg.catalog;

/** Types that a primary key may have here. */
public enum KeyType {
    INT2,
    INT4,
    INT8,
    TEXT,
    VARCHAR,
    BPCHAR,
    UUID,
    NUMERIC,
    DATE,
    TIMESTAMP,
    TIMESTAMPTZ,
    BYTEA,
    ENUM
}
