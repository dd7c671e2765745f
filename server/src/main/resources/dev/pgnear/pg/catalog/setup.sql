-- Installs pgnear in one database: schema local_cache, publication pgnear and, where they may be created, event triggers.
-- Runs in one transaction and may be repeated; attached tables stay attached. Every name is looked up in pg_catalog or
-- qualified, in the functions too, so that nothing in a user's search_path can take part.
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;

DO $setup$
DECLARE
    owner name;
    installed integer;
BEGIN
    SELECT r.rolname INTO owner FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.nspname = 'local_cache';
    IF owner IS NULL THEN
        EXECUTE 'CREATE SCHEMA local_cache';
    ELSIF NOT pg_has_role(owner, 'USAGE') THEN
        RAISE EXCEPTION 'schema local_cache belongs to %', owner
            USING ERRCODE = '42501', HINT = format('Run setup as %s.', owner);
    ELSIF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = owner) THEN
        -- Functions of a role that is not a superuser must never run in a superuser's event triggers.
        RAISE EXCEPTION 'schema local_cache belongs to %, who is not a superuser', owner
            USING ERRCODE = '42501',
                  HINT = format('Run setup as %s, or remove the old one first: DROP SCHEMA local_cache CASCADE; DROP PUBLICATION IF EXISTS pgnear;', owner);
    END IF;
    IF to_regprocedure('local_cache.schema_version()') IS NOT NULL THEN
        EXECUTE 'SELECT local_cache.schema_version()' INTO installed;
        IF installed > ${version} THEN
            RAISE EXCEPTION 'schema local_cache has version %, newer than this pgnear''s ${version}', installed
                USING ERRCODE = '55000', HINT = 'Run setup with the newer pgnear.';
        END IF;
    END IF;
END
$setup$;

