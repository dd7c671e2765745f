CREATE TABLE public.items (
    id bigint PRIMARY KEY,
    tenant int NOT NULL,
    name text NOT NULL,
    amount numeric(12,2) NOT NULL,
    enabled boolean NOT NULL,
    metadata jsonb NOT NULL,
    payload text NOT NULL,
    note text NULL,
    updated_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
CREATE TABLE public.tenant_items (
    tenant_id int NOT NULL,
    id bigint NOT NULL,
    name text NOT NULL,
    amount numeric(12,2) NOT NULL,
    metadata jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    PRIMARY KEY (tenant_id, id)
);
