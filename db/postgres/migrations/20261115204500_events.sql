-- +goose Up

-- Partitions. Events have one for each week, because they are kept for weeks and
-- dropped whole; the audit log has one for each month. A default partition takes
-- what has no partition yet, so a late maintenance loses nothing. The runtime
-- role reaches rows through the parent alone, whose row security binds it:
-- partitions have none, and grant nothing.
-- +goose StatementBegin
CREATE FUNCTION partition_unit(parent regclass) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE parent::oid::regclass::text WHEN 'events' THEN 'week' WHEN 'audit_logs' THEN 'month' END
$$;
-- +goose StatementEnd

-- add_partition makes the partition that holds a moment, and moves there what
-- the default partition has of it. It locks the parent: a writer that had chosen
-- the default partition would otherwise be refused.
-- +goose StatementBegin
CREATE FUNCTION add_partition(parent regclass, moment timestamptz) RETURNS boolean LANGUAGE plpgsql
  SET search_path = public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  unit  text        := partition_unit(parent);
  first timestamptz := date_trunc(unit, moment);
  past  timestamptz := first + ('1 ' || unit)::interval;
  name  text        := parent::text || '_' || to_char(first, 'YYYYMMDD');
BEGIN
  IF to_regclass(name) IS NOT NULL THEN
    RETURN false;
  END IF;
  EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', parent);
  EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name, parent);
  EXECUTE format('REVOKE ALL ON %I FROM PUBLIC, assay_app', name);
  EXECUTE format('WITH moved AS (DELETE FROM %I WHERE at >= $1 AND at < $2 RETURNING *) INSERT INTO %I SELECT * FROM moved', parent::text || '_default', name)
    USING first, past;
  EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name, first, past);
  RETURN true;
END
$$;
-- +goose StatementEnd

-- keep_partitions makes partitions for what is in the default partition and for
-- the time ahead, and returns how many it made. The runtime role owns no table,
-- so the function runs with its owner's rights. It waits for no lock longer than
-- a moment: a call that fails is repeated later. A transaction that locks one
-- parent must not lock the other, because a change writes to both.
-- +goose StatementBegin
CREATE FUNCTION keep_partitions(parent regclass, moment timestamptz) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET timezone = 'UTC' SET lock_timeout = '2s' AS $$
DECLARE
  unit text := partition_unit(parent);
  late timestamptz;
  made integer := 0;
BEGIN
  IF unit IS NULL THEN
    RAISE EXCEPTION '% has no partitions', parent USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NOT pg_try_advisory_xact_lock(hashtextextended('keep_partitions', 0)) THEN
    RETURN 0; -- another process is at it
  END IF;
  FOR late IN EXECUTE format('SELECT DISTINCT date_trunc(%L, at) FROM %I ORDER BY 1 LIMIT 50', unit, parent::text || '_default') LOOP
    made := made + add_partition(parent, late)::integer;
  END LOOP;
  FOR ahead IN 0..2 LOOP
    made := made + add_partition(parent, moment + ahead * ('1 ' || unit)::interval)::integer;
  END LOOP;
  RETURN made;
END
$$;
-- +goose StatementEnd

-- What happened, for those who follow: one row for each audit entry, in the
-- statement that writes the entry. It refers to no organization, whose row
-- every write would otherwise lock. A follower reads in the order (xid, id) and
-- only below the oldest running transaction, so that a transaction which
-- commits late is not skipped.
CREATE SEQUENCE event_ids;
CREATE TABLE events (
  org_id      uuid        NOT NULL,
  id          bigint      NOT NULL DEFAULT nextval('event_ids'),
  xid         xid8        NOT NULL DEFAULT pg_current_xact_id(),
  at          timestamptz NOT NULL,
  type        text        NOT NULL,
  resource    text        NOT NULL,
  resource_id text        NOT NULL,
  payload     json        NOT NULL,
  PRIMARY KEY (org_id, id, at)
) PARTITION BY RANGE (at);
ALTER SEQUENCE event_ids OWNED BY events.id;
CREATE INDEX events_order ON events (xid, id);
CREATE TABLE events_default PARTITION OF events DEFAULT;
REVOKE ALL ON events_default FROM PUBLIC, assay_app;
REVOKE UPDATE ON events FROM assay_app;