-- regclass, not oid: a dump carries the tables' names, and a restore finds them again under other oids.
CREATE TABLE IF NOT EXISTS local_cache.mappings (
    relid regclass PRIMARY KEY,
    alias text UNIQUE,
    writable boolean NOT NULL DEFAULT false,
    attached_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE local_cache.mappings IS 'Tables whose rows pgnear may cache; changed by attach_table and detach_table.';

DO $setup$
BEGIN
    IF (SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = 'local_cache.mappings'::regclass AND a.attname = 'relid') = 'oid'::regtype THEN
        ALTER TABLE local_cache.mappings ALTER COLUMN relid TYPE regclass;
    END IF;
END
$setup$;

CREATE TABLE IF NOT EXISTS local_cache.releases (
    node text PRIMARY KEY,
    announced_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE local_cache.releases IS 'Nodes that are about to leave synchronous_standby_names: they claim nothing while they are listed here.';

-- Each node says here how long it may serve hits unproven, before it serves any: a release waits for that long.
CREATE TABLE IF NOT EXISTS local_cache.leases (
    node text PRIMARY KEY,
    max_staleness interval NOT NULL,
    registered_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE local_cache.leases IS 'How long each node may serve hits after it was last proven fresh.';

CREATE OR REPLACE FUNCTION local_cache.schema_version() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT ${version} $$;

-- Why a table cannot be cached, and what to do about it; both null if it can. One truth for attach, event triggers, check and nodes.
CREATE OR REPLACE FUNCTION local_cache.table_problem(target oid, OUT problem text, OUT hint text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    rel record;
    key record;
    col record;
    base oid;
    kind "char";
BEGIN
    SELECT c.relkind, c.relpersistence, c.relispartition, c.relrowsecurity, c.relreplident, c.relname, n.nspname
        INTO rel FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = target;
    IF NOT FOUND THEN
        problem := 'it does not exist';
        hint := 'Check the name, or run SELECT * FROM local_cache.reconcile_all().';
        RETURN;
    END IF;

    IF rel.relkind <> 'r' THEN
        problem := CASE rel.relkind
            WHEN 'p' THEN 'it is partitioned' WHEN 'v' THEN 'it is a view' WHEN 'm' THEN 'it is a materialized view'
            WHEN 'f' THEN 'it is a foreign table' ELSE 'it is not a table' END;
        hint := CASE rel.relkind
            WHEN 'p' THEN 'Partitioned tables are not supported yet.'
            WHEN 'v' THEN 'Attach the tables below the view.'
            WHEN 'm' THEN 'A refresh is not in the change stream; use an ordinary table.'
            ELSE 'Attach an ordinary table.' END;
        RETURN;
    END IF;
    IF target < 16384 OR rel.nspname IN ('pg_catalog', 'information_schema', 'pg_toast') THEN
        problem := 'it is a system table';
        hint := 'Attach an ordinary table.';
        RETURN;
    END IF;
    IF rel.nspname = 'local_cache' THEN
        problem := 'it belongs to pgnear itself';
        hint := 'Attach an ordinary table.';
        RETURN;
    END IF;
    IF EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = target AND d.objsubid = 0 AND d.deptype = 'e') THEN
        problem := 'it belongs to an extension';
        hint := 'Copy the rows into an ordinary table and attach that.';
        RETURN;
    END IF;
    IF rel.relpersistence <> 'p' THEN
        problem := CASE rel.relpersistence WHEN 't' THEN 'it is temporary' ELSE 'it is unlogged, so its changes are not in the WAL' END;
        hint := CASE rel.relpersistence WHEN 't' THEN 'Other sessions cannot read it; use an ordinary table.'
            ELSE format('ALTER TABLE %I.%I SET LOGGED;', rel.nspname, rel.relname) END;
        RETURN;
    END IF;
    IF rel.relispartition THEN
        problem := 'it is a partition';
        hint := 'Partitioned tables and their partitions are not supported yet.';
        RETURN;
    END IF;
    IF EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhrelid = target) OR EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = target) THEN
        problem := 'it takes part in inheritance';
        hint := 'Inheritance is not supported: ALTER TABLE ... NO INHERIT ... first.';
        RETURN;
    END IF;
    IF rel.relrowsecurity THEN
        problem := 'it has row-level security, so its rows depend on who reads';
        hint := format('ALTER TABLE %I.%I DISABLE ROW LEVEL SECURITY; if all readers may see all rows.', rel.nspname, rel.relname);
        RETURN;
    END IF;

    SELECT i.indexrelid, i.indimmediate, i.indnkeyatts, i.indkey, i.indclass, i.indcollation, am.amname
        INTO key
        FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am am ON am.oid = x.relam
        WHERE i.indrelid = target AND i.indisprimary AND i.indisvalid;
    IF NOT FOUND THEN
        problem := 'it has no primary key';
        hint := format('ALTER TABLE %I.%I ADD PRIMARY KEY (...);', rel.nspname, rel.relname);
        RETURN;
    END IF;
    IF NOT key.indimmediate THEN
        problem := 'its primary key is deferrable, which is no replica identity';
        hint := 'Make it NOT DEFERRABLE: drop the constraint and add it again.';
        RETURN;
    END IF;
    IF key.amname <> 'btree' THEN
        problem := format('its primary key uses %s, not btree', key.amname);
        hint := 'Keys WITHOUT OVERLAPS are not supported.';
        RETURN;
    END IF;
    IF key.indnkeyatts > ${key_columns} THEN
        problem := format('its primary key has %s columns, more than ${key_columns}', key.indnkeyatts);
        hint := 'Use a shorter key.';
        RETURN;
    END IF;

    FOR col IN
        SELECT a.attname, a.atttypid, a.attgenerated, format_type(a.atttypid, a.atttypmod) AS typename, a.attcollation,
               o.opcdefault, o.opcnamespace, key.indcollation[k.n - 1] AS indexcollation
            FROM generate_series(1, key.indnkeyatts::integer) AS k(n)
            JOIN pg_attribute a ON a.attrelid = target AND a.attnum = key.indkey[k.n - 1]
            LEFT JOIN pg_opclass o ON o.oid = key.indclass[k.n - 1]
            ORDER BY k.n
    LOOP
        base := col.atttypid;
        LOOP
            SELECT t.typtype, CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE base END INTO kind, base FROM pg_type t WHERE t.oid = base;
            EXIT WHEN kind IS DISTINCT FROM 'd';
        END LOOP;
        IF kind IS DISTINCT FROM 'e' AND base <> ALL (ARRAY['int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'text'::regtype,
                'varchar'::regtype, 'bpchar'::regtype, 'uuid'::regtype, 'numeric'::regtype, 'date'::regtype, 'timestamp'::regtype,
                'timestamptz'::regtype, 'bytea'::regtype]::oid[]) THEN
            problem := format('key column %s has type %s', quote_ident(col.attname), col.typename);
            hint := 'Key types are smallint, integer, bigint, text, varchar, char, uuid, numeric, date, timestamp, timestamptz, bytea, enums, and domains over these.';
            RETURN;
        END IF;
        IF col.attgenerated <> '' THEN
            problem := format('key column %s is generated, so it is not in the change stream', quote_ident(col.attname));
            hint := 'Use an ordinary column as the key.';
            RETURN;
        END IF;
        IF EXISTS (SELECT 1 FROM pg_collation l WHERE l.oid IN (col.attcollation, col.indexcollation) AND NOT l.collisdeterministic) THEN
            problem := format('key column %s has a non-deterministic collation', quote_ident(col.attname));
            hint := 'Values that differ in bytes would be equal; use a deterministic collation.';
            RETURN;
        END IF;
        IF col.opcdefault IS NOT TRUE OR col.opcnamespace <> 'pg_catalog'::regnamespace THEN
            problem := format('key column %s has an operator class that is not the default', quote_ident(col.attname));
            hint := 'Make the primary key with the default operator class.';
            RETURN;
        END IF;
    END LOOP;

    IF rel.relreplident = 'n' OR rel.relreplident = 'i' AND NOT EXISTS (
            SELECT 1 FROM pg_index i WHERE i.indrelid = target AND i.indisreplident AND i.indisprimary) THEN
        problem := CASE rel.relreplident WHEN 'n' THEN 'its replica identity is NOTHING' ELSE 'its replica identity is another index than the primary key' END;
        hint := format('ALTER TABLE %I.%I REPLICA IDENTITY DEFAULT;', rel.nspname, rel.relname);
        RETURN;
    END IF;
    IF rel.relreplident = 'f' AND current_setting('server_version_num')::integer >= 180000 AND EXISTS (
            SELECT 1 FROM pg_attribute a WHERE a.attrelid = target AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated <> '') THEN
        problem := 'its replica identity is FULL and contains generated columns, which are not in the change stream';
        hint := format('ALTER TABLE %I.%I REPLICA IDENTITY DEFAULT;', rel.nspname, rel.relname);
        RETURN;
    END IF;

    -- PostgreSQL 18 refuses ALTER COLUMN ... SET EXPRESSION of a virtual column while its table is published.
    SELECT a.attname INTO col FROM pg_attribute a
        WHERE a.attrelid = target AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = 'v' ORDER BY a.attnum LIMIT 1;
    IF FOUND THEN
        problem := format('column %s is a virtual generated column, whose expression could not be changed in a published table', quote_ident(col.attname));
        hint := 'Make it STORED: drop the column and add it again.';
        RETURN;
    END IF;

    -- The text of an object's name (or of a role's, in an aclitem) changes with that object, and no change of the row says so.
    WITH RECURSIVE within(attnum, typid) AS (
        SELECT a.attnum, a.atttypid FROM pg_attribute a WHERE a.attrelid = target AND a.attnum > 0 AND NOT a.attisdropped
        UNION
        SELECT w.attnum, part.typid FROM within w JOIN pg_type t ON t.oid = w.typid CROSS JOIN LATERAL (
                SELECT t.typelem
                UNION ALL SELECT t.typbasetype
                UNION ALL SELECT a.atttypid FROM pg_attribute a WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
                UNION ALL SELECT g.rngsubtype FROM pg_range g WHERE t.typtype IN ('r', 'm') AND t.oid IN (g.rngtypid, g.rngmultitypid)
            ) AS part(typid)
            WHERE part.typid <> 0)
    SELECT a.attname, format_type(a.atttypid, a.atttypmod) AS typename INTO col
        FROM within w JOIN pg_attribute a ON a.attrelid = target AND a.attnum = w.attnum
        WHERE w.typid IN ('regclass'::regtype, 'regcollation'::regtype, 'regconfig'::regtype, 'regdictionary'::regtype,
            'regnamespace'::regtype, 'regoper'::regtype, 'regoperator'::regtype, 'regproc'::regtype, 'regprocedure'::regtype,
            'regrole'::regtype, 'regtype'::regtype, 'aclitem'::regtype)
        ORDER BY a.attnum LIMIT 1;
    IF FOUND THEN
        problem := format('column %s has type %s, whose text changes when other objects are renamed or dropped', quote_ident(col.attname), col.typename);
        hint := 'Keep the name as text, or the number as oid.';
        RETURN;
    END IF;
