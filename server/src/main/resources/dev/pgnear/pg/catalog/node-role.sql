-- What a node's role may do here. LOGIN, REPLICATION, pg_monitor and SELECT on the attached tables are yours to grant (see check).
GRANT USAGE ON SCHEMA local_cache TO ${node_role};
GRANT SELECT ON local_cache.mappings, local_cache.releases TO ${node_role};
GRANT SELECT, INSERT, UPDATE ON local_cache.leases TO ${node_role};
GRANT EXECUTE ON FUNCTION local_cache.schema_version(), local_cache.table_problem(oid), local_cache.is_published(oid),
    local_cache.health(), local_cache.stats(), local_cache.metrics(), local_cache.nodes() TO ${node_role};
