-- +goose Up

-- Feedback is kept as scores, in ClickHouse. What there is becomes promises to
-- store scores. So does what a binary from before still writes: to it the table
-- is a view, which goes with a later migration.
CREATE SEQUENCE feedback_ids;
ALTER TABLE trace_feedback RENAME TO old_feedback;
CREATE VIEW trace_feedback WITH (security_invoker = true) AS
SELECT NULL::uuid AS org_id, NULL::bigint AS id, NULL::bytea AS trace_id, NULL::bytea AS span_id, NULL::text AS type, NULL::json AS value,
  NULL::text AS comment, NULL::text AS user_id, NULL::timestamptz AS created_at, NULL::text AS creator
WHERE false;

-- +goose StatementBegin
CREATE FUNCTION promise_feedback() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    RETURN NULL;
  END IF;
  NEW.id := coalesce(NEW.id, nextval('feedback_ids'));
  NEW.comment := coalesce(NEW.comment, '');
  NEW.user_id := coalesce(NEW.user_id, '');
  NEW.creator := coalesce(NEW.creator, 'system');
  INSERT INTO outbox (org_id, topic, subject, payload, due_at, created_at)
  SELECT NEW.org_id, 'score.promised', 'trace/' || encode(NEW.trace_id, 'hex'),
    convert_to(json_build_object(
      'subject', json_build_object(
        'kind', CASE WHEN NEW.span_id IS NULL THEN 'trace' ELSE 'span' END, 'id', encode(NEW.trace_id, 'hex'), 'part', encode(NEW.span_id, 'hex')),
      'metric', 'feedback.' || NEW.type,
      'source', CASE
        WHEN NEW.user_id = '' AND NEW.creator LIKE 'user/%' AND NEW.creator NOT LIKE '%/asserted' THEN json_build_object('kind', 'person', 'id', split_part(NEW.creator, '/', 2))
        ELSE json_build_object('kind', 'user', 'id', NEW.user_id) END,
      'record', NEW.id,
      'separate', true, -- it replaces nothing that was said before
      'value', CASE
        WHEN NEW.type = 'thumbs' THEN to_json(CASE NEW.value::text WHEN 'true' THEN 1 ELSE 0 END)
        WHEN NEW.type = 'rating' THEN NEW.value END,
      'label', CASE WHEN NEW.type = 'thumbs' THEN CASE NEW.value::text WHEN 'true' THEN 'up' ELSE 'down' END END,
      'comment', NEW.comment,
      'detail', NEW.value,
      'by', NEW.creator,
      'at', to_char(NEW.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      -- The default of the deployment is not known here: the longest loses nothing.
      'retention_days', (SELECT min(class) FROM unnest(ARRAY[7, 30, 90, 400, 3650]) class WHERE class >= coalesce((o.settings->>'retention_days')::integer, 3650))
    )::text, 'UTF8'),
    now(), NEW.created_at
  FROM organizations o WHERE o.id = NEW.org_id;
  RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER promise_feedback INSTEAD OF INSERT OR DELETE ON trace_feedback FOR EACH ROW EXECUTE FUNCTION promise_feedback();

CREATE INDEX outbox_subject ON outbox (org_id, topic, subject);

ALTER TABLE outbox NO FORCE ROW LEVEL SECURITY;
ALTER TABLE organizations NO FORCE ROW LEVEL SECURITY;
ALTER TABLE old_feedback NO FORCE ROW LEVEL SECURITY;
SELECT setval('feedback_ids', coalesce((SELECT max(id) FROM old_feedback), 0) + 1, false);
INSERT INTO trace_feedback SELECT org_id, id, trace_id, span_id, type, value, comment, user_id, created_at, creator FROM old_feedback;
DROP TABLE old_feedback;
ALTER TABLE outbox FORCE ROW LEVEL SECURITY;
ALTER TABLE organizations FORCE ROW LEVEL SECURITY;
-- fixture: INSERT INTO trace_feedback (org_id, trace_id, type, value, created_at)
-- fixture: VALUES ('01900000-0000-7000-8000-000000000001', '\x01010101010101010101010101010101', 'rating', '0.5', '2026-01-01T00:00:00Z');