END
$$;

-- Whether the change stream carries whole rows of the table and every kind of change.
CREATE OR REPLACE FUNCTION local_cache.is_published(target oid) RETURNS boolean
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (
        SELECT 1 FROM pg_publication p JOIN pg_publication_rel r ON r.prpubid = p.oid
            WHERE p.pubname = 'pgnear' AND r.prrelid = target AND p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate
              -- column lists and row filters exist since PostgreSQL 15
              AND (to_jsonb(r) ->> 'prattrs') IS NULL AND (to_jsonb(r) ->> 'prqual') IS NULL)
$$;

-- Who called: the effective role outside of these functions.
CREATE OR REPLACE FUNCTION local_cache.caller() RETURNS name
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END $$;

-- Tells the nodes something, in commit order and only if the transaction commits.
CREATE OR REPLACE FUNCTION local_cache.tell(content text) RETURNS void
    LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$ SELECT pg_logical_emit_message(true, 'pgnear', content) $$;

-- Puts the table into the publication as whole rows, or takes it out; true if something had to be changed.
-- PostgreSQL locks the publication until the end of the transaction: two open transactions that both have to change it wait for each other.
CREATE OR REPLACE FUNCTION local_cache.publish(target oid, wanted boolean) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tablename text;
    member boolean;
    whole boolean;
