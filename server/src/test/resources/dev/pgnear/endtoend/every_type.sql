CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy "quoted"');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE every_type (
  id int PRIMARY KEY,
  c_bool bool, c_int2 int2, c_int4 int4, c_int8 int8, c_float4 float4, c_float8 float8, c_numeric numeric, c_numeric_typmod numeric(12,2), c_money money,
  c_text text, c_varchar varchar(20), c_bpchar char(8), c_char "char", c_name name, c_bytea bytea,
  c_date date, c_time time, c_timetz timetz, c_timestamp timestamp, c_timestamptz timestamptz, c_interval interval,
  c_uuid uuid, c_json json, c_jsonb jsonb, c_jsonpath jsonpath, c_xml xml,
  c_inet inet, c_cidr cidr, c_macaddr macaddr, c_macaddr8 macaddr8,
  c_bit bit(5), c_varbit varbit, c_oid oid, c_xid8 xid8, c_lsn pg_lsn, c_snapshot pg_snapshot, c_tid tid,
  c_point point, c_line line, c_lseg lseg, c_box box, c_path path, c_polygon polygon, c_circle circle,
  c_tsvector tsvector, c_tsquery tsquery,
  c_int4range int4range, c_numrange numrange, c_tstzrange tstzrange, c_daterange daterange, c_int4multirange int4multirange,
  c_int_array int[], c_text_array text[], c_int_matrix int[][], c_date_array date[],
  c_enum mood, c_enum_array mood[], c_composite pair, c_composite_array pair[], c_domain positive,
  c_toast text, c_external text, "strange ""name" int
);
ALTER TABLE every_type ALTER c_external SET STORAGE EXTERNAL;
INSERT INTO every_type (id) VALUES (1);
INSERT INTO every_type VALUES (2,
  true, -32768, -2147483648, -9223372036854775808, '1e-45', '-0', '1.10', 1.1, '$1,234.56',
  E'quote " backslash \\ tab \t newline \n umlaut ä emoji 😀 control \x01', 'varchar', 'bp', 'x', 'name', '\x00ff10',
  '0044-03-15 BC', '24:00', '12:34:56.789+05:30', '4713-01-01 00:00 BC', '2026-12-01 12:34:56.789012+01', '1 year 2 mons -3 days 04:05:06.7',
  'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{"a" : [1, 2.0, null], "a":"dup"}', '{"b": 1.10, "a": [true, null, "ü"]}', '$.a[*] ? (@ > 1)', '<a>&amp;</a>',
  '192.168.0.1/24', '10.0.0.0/8', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05',
  B'10101', B'110', 4294967295, '18446744073709551615', '16/B374D848', '10:20:10,14,15', '(1,2)',
  '(1.5,-2.5)', '{1,2,3}', '[(0,0),(1,1)]', '(2,2),(0,0)', '[(0,0),(1,1),(2,0)]', '((0,0),(1,1),(2,0))', '<(0,0),1.5>',
  'a fat cat', 'fat & rat',
  '[1,10)', '[1.5,)', '["2026-01-01 00:00+00",)', '[2026-01-01,2026-12-31]', '{[1,3),[5,8)}',
  '{1,NULL,3}', '{"a","with \"quotes\"",NULL,""}', '{{1,2},{3,4}}', '{infinity,-infinity}',
  'happy "quoted"', '{sad,ok}', ROW(1, 'x "y"'), ARRAY[ROW(1,'a')::pair, NULL], 5,
  NULL, NULL, 7);
INSERT INTO every_type (id, c_float4, c_float8, c_numeric, c_date, c_timestamp, c_timestamptz) VALUES
  (3, 'NaN', 'Infinity', 'NaN', 'infinity', '-infinity', 'infinity'),
  (4, '-Infinity', 'NaN', 'Infinity', '-infinity', 'infinity', '-infinity'),
  (5, 3.4028235e38, 1.7976931348623157e308, '-Infinity', '5874897-12-31', '294276-12-31 23:59:59.999999', '4713-11-24 00:00:00+00 BC'),
  (6, 0.1, 0.1, 1e-400, '0001-01-01 BC', '0001-01-01 00:00 BC', '0001-12-31 23:59:59 BC');
INSERT INTO every_type (id, c_text, c_toast, c_external, c_jsonb, c_bytea) VALUES
  (7, '', (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 640) i), repeat('external ', 2500), jsonb_build_object('long', repeat('x', 20000)), decode(repeat('00ff', 10000), 'hex')),
  (8, repeat('small ', 10), NULL, NULL, '[]', '\x');
