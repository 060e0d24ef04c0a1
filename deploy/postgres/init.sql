-- Roles and databases of an Assay installation. The official PostgreSQL image
-- runs this script once, on an empty volume; the development launcher runs it
-- at every start. Each statement therefore leaves alone what is there.
--
-- Passwords come from the environment of the client (psql 14 or later).
\set ON_ERROR_STOP on
\getenv owner_password ASSAY_POSTGRES_OWNER_PASSWORD
\getenv app_password ASSAY_POSTGRES_APP_PASSWORD
\getenv temporal_password TEMPORAL_POSTGRES_PASSWORD

-- assay_owner owns the schema and migrates it. CREATEDB lets tests make
-- databases from a template. Row security binds it where a table forces it.
SELECT 'CREATE ROLE assay_owner'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'assay_owner')\gexec
ALTER ROLE assay_owner LOGIN CREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS PASSWORD :'owner_password';

-- assay_app is the running product. It owns nothing, so no mistake in it can
-- switch row security off.
SELECT 'CREATE ROLE assay_app'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'assay_app')\gexec
ALTER ROLE assay_app LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS PASSWORD :'app_password';

-- temporal is the workflow engine, with databases of its own.
SELECT 'CREATE ROLE temporal'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'temporal')\gexec
ALTER ROLE temporal LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS PASSWORD :'temporal_password';

SELECT 'CREATE DATABASE assay OWNER assay_owner'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'assay')\gexec
SELECT 'CREATE DATABASE temporal OWNER temporal'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'temporal')\gexec
SELECT 'CREATE DATABASE temporal_visibility OWNER temporal'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'temporal_visibility')\gexec

-- Nobody but the owner and the product comes into Assay's database.
REVOKE CONNECT, TEMPORARY ON DATABASE assay FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE assay TO assay_app;
REVOKE CONNECT, TEMPORARY ON DATABASE temporal, temporal_visibility FROM PUBLIC;