BEGIN
    SELECT true, (to_jsonb(r) ->> 'prattrs') IS NULL AND (to_jsonb(r) ->> 'prqual') IS NULL INTO member, whole
        FROM pg_publication p JOIN pg_publication_rel r ON r.prpubid = p.oid
        WHERE p.pubname = 'pgnear' AND r.prrelid = target;
    member := coalesce(member, false);
    IF member = wanted AND (NOT wanted OR whole) THEN
        RETURN false;
    END IF;
    SELECT format('%I.%I', n.nspname, c.relname) INTO tablename
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = target;
    IF member THEN
        EXECUTE 'ALTER PUBLICATION pgnear DROP TABLE ONLY ' || tablename;
    END IF;
    IF wanted THEN
        EXECUTE 'ALTER PUBLICATION pgnear ADD TABLE ONLY ' || tablename;
    END IF;
    RETURN true;
END
$$;

-- Refuses callers who may not decide about the table.
CREATE OR REPLACE FUNCTION local_cache.require_owner(target oid, verb text) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner name;
BEGIN
    SELECT r.rolname INTO owner FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE c.oid = target;
    IF owner IS NULL THEN
        RETURN;
    END IF;
    IF NOT pg_has_role(local_cache.caller(), owner, 'USAGE') THEN
        RAISE EXCEPTION 'cannot % %: % does not own it', verb, target::regclass, local_cache.caller()
            USING ERRCODE = '42501', HINT = format('Do it as %s.', owner);
    END IF;
    IF NOT pg_has_role(current_user, owner, 'USAGE') THEN
        RAISE EXCEPTION 'cannot % %: %, who ran setup, owns the publication but not the table', verb, target::regclass, current_user
            USING ERRCODE = '42501', HINT = format('GRANT %I TO %I; or run setup as a superuser.', owner, current_user);
    END IF;
END
$$;

-- Attaches a table; of an attached one, null keeps what there is.
CREATE OR REPLACE FUNCTION local_cache.attach_table(target regclass, writable boolean DEFAULT NULL, alias text DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    trouble record;
    other oid;
BEGIN
    IF target IS NULL THEN
        RAISE EXCEPTION 'cannot attach: no table given' USING ERRCODE = '22004', HINT = 'Name a table.';
    END IF;
    SELECT * INTO trouble FROM local_cache.table_problem(target);
    IF trouble.problem IS NOT NULL THEN
        RAISE EXCEPTION 'cannot attach %: %', target, trouble.problem USING ERRCODE = '55000', HINT = trouble.hint;
    END IF;
    PERFORM local_cache.require_owner(target, 'attach');
    IF alias IS NOT NULL AND (alias !~ '^[A-Za-z_][A-Za-z0-9_.-]{0,62}$' OR upper(alias) = 'CRUD') THEN
        RAISE EXCEPTION 'cannot attach %: % is no usable alias', target, quote_literal(alias)
            USING ERRCODE = '22023', HINT = 'An alias is a letter or _, then letters, digits, _ . or -, at most 63 in all, and not CRUD.';
    END IF;
    SELECT m.relid INTO other FROM local_cache.mappings m WHERE m.alias = attach_table.alias AND m.relid <> target;
    IF other IS NOT NULL THEN
        RAISE EXCEPTION 'cannot attach %: alias % is in use by %', target, quote_literal(alias), other::regclass
            USING ERRCODE = '42710', HINT = 'Choose another alias.';
    END IF;
    IF NOT EXISTS (SELECT 1 FROM local_cache.mappings m WHERE m.relid = target)
            AND (SELECT count(*) FROM local_cache.mappings m) >= ${mappings} THEN
        RAISE EXCEPTION 'cannot attach %: ${mappings} tables are attached already', target
            USING ERRCODE = '54000', HINT = 'Detach a table first.';
    END IF;

    PERFORM local_cache.publish(target, true);
    -- ALTER PUBLICATION has taken a lock that keeps DDL out: what was found above may have changed before it.
    SELECT * INTO trouble FROM local_cache.table_problem(target);
    IF trouble.problem IS NOT NULL THEN
        RAISE EXCEPTION 'cannot attach %: %', target, trouble.problem USING ERRCODE = '55000', HINT = trouble.hint;
    END IF;
    INSERT INTO local_cache.mappings AS m (relid, alias, writable)
        VALUES (target, attach_table.alias, coalesce(attach_table.writable, false))
        ON CONFLICT ON CONSTRAINT mappings_pkey DO UPDATE
            SET alias = coalesce(attach_table.alias, m.alias), writable = coalesce(attach_table.writable, m.writable);
    PERFORM local_cache.tell('mapping ' || target::oid);
EXCEPTION WHEN unique_violation THEN
    RAISE EXCEPTION 'cannot attach %: alias % is in use', target, quote_literal(alias)
        USING ERRCODE = '42710', HINT = 'Choose another alias.';
END
$$;

-- True if the table was attached.
CREATE OR REPLACE FUNCTION local_cache.detach_table(target regclass) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM local_cache.require_owner(target, 'detach');
    PERFORM local_cache.publish(target, false);
    DELETE FROM local_cache.mappings m WHERE m.relid = target;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM local_cache.tell('mapping ' || target::oid);
    RETURN true;
END
$$;

-- Makes publication and mapping of one attached table right again; returns why it is bypassed, or null if it is cached.
CREATE OR REPLACE FUNCTION local_cache.reconcile(target oid) RETURNS text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    reason text;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = target) THEN
        DELETE FROM local_cache.mappings m WHERE m.relid = target;
        reason := 'it does not exist any more and was detached';
    ELSE
        SELECT t.problem INTO reason FROM local_cache.table_problem(target) t;
        BEGIN
            PERFORM local_cache.publish(target, reason IS NULL);
        EXCEPTION WHEN OTHERS THEN
            reason := coalesce(reason || '; ', '') || 'its publication cannot be changed: ' || SQLERRM;
        END;
    END IF;
    PERFORM local_cache.tell('mapping ' || target);
    RETURN reason;