-- Where each follower is. A holder works on one batch at a time, under a lease.
CREATE TABLE followers (
  name         text        NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64),
  xid          xid8        NOT NULL,
  id           bigint      NOT NULL,
  holder       uuid,
  leased_until timestamptz NOT NULL DEFAULT '-infinity',
  -- How often the batch after the cursor has failed.
  failures     integer     NOT NULL DEFAULT 0,
  moved_at     timestamptz NOT NULL
);
ALTER TABLE followers ENABLE ROW LEVEL SECURITY;
ALTER TABLE followers FORCE ROW LEVEL SECURITY;
CREATE POLICY sweep ON followers
  USING (nullif(current_setting('app.sweep', true), '') = 'events');

-- drop_events drops the partitions that ended before a moment and that every
-- follower has passed, and returns how many.
-- +goose StatementBegin
CREATE FUNCTION drop_events(before timestamptz) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET timezone = 'UTC' SET lock_timeout = '2s' AS $$
DECLARE
  name    text;
  behind  boolean;
  dropped integer := 0;
BEGIN
  -- Without the claim it would see no follower, and drop what they still need.
  PERFORM set_config('app.sweep', 'events', true);
  IF NOT pg_try_advisory_xact_lock(hashtextextended('keep_partitions', 0)) THEN
    RETURN 0;
  END IF;
  FOR name IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'events'::regclass AND c.relname ~ '^events_[0-9]{8}$'
      AND to_date(right(c.relname, 8), 'YYYYMMDD') + interval '1 week' <= least(before, now())
    ORDER BY c.relname
  LOOP
    -- The parent first, as writers lock them. No row of the partition is
    -- uncommitted then.
    LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I e, followers f WHERE (e.xid, e.id) > (f.xid, f.id))', name) INTO behind;
    IF NOT behind THEN
      EXECUTE format('DROP TABLE %I', name);
      dropped := dropped + 1;
    END IF;
  END LOOP;
  RETURN dropped;
END
$$;
-- +goose StatementEnd

-- rebase_events makes the order right again after the database was restored
-- into another cluster, whose transactions count from another number. Rows that
-- claim a transaction of the future move before all others, and every follower to
-- before the first of them that it had not passed: it sees some twice, and misses
-- none.
-- +goose StatementBegin
CREATE FUNCTION rebase_events() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
DECLARE
  future  xid8;
  part    text;
  n       bigint;
  rebased bigint := 0;
BEGIN
  PERFORM set_config('app.sweep', 'events', true);
  -- Rows and the next transaction are of one snapshot, which shows no row of the
  -- future unless it is foreign.
  PERFORM 1 WHERE EXISTS (SELECT 1 FROM events WHERE xid > pg_snapshot_xmax(pg_current_snapshot()))
               OR EXISTS (SELECT 1 FROM followers WHERE xid > pg_snapshot_xmax(pg_current_snapshot()));
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('keep_partitions', 0));
  LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
  LOCK TABLE followers IN ACCESS EXCLUSIVE MODE;
  future := pg_snapshot_xmax(pg_current_snapshot());
  UPDATE followers f SET holder = NULL, leased_until = '-infinity', xid = '1',
    id = coalesce((SELECT min(e.id) - 1 FROM events e WHERE e.xid > future AND (e.xid, e.id) > (f.xid, f.id)),
                  (SELECT max(e.id) FROM events e WHERE e.xid > future), 0);
  FOR part IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'events'::regclass LOOP
    EXECUTE format('UPDATE %I SET xid = ''1'' WHERE xid > $1', part) USING future;
    GET DIAGNOSTICS n = ROW_COUNT;
    rebased := rebased + n;
  END LOOP;
  RETURN rebased;
END
$$;
-- +goose StatementEnd

REVOKE EXECUTE ON FUNCTION add_partition, keep_partitions, drop_events, rebase_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_partitions, drop_events, rebase_events TO assay_app;

-- Events were messages of the outbox that nothing took. They move: a follower
-- that begins at the beginning gets all there is. What the release before this
-- one writes while both run moves as it comes.
-- +goose StatementBegin
CREATE FUNCTION outbox_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE message jsonb := convert_from(NEW.payload, 'UTF8')::jsonb;
BEGIN
  INSERT INTO events (org_id, at, type, resource, resource_id, payload)
  VALUES (NEW.org_id, NEW.created_at, message->>'type', message->>'resource', message->>'resource_id',
          (message - '{type,resource,resource_id,at}'::text[])::json);
  RETURN NULL; -- the message itself is not kept
