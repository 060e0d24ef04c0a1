-- +goose Up

-- rebase_events makes the order right again after the database was restored
-- into another cluster, whose transactions count from another number. Rows that
-- claim a transaction of the future move before all others, and every follower to
-- before the first of them that it had not passed: it sees some twice, and misses
-- none. A follower that is still among the rows of an earlier restore, which are
-- numbered 1, stays before those that it has not passed.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION rebase_events() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
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
    id = least(CASE WHEN f.xid <= '1' THEN f.id END,
               coalesce((SELECT min(e.id) - 1 FROM events e WHERE e.xid > future AND (e.xid, e.id) > (f.xid, f.id)),
                        (SELECT max(e.id) FROM events e WHERE e.xid > future), 0));
  FOR part IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'events'::regclass LOOP
    EXECUTE format('UPDATE %I SET xid = ''1'' WHERE xid > $1', part) USING future;
    GET DIAGNOSTICS n = ROW_COUNT;
    rebased := rebased + n;
  END LOOP;
  RETURN rebased;
END
$$;
-- +goose StatementEnd
-- fixture: SELECT rebase_events();