END
$$;

CREATE OR REPLACE FUNCTION local_cache.reconcile_table(target regclass) RETURNS text
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM local_cache.require_owner(target, 'reconcile');
    IF NOT EXISTS (SELECT 1 FROM local_cache.mappings m WHERE m.relid = target) THEN
        RAISE EXCEPTION 'cannot reconcile %: it is not attached', target
            USING ERRCODE = '55000', HINT = format('SELECT local_cache.attach_table(%L);', target);
    END IF;
    RETURN local_cache.reconcile(target);
END
$$;

-- All attached tables; returns those that are not cached, with the reason.
CREATE OR REPLACE FUNCTION local_cache.reconcile_all() RETURNS TABLE (tablename text, reason text)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item record;
BEGIN
    FOR item IN SELECT m.relid, m.relid::regclass::text AS name FROM local_cache.mappings m ORDER BY m.relid LOOP
        tablename := item.name;
        reason := local_cache.reconcile(item.relid);
        IF reason IS NOT NULL THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;

-- Takes effect on every node when the transaction commits.
CREATE OR REPLACE FUNCTION local_cache.invalidate(scope text) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    db text := 'CRUD:' || current_database();
BEGIN
    IF scope IS NULL OR NOT (scope = 'CRUD' OR scope = db OR starts_with(scope, db || '.')
            OR EXISTS (SELECT 1 FROM local_cache.mappings m WHERE m.alias = split_part(scope, ':', 1) AND strpos(scope, ':') > 0)) THEN
        RAISE EXCEPTION 'cannot invalidate %: no such scope in this database', coalesce(quote_literal(left(scope, 200)), 'NULL')
            USING ERRCODE = '22023', HINT = format('Use CRUD, %s, %s.schema.table, or a key.', db, db);
    END IF;
    IF octet_length(scope) > ${request_bytes} THEN
        RAISE EXCEPTION 'cannot invalidate: the scope is longer than ${request_bytes} bytes' USING ERRCODE = '54000', HINT = 'Use a shorter one.';
    END IF;
    PERFORM local_cache.tell('invalidate ' || scope);
END
$$;

-- Nodes of this database as PostgreSQL sees them: walsenders with a temporary pgoutput slot here.
CREATE OR REPLACE FUNCTION local_cache.nodes() RETURNS TABLE (node text, client inet, state text, sync_state text, lag_bytes numeric, replay_lag interval, releasing boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.application_name, r.client_addr, r.state, r.sync_state,
           pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_insert_lsn() END, r.replay_lsn), r.replay_lag,
           EXISTS (SELECT 1 FROM local_cache.releases x WHERE x.node = r.application_name)
        FROM pg_stat_replication r JOIN pg_replication_slots s ON s.active_pid = r.pid
        WHERE s.slot_type = 'logical' AND s.plugin = 'pgoutput' AND s.temporary AND s.database = current_database()
$$;

CREATE OR REPLACE FUNCTION local_cache.metrics() RETURNS TABLE (name text, value double precision)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'mappings', count(*)::double precision FROM local_cache.mappings
    UNION ALL
    SELECT 'mappings_bypassed', count(*)::double precision FROM local_cache.mappings m
        WHERE (SELECT t.problem FROM local_cache.table_problem(m.relid) t) IS NOT NULL OR NOT local_cache.is_published(m.relid)
    UNION ALL SELECT 'nodes', count(*)::double precision FROM local_cache.nodes()
    UNION ALL SELECT 'nodes_synchronous', count(*)::double precision FROM local_cache.nodes() n WHERE n.sync_state IN ('sync', 'quorum')
    UNION ALL SELECT 'stream_lag_bytes', coalesce(max(n.lag_bytes), 0)::double precision FROM local_cache.nodes() n