END
$$;
-- +goose StatementEnd
ALTER TABLE outbox NO FORCE ROW LEVEL SECURITY;
LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE;
SELECT add_partition('events', week) FROM (SELECT DISTINCT date_trunc('week', created_at, 'UTC') AS week FROM outbox WHERE topic = 'event') weeks;
INSERT INTO events (org_id, at, type, resource, resource_id, payload)
SELECT org_id, created_at, message->>'type', message->>'resource', message->>'resource_id', (message - '{type,resource,resource_id,at}'::text[])::json
FROM (SELECT *, convert_from(payload, 'UTF8')::jsonb AS message FROM outbox WHERE topic = 'event' ORDER BY id) pending;
DELETE FROM outbox WHERE topic = 'event';
ALTER TABLE outbox FORCE ROW LEVEL SECURITY;
CREATE TRIGGER event BEFORE INSERT ON outbox FOR EACH ROW WHEN (NEW.topic = 'event') EXECUTE FUNCTION outbox_event();

SELECT tenant_table('events');
-- A row goes only with its whole organization, under a claim that names it, or
-- with its whole partition.
CREATE POLICY immutable ON events AS RESTRICTIVE FOR DELETE
  USING (org_id::text = nullif(current_setting('app.erase', true), ''));
CREATE POLICY sweep ON events FOR SELECT
  USING (nullif(current_setting('app.sweep', true), '') = 'events');

-- The audit log, in partitions and without a reference to the organization's
-- row, with the rows that it has.
ALTER TABLE audit_logs NO FORCE ROW LEVEL SECURITY;
ALTER TABLE audit_logs RENAME TO audit_logs_before;
LOCK TABLE audit_logs_before IN ACCESS EXCLUSIVE MODE;
CREATE SEQUENCE audit_log_ids;
CREATE TABLE audit_logs (
  org_id        uuid        NOT NULL,
  id            bigint      NOT NULL DEFAULT nextval('audit_log_ids'),
  at            timestamptz NOT NULL,
  actor_type    text        NOT NULL CHECK (actor_type IN ('user', 'api_key', 'system')),
  user_id       uuid,
  api_key_id    bigint,
  asserted      boolean     NOT NULL DEFAULT false,
  action        text        NOT NULL,
  resource_type text        NOT NULL,
  resource_id   text        NOT NULL,
  request_id    text        NOT NULL,
  ip            text        NOT NULL,
  before_digest bytea,
  after_digest  bytea
) PARTITION BY RANGE (at);
ALTER SEQUENCE audit_log_ids OWNED BY audit_logs.id;
CREATE TABLE audit_logs_default PARTITION OF audit_logs DEFAULT;
REVOKE ALL ON audit_logs_default FROM PUBLIC, assay_app;
SELECT add_partition('audit_logs', month) FROM (SELECT DISTINCT date_trunc('month', at, 'UTC') AS month FROM audit_logs_before) months;
INSERT INTO audit_logs (org_id, id, at, actor_type, user_id, api_key_id, asserted, action, resource_type, resource_id, request_id, ip, before_digest, after_digest)
SELECT org_id, id, at, actor_type, user_id, api_key_id, asserted, action, resource_type, resource_id, request_id, ip, before_digest, after_digest FROM audit_logs_before;
SELECT setval('audit_log_ids', nextval(pg_get_serial_sequence('audit_logs_before', 'id')), false);
DROP TABLE audit_logs_before;
ALTER TABLE audit_logs ADD PRIMARY KEY (org_id, id, at);
CREATE INDEX audit_logs_resource ON audit_logs (org_id, resource_type, resource_id, id);
CREATE INDEX audit_logs_user ON audit_logs (org_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_logs_action ON audit_logs (org_id, action, id);
CREATE INDEX audit_logs_at ON audit_logs (org_id, at);
REVOKE UPDATE ON audit_logs FROM assay_app;
SELECT tenant_table('audit_logs');
CREATE POLICY immutable ON audit_logs AS RESTRICTIVE FOR DELETE
  USING (org_id::text = nullif(current_setting('app.erase', true), ''));