$$;

-- What the database knows; the counters of a node are in its STATS and /metrics.
CREATE OR REPLACE FUNCTION local_cache.stats() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_object_agg(m.name, m.value)
           || jsonb_build_object('node_list', coalesce((SELECT jsonb_agg(to_jsonb(n)) FROM local_cache.nodes() n), '[]'::jsonb))
        FROM local_cache.metrics() m
$$;

CREATE OR REPLACE FUNCTION local_cache.health() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    WITH problems(problem) AS (
        SELECT m.relid::regclass::text || ': ' || t.problem FROM local_cache.mappings m, local_cache.table_problem(m.relid) t WHERE t.problem IS NOT NULL
        UNION ALL
        SELECT m.relid::regclass::text || ': it is not published' FROM local_cache.mappings m, local_cache.table_problem(m.relid) t
            WHERE t.problem IS NULL AND NOT local_cache.is_published(m.relid)
        UNION ALL
        SELECT 'wal_level is ' || current_setting('wal_level') WHERE current_setting('wal_level') <> 'logical'
        UNION ALL
        SELECT 'event triggers are missing: DDL is respected within 5 s only'
            WHERE (SELECT count(*) FROM pg_event_trigger e WHERE e.evtname IN ('pgnear_ddl', 'pgnear_drop') AND e.evtenabled = 'A') < 2
        UNION ALL
        SELECT 'no node is connected' WHERE NOT EXISTS (SELECT 1 FROM local_cache.nodes())
    )
    SELECT jsonb_build_object('healthy', count(*) = 0, 'problems', coalesce(jsonb_agg(p.problem), '[]'::jsonb), 'schema_version', local_cache.schema_version())
        FROM problems p
$$;

-- Tells the nodes that these relations changed, and makes the publication of the attached ones among them right in the same transaction, so
-- that no UPDATE or DELETE of theirs fails. Never raises.
CREATE OR REPLACE FUNCTION local_cache.touched(relids oid[], tag text) RETURNS void
    -- waiting for another repair is better than an UPDATE that fails later
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0
AS $$
DECLARE
    item oid;
    reason text;
BEGIN
    FOR item IN SELECT m.relid FROM local_cache.mappings m WHERE m.relid = ANY (relids) LOOP
        PERFORM local_cache.tell('ddl ' || item || ' ' || tag);
        BEGIN
            SELECT t.problem INTO reason FROM local_cache.table_problem(item) t;
            IF local_cache.publish(item, reason IS NULL) THEN
                PERFORM local_cache.tell('mapping ' || item);
            END IF;
        EXCEPTION WHEN OTHERS THEN
            RAISE LOG 'pgnear: publication of % is not repaired after %: %', item, tag, SQLERRM;
        END;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION local_cache.on_ddl() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relids oid[] := '{}';
    broad boolean := false;
    cmd record;
    pub record;
BEGIN
    -- The frequent case first, temporary tables above all: a new table concerns others only as their child.
    IF tg_tag = 'CREATE TABLE' THEN
        IF NOT EXISTS (SELECT 1 FROM pg_event_trigger_ddl_commands() c JOIN pg_inherits i ON i.inhrelid = c.objid
                JOIN local_cache.mappings m ON m.relid = i.inhparent) THEN
            RETURN;
        END IF;
    ELSIF NOT EXISTS (SELECT 1 FROM local_cache.mappings) THEN
        RETURN;
    END IF;
    -- One look-up by oid for each command: joins would be planned for a thousand commands and read whole catalogs.
    FOR cmd IN SELECT c.classid, c.objid, c.command_tag, upper(c.object_type) AS object_type
            FROM pg_event_trigger_ddl_commands() c WHERE c.schema_name IS DISTINCT FROM 'pg_temp' LOOP
        IF cmd.classid = 'pg_class'::regclass THEN
            relids := relids || coalesce((SELECT i.indrelid FROM pg_index i WHERE i.indexrelid = cmd.objid), cmd.objid);
            -- the row type of another table that is the type of somebody's column
            broad := broad OR cmd.command_tag = 'ALTER TABLE' AND EXISTS (
                SELECT 1 FROM pg_class r JOIN pg_type t ON t.oid = r.reltype
                    JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (t.oid, t.typarray)
                    WHERE r.oid = cmd.objid AND (d.classid = 'pg_class'::regclass AND d.objsubid > 0
                        OR d.classid = 'pg_type'::regclass AND d.objid <> t.typarray));
        ELSIF cmd.classid = 'pg_constraint'::regclass THEN
            relids := relids || (SELECT t.conrelid FROM pg_constraint t WHERE t.oid = cmd.objid);
        ELSIF cmd.classid = 'pg_policy'::regclass THEN
            relids := relids || (SELECT t.polrelid FROM pg_policy t WHERE t.oid = cmd.objid);
        ELSIF cmd.classid = 'pg_trigger'::regclass THEN
            relids := relids || (SELECT t.tgrelid FROM pg_trigger t WHERE t.oid = cmd.objid);
        ELSIF cmd.classid = 'pg_rewrite'::regclass THEN
            relids := relids || (SELECT t.ev_class FROM pg_rewrite t WHERE t.oid = cmd.objid);
        ELSIF cmd.classid = 'pg_publication_rel'::regclass THEN
            relids := relids || (SELECT t.prrelid FROM pg_publication_rel t JOIN pg_publication p ON p.oid = t.prpubid
                WHERE t.oid = cmd.objid AND p.pubname = 'pgnear');
        ELSIF cmd.classid = 'pg_publication'::regclass THEN
            broad := broad OR EXISTS (SELECT 1 FROM pg_publication p WHERE p.oid = cmd.objid AND p.pubname = 'pgnear');
        ELSIF cmd.classid = 'pg_proc'::regclass THEN
            broad := broad OR EXISTS (SELECT 1 FROM pg_cast t WHERE t.castfunc = cmd.objid);
        ELSIF cmd.classid IS NULL THEN
            -- GRANT and REVOKE do not say on what
            broad := broad OR cmd.object_type IN ('TABLE', 'COLUMN', 'SCHEMA');
        END IF;
        broad := broad OR cmd.command_tag IN ('ALTER TYPE', 'ALTER DOMAIN', 'ALTER SCHEMA', 'CREATE CAST');
    END LOOP;
    IF broad THEN
        PERFORM local_cache.tell('ddl 0 ' || tg_tag);
    END IF;
    relids := relids || ARRAY(SELECT i.inhparent FROM pg_inherits i WHERE i.inhrelid = ANY (relids))
        || ARRAY(SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = ANY (relids));
    IF EXISTS (SELECT 1 FROM local_cache.mappings m WHERE m.relid = ANY (relids)) THEN
        PERFORM local_cache.touched(relids, tg_tag);
    END IF;
    IF tg_tag = 'ALTER PUBLICATION' THEN
        SELECT * INTO pub FROM pg_publication p WHERE p.pubname = 'pgnear';
        IF FOUND AND NOT (pub.pubinsert AND pub.pubupdate AND pub.pubdelete AND pub.pubtruncate AND pub.pubviaroot) THEN
            EXECUTE 'ALTER PUBLICATION pgnear SET (publish = ''insert, update, delete, truncate'', publish_via_partition_root = true)';
        END IF;
    END IF;
EXCEPTION WHEN OTHERS THEN
    -- The user's statement goes on; the nodes look at everything again.
    RAISE LOG 'pgnear: event trigger on % failed: %', tg_tag, SQLERRM;
    PERFORM pg_logical_emit_message(true, 'pgnear', 'ddl 0 ' || tg_tag);
END
$$;

CREATE OR REPLACE FUNCTION local_cache.on_drop() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relids oid[] := '{}';
    unpublished oid[] := '{}';
    broad boolean;
    indexes boolean;
    tables boolean;
    obj record;
    item oid;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_event_trigger_dropped_objects() d WHERE NOT d.is_temporary)
            OR NOT EXISTS (SELECT 1 FROM local_cache.mappings) THEN
        RETURN;
    END IF;
    FOR item IN DELETE FROM local_cache.mappings m
            USING pg_event_trigger_dropped_objects() d
            WHERE d.classid = 'pg_class'::regclass AND d.objid = m.relid AND d.objsubid = 0
            RETURNING m.relid LOOP
        PERFORM local_cache.tell('mapping ' || item);
    END LOOP;
    FOR obj IN SELECT d.classid, d.objid, d.object_type, d.address_names AS names, d.address_args AS args
            FROM pg_event_trigger_dropped_objects() d
            WHERE NOT d.is_temporary AND (d.object_type IN ('table constraint', 'policy', 'trigger', 'rule', 'publication relation')
                OR d.classid = 'pg_class'::regclass AND d.objsubid > 0) LOOP
        IF obj.classid = 'pg_class'::regclass THEN
            relids := relids || obj.objid;
        ELSE
            item := (SELECT c.oid FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
                WHERE n.nspname = obj.names[1] AND c.relname = obj.names[2]);
            IF obj.object_type <> 'publication relation' THEN
                relids := relids || item;
            ELSIF obj.args[1] = 'pgnear' THEN
                -- taken out of the publication on purpose: respected until reconcile_table
                unpublished := unpublished || item;
            END IF;
        END IF;
    END LOOP;
    SELECT coalesce(bool_or(d.object_type = 'index'), false), coalesce(bool_or(d.object_type = 'table'), false),
           coalesce(bool_or(d.object_type = 'cast' OR d.object_type = 'publication' AND d.address_names[1] = 'pgnear'), false)
        INTO indexes, tables, broad
        FROM pg_event_trigger_dropped_objects() d WHERE NOT d.is_temporary;
    IF indexes OR tables THEN
        -- perhaps the index was somebody's identity, or the table somebody's last child
        relids := relids || ARRAY(SELECT m.relid FROM local_cache.mappings m JOIN pg_class c ON c.oid = m.relid
            WHERE indexes AND c.relreplident = 'i' OR tables AND c.relhassubclass);
    END IF;
    IF broad THEN
        PERFORM local_cache.tell('ddl 0 ' || tg_tag);
    END IF;
    FOR item IN SELECT m.relid FROM local_cache.mappings m WHERE m.relid = ANY (unpublished) LOOP
        PERFORM local_cache.tell('ddl ' || item || ' ' || tg_tag);
    END LOOP;
    IF EXISTS (SELECT 1 FROM local_cache.mappings m WHERE m.relid = ANY (relids)) THEN
        PERFORM local_cache.touched(relids, tg_tag);
    END IF;
EXCEPTION WHEN OTHERS THEN
    RAISE LOG 'pgnear: event trigger on % failed: %', tg_tag, SQLERRM;
    PERFORM pg_logical_emit_message(true, 'pgnear', 'ddl 0 ' || tg_tag);
END
$$;

REVOKE ALL ON SCHEMA local_cache FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA local_cache FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA local_cache FROM PUBLIC;

DO $setup$
DECLARE
    pub record;
BEGIN
    SELECT p.puballtables, r.rolname INTO pub FROM pg_publication p JOIN pg_roles r ON r.oid = p.pubowner WHERE p.pubname = 'pgnear';
    IF NOT FOUND THEN
        CREATE PUBLICATION pgnear WITH (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);
    ELSIF pub.puballtables THEN
        RAISE EXCEPTION 'publication pgnear is FOR ALL TABLES, so tables without a primary key could not be updated'
            USING ERRCODE = '55000', HINT = 'DROP PUBLICATION pgnear; then run setup again and SELECT * FROM local_cache.reconcile_all();';
    ELSIF NOT pg_has_role(pub.rolname, 'USAGE') THEN
        RAISE EXCEPTION 'publication pgnear belongs to %', pub.rolname
            USING ERRCODE = '42501', HINT = format('ALTER PUBLICATION pgnear OWNER TO %I;', current_user);
    ELSE
        ALTER PUBLICATION pgnear SET (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);
    END IF;
END
$setup$;

DO $setup$
BEGIN
    DROP EVENT TRIGGER IF EXISTS pgnear_ddl;
    DROP EVENT TRIGGER IF EXISTS pgnear_drop;
    CREATE EVENT TRIGGER pgnear_ddl ON ddl_command_end
        WHEN TAG IN ('ALTER TABLE', 'CREATE TABLE', 'CREATE SCHEMA', 'ALTER SCHEMA', 'ALTER INDEX', 'ALTER VIEW', 'ALTER SEQUENCE',
            'GRANT', 'REVOKE', 'DROP OWNED', 'ALTER TYPE', 'ALTER DOMAIN', 'CREATE POLICY', 'ALTER POLICY', 'CREATE TRIGGER', 'ALTER TRIGGER',
            'CREATE RULE', 'ALTER RULE', 'CREATE CAST', 'CREATE FUNCTION', 'ALTER FUNCTION', 'CREATE EXTENSION', 'ALTER EXTENSION', 'ALTER PUBLICATION')
        EXECUTE FUNCTION local_cache.on_ddl();
    CREATE EVENT TRIGGER pgnear_drop ON sql_drop EXECUTE FUNCTION local_cache.on_drop();
    -- also in sessions with session_replication_role = replica
    ALTER EVENT TRIGGER pgnear_ddl ENABLE ALWAYS;
    ALTER EVENT TRIGGER pgnear_drop ENABLE ALWAYS;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'event triggers need a superuser and were not installed: nodes look for DDL every few seconds instead; to have them, run setup as a superuser';
END
$setup$;

-- The publication may have been made anew, and this version may know of more problems than the one before it.
DO $setup$
DECLARE
    waiting text := current_setting('lock_timeout');
    item record;
BEGIN
    -- a table that cannot be locked soon stays as it is
    PERFORM set_config('lock_timeout', '5s', true);
    FOR item IN SELECT r.tablename, r.reason FROM local_cache.reconcile_all() r LOOP
        RAISE WARNING 'table % is not cached: %', item.tablename, item.reason;
    END LOOP;
    PERFORM set_config('lock_timeout', waiting, true);
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'attached tables were not looked at: %; to repair them: SELECT * FROM local_cache.reconcile_all();', SQLERRM;
END
$setup$;
