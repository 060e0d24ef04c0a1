-- The schema that the migrations produce. Written by `make gen`; do not edit.

CREATE FUNCTION public.add_partition(parent regclass, moment timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $_$
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
  PERFORM take_no_samples(name::regclass);
  EXECUTE format('WITH moved AS (DELETE FROM %I WHERE at >= $1 AND at < $2 RETURNING *) INSERT INTO %I SELECT * FROM moved', parent::text || '_default', name)
    USING first, past;
  EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name, first, past);
  RETURN true;
END
$_$;

CREATE FUNCTION public.asked(content json) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE STRICT
    AS $$
DECLARE input json := content -> 'input';
BEGIN
  IF input IS NULL OR json_typeof(input) = 'null' THEN
    RETURN NULL; -- nothing is known of what was asked
  END IF;
  RETURN sha256(convert_to('asked:' || input::jsonb::text, 'UTF8'));
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN -- what jsonb does not hold
  RETURN sha256(convert_to('asked:' || input::text, 'UTF8'));
END
$$;

CREATE FUNCTION public.drop_events(before timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '2s'
    AS $_$
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
$_$;

CREATE FUNCTION public.entry_active() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM FROM ground_truths g
  WHERE g.org_id = NEW.org_id AND g.id = NEW.ground_truth_id AND g.status = 'active'
  FOR SHARE; -- it stays active until the entry is committed
  IF NOT FOUND THEN
    RAISE EXCEPTION 'ground truth % is not active', NEW.ground_truth_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'ground_truth_entries_active';
  END IF;
  RETURN NEW;
END
$$;

CREATE FUNCTION public.item_bytes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NEW.bytes := octet_length(NEW.content::text);
  RETURN NEW;
END
$$;

CREATE FUNCTION public.item_frozen() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_OP = 'DELETE' AND coalesce(current_setting('app.erase', true), '') <> '' THEN
    RETURN OLD;
  END IF;
  IF EXISTS (SELECT FROM datasets d WHERE d.org_id = OLD.org_id AND d.id = OLD.dataset_id AND d.latest_version >= OLD.valid_from AND d.deleted_at IS NULL) THEN
    RAISE EXCEPTION 'a frozen version contains item % of dataset %', OLD.id, OLD.dataset_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'dataset_items_frozen';
  END IF;
  RETURN coalesce(NEW, OLD);
END
$$;

CREATE FUNCTION public.item_side() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE wanted text; taken text; one bytea;
BEGIN
  SELECT CASE WHEN d.purpose = 'golden' THEN 'golden'
              WHEN d.purpose = 'calibration' AND NEW.split IN ('train', 'dev') THEN 'tuning' END
  INTO wanted FROM datasets d WHERE d.org_id = NEW.org_id AND d.id = NEW.dataset_id;
  NEW.asked := asked(NEW.content);
  IF wanted IS NULL THEN
    RETURN NEW;
  END IF;
  FOREACH one IN ARRAY array_remove(ARRAY[NEW.assessed, NEW.asked], NULL) LOOP
    -- The update locks the row: whoever comes second waits and then sees the side.
    INSERT INTO assessed_contents AS c (org_id, digest, side) VALUES (NEW.org_id, one, wanted)
    ON CONFLICT (org_id, digest) DO UPDATE SET side = c.side
    RETURNING c.side INTO taken;
    IF taken <> wanted THEN
      RAISE EXCEPTION 'content that is used for % cannot be used for %', taken, wanted
        USING ERRCODE = 'check_violation', CONSTRAINT = 'assessed_contents_one_side', DETAIL = 'sha256:' || encode(one, 'hex');
    END IF;
  END LOOP;
  RETURN NEW;
END
$$;

CREATE FUNCTION public.keep_partitions(parent regclass, moment timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '2s'
    AS $$
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

CREATE FUNCTION public.outbox_event() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE message jsonb := convert_from(NEW.payload, 'UTF8')::jsonb;
BEGIN
  INSERT INTO events (org_id, at, type, resource, resource_id, payload)
  VALUES (NEW.org_id, NEW.created_at, message->>'type', message->>'resource', message->>'resource_id',
          (message - '{type,resource,resource_id,at}'::text[])::json);
  RETURN NULL; -- the message itself is not kept
END
$$;

CREATE FUNCTION public.partition_unit(parent regclass) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  SELECT CASE parent::oid::regclass::text WHEN 'events' THEN 'week' WHEN 'audit_logs' THEN 'month' END
$$;

CREATE FUNCTION public.promise_feedback() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.rebase_events() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $_$
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
$_$;

CREATE FUNCTION public.take_no_samples(t regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE c record;
BEGIN
  FOR c IN
    SELECT i.oid::regclass AS relation, i.relkind, a.attname, a.attnum
    FROM pg_class i JOIN pg_attribute a ON a.attrelid = i.oid
    WHERE (i.oid = t OR i.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = t AND indexprs IS NOT NULL))
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attstattarget <> 0 AND a.atttypid IN ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype, 'bytea'::regtype)
      AND (i.oid = t OR (SELECT indkey[a.attnum - 1] = 0 FROM pg_index WHERE indexrelid = i.oid))
      AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = i.oid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]
                      AND pg_get_constraintdef(k.oid) ~ '= ANY \(|octet_length\(\w+\) = ')
  LOOP
    IF c.relkind IN ('i', 'I') THEN
      EXECUTE format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS 0', c.relation, c.attnum);
    ELSE
      EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', c.relation, c.attname);
    END IF;
  END LOOP;
END
$$;

CREATE FUNCTION public.tenant_table(t regclass) RETURNS void
    LANGUAGE plpgsql
    AS $_$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t);
  EXECUTE format($p$CREATE POLICY org ON %s
    USING      (org_id = nullif(current_setting('app.org', true), '')::uuid)
    WITH CHECK (org_id = nullif(current_setting('app.org', true), '')::uuid)$p$, t);
  PERFORM take_no_samples(t);
END
$_$;

CREATE TABLE public.accounts (
    org_id uuid NOT NULL,
    user_id uuid NOT NULL,
    password text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.accounts ALTER COLUMN password SET STATISTICS 0;

ALTER TABLE ONLY public.accounts FORCE ROW LEVEL SECURITY;

CREATE TABLE public.adjudication_contents (
    org_id uuid NOT NULL,
    item_id bigint NOT NULL,
    content json NOT NULL
);
ALTER TABLE ONLY public.adjudication_contents ALTER COLUMN content SET COMPRESSION lz4;

ALTER TABLE ONLY public.adjudication_contents FORCE ROW LEVEL SECURITY;

CREATE TABLE public.adjudication_decisions (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    item_id bigint NOT NULL,
    decision text NOT NULL,
    rationale text NOT NULL,
    label text,
    score double precision,
    expected_output json,
    failure_mode text,
    confidence double precision,
    decided_by text NOT NULL,
    decider_id uuid NOT NULL,
    independent boolean NOT NULL,
    override boolean NOT NULL,
    separation text NOT NULL,
    overturned boolean,
    created_at timestamp with time zone NOT NULL,
    superseded_at timestamp with time zone,
    superseded_by text,
    superseded_reason text,
    CONSTRAINT adjudication_decisions_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT adjudication_decisions_decision_check CHECK ((decision = ANY (ARRAY['pass'::text, 'fail'::text, 'needs_revision'::text, 'not_applicable'::text, 'inconclusive'::text]))),
    CONSTRAINT adjudication_decisions_rationale_check CHECK ((length(rationale) >= 10)),
    CONSTRAINT adjudication_decisions_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision))),
    CONSTRAINT adjudication_decisions_separation_check CHECK ((separation = ANY (ARRAY['requester'::text, 'key_owner'::text, 'off'::text])))
);
ALTER TABLE ONLY public.adjudication_decisions ALTER COLUMN rationale SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_decisions ALTER COLUMN label SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_decisions ALTER COLUMN failure_mode SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_decisions ALTER COLUMN decided_by SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_decisions ALTER COLUMN superseded_by SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_decisions ALTER COLUMN superseded_reason SET STATISTICS 0;

ALTER TABLE ONLY public.adjudication_decisions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.adjudication_decisions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.adjudication_decisions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.adjudication_items (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    source text NOT NULL,
    status text NOT NULL,
    priority text NOT NULL,
    disagreement double precision NOT NULL,
    rank_at timestamp with time zone NOT NULL,
    subject json NOT NULL,
    subject_key text NOT NULL,
    evaluation_run_id bigint,
    trace_id text,
    title text NOT NULL,
    question text NOT NULL,
    context json NOT NULL,
    candidates json NOT NULL,
    content_digest bytea NOT NULL,
    failure_mode text,
    assignee_id uuid,
    assigned_by text,
    assigned_at timestamp with time zone,
    due_at timestamp with time zone,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    notes text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT adjudication_items_check CHECK (((status <> 'assigned'::text) OR (assignee_id IS NOT NULL))),
    CONSTRAINT adjudication_items_check1 CHECK (((status <> 'open'::text) OR (assignee_id IS NULL))),
    CONSTRAINT adjudication_items_content_digest_check CHECK ((length(content_digest) = 32)),
    CONSTRAINT adjudication_items_disagreement_check CHECK (((disagreement >= (0)::double precision) AND (disagreement <= (1)::double precision))),
    CONSTRAINT adjudication_items_priority_check CHECK ((priority = ANY (ARRAY['low'::text, 'normal'::text, 'high'::text, 'critical'::text]))),
    CONSTRAINT adjudication_items_source_check CHECK ((source = ANY (ARRAY['manual'::text, 'judge_disagreement'::text, 'annotator_disagreement'::text, 'low_confidence'::text, 'policy_denial'::text, 'user_report'::text, 'replay_divergence'::text, 'audit'::text]))),
    CONSTRAINT adjudication_items_status_check CHECK ((status = ANY (ARRAY['open'::text, 'assigned'::text, 'decided'::text, 'closed'::text, 'dismissed'::text])))
);
ALTER TABLE ONLY public.adjudication_items ALTER COLUMN subject_key SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_items ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_items ALTER COLUMN title SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_items ALTER COLUMN question SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_items ALTER COLUMN content_digest SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_items ALTER COLUMN failure_mode SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_items ALTER COLUMN assigned_by SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_items ALTER COLUMN tags SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_items ALTER COLUMN notes SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_items ALTER COLUMN reason SET STATISTICS 0;
ALTER TABLE ONLY public.adjudication_items ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.adjudication_items FORCE ROW LEVEL SECURITY;

ALTER TABLE public.adjudication_items ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.adjudication_items_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.adjudication_sets (
    org_id uuid NOT NULL,
    purpose text NOT NULL,
    dataset_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT adjudication_sets_purpose_check CHECK ((purpose = ANY (ARRAY['calibration'::text, 'golden'::text])))
);

ALTER TABLE ONLY public.adjudication_sets FORCE ROW LEVEL SECURITY;

CREATE TABLE public.annotation_imports (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    item_id bigint NOT NULL,
    answer json NOT NULL,
    imported_by text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.annotation_imports ALTER COLUMN imported_by SET STATISTICS 0;

ALTER TABLE ONLY public.annotation_imports FORCE ROW LEVEL SECURITY;

ALTER TABLE public.annotation_imports ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.annotation_imports_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE public.annotation_queue
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.annotation_items (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    task_id bigint NOT NULL,
    status text NOT NULL,
    content json NOT NULL,
    suggestion json,
    bytes integer NOT NULL,
    evaluation_run_id bigint,
    test_case_id bigint,
    trace_id bytea,
    span_id text,
    required integer NOT NULL,
    submitted integer DEFAULT 0 NOT NULL,
    held integer DEFAULT 0 NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    agreement double precision,
    adjudication_id bigint,
    queue bigint DEFAULT nextval('public.annotation_queue'::regclass) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    inclusion_probability double precision,
    CONSTRAINT annotation_items_held_check CHECK ((held >= 0)),
    CONSTRAINT annotation_items_inclusion_probability_check CHECK (((inclusion_probability > (0)::double precision) AND (inclusion_probability <= (1)::double precision))),
    CONSTRAINT annotation_items_required_check CHECK (((required >= 1) AND (required <= 10))),
    CONSTRAINT annotation_items_skipped_check CHECK ((skipped >= 0)),
    CONSTRAINT annotation_items_slots CHECK (((submitted + held) <= required)),
    CONSTRAINT annotation_items_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'in_progress'::text, 'annotated'::text, 'skipped'::text, 'conflicted'::text, 'adjudicated'::text]))),
    CONSTRAINT annotation_items_submitted_check CHECK ((submitted >= 0)),
    CONSTRAINT annotation_items_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.annotation_items ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.annotation_items ALTER COLUMN span_id SET STATISTICS 0;

ALTER TABLE ONLY public.annotation_items FORCE ROW LEVEL SECURITY;

ALTER TABLE public.annotation_items ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.annotation_items_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.annotation_leases (
    org_id uuid NOT NULL,
    task_id bigint NOT NULL,
    person uuid NOT NULL,
    item_id bigint NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.annotation_leases FORCE ROW LEVEL SECURITY;

CREATE TABLE public.annotation_places (
    org_id uuid NOT NULL,
    task_id bigint NOT NULL,
    person uuid NOT NULL,
    queue bigint NOT NULL
);

ALTER TABLE ONLY public.annotation_places FORCE ROW LEVEL SECURITY;

CREATE TABLE public.annotation_revisions (
    org_id uuid NOT NULL,
    annotation_id bigint NOT NULL,
    version bigint NOT NULL,
    status text NOT NULL,
    answer json NOT NULL,
    duration_ms bigint,
    replaced_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.annotation_revisions ALTER COLUMN status SET STATISTICS 0;

ALTER TABLE ONLY public.annotation_revisions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.annotation_skips (
    org_id uuid NOT NULL,
    item_id bigint NOT NULL,
    person uuid NOT NULL,
    reason text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.annotation_skips ALTER COLUMN reason SET STATISTICS 0;

ALTER TABLE ONLY public.annotation_skips FORCE ROW LEVEL SECURITY;

CREATE TABLE public.annotation_tasks (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    status text NOT NULL,
    label_schema json NOT NULL,
    guidelines text NOT NULL,
    description text NOT NULL,
    due_at timestamp with time zone,
    tags text[] NOT NULL,
    annotators_per_item integer NOT NULL,
    agreement_threshold double precision NOT NULL,
    blind boolean NOT NULL,
    assignee_ids uuid[] NOT NULL,
    source json,
    total_items bigint DEFAULT 0 NOT NULL,
    completed_items bigint DEFAULT 0 NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT annotation_tasks_agreement_threshold_check CHECK (((agreement_threshold >= (0)::double precision) AND (agreement_threshold <= (1)::double precision))),
    CONSTRAINT annotation_tasks_annotators_per_item_check CHECK (((annotators_per_item >= 1) AND (annotators_per_item <= 10))),
    CONSTRAINT annotation_tasks_check CHECK (((completed_items >= 0) AND (completed_items <= total_items))),
    CONSTRAINT annotation_tasks_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'paused'::text, 'completed'::text, 'archived'::text]))),
    CONSTRAINT annotation_tasks_type_check CHECK ((type = ANY (ARRAY['rating'::text, 'classification'::text, 'multi_label'::text, 'pairwise'::text, 'ranking'::text, 'free_text'::text, 'correction'::text])))
);
ALTER TABLE ONLY public.annotation_tasks ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.annotation_tasks ALTER COLUMN guidelines SET STATISTICS 0;
ALTER TABLE ONLY public.annotation_tasks ALTER COLUMN description SET STATISTICS 0;
ALTER TABLE ONLY public.annotation_tasks ALTER COLUMN tags SET STATISTICS 0;
ALTER TABLE ONLY public.annotation_tasks ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.annotation_tasks FORCE ROW LEVEL SECURITY;

ALTER TABLE public.annotation_tasks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.annotation_tasks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.annotation_truths (
    org_id uuid NOT NULL,
    item_id bigint NOT NULL,
    task_id bigint NOT NULL,
    origin text NOT NULL,
    label text,
    confirmed boolean,
    CONSTRAINT annotation_truths_check CHECK (((origin = 'decision'::text) OR (label IS NOT NULL))),
    CONSTRAINT annotation_truths_origin_check CHECK ((origin = ANY (ARRAY['gold'::text, 'decision'::text])))
);
ALTER TABLE ONLY public.annotation_truths ALTER COLUMN label SET STATISTICS 0;

ALTER TABLE ONLY public.annotation_truths FORCE ROW LEVEL SECURITY;

CREATE TABLE public.annotations (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    task_id bigint,
    item_id bigint,
    evaluation_run_id bigint,
    test_case_id bigint,
    trace_id bytea,
    span_id text,
    person uuid NOT NULL,
    asserted boolean NOT NULL,
    status text NOT NULL,
    answer json NOT NULL,
    duration_ms bigint,
    open boolean NOT NULL,
    nonce uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT annotations_check CHECK (((task_id IS NULL) = (item_id IS NULL))),
    CONSTRAINT annotations_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'submitted'::text, 'discarded'::text]))),
    CONSTRAINT annotations_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.annotations ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.annotations ALTER COLUMN span_id SET STATISTICS 0;

ALTER TABLE ONLY public.annotations FORCE ROW LEVEL SECURITY;

ALTER TABLE public.annotations ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.annotations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.api_keys (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    key_id text NOT NULL,
    name text NOT NULL,
    environment text NOT NULL,
    scopes text[] NOT NULL,
    hash bytea NOT NULL,
    pepper_version integer NOT NULL,
    last4 text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    owner_id uuid,
    created_by uuid,
    last_used_at timestamp with time zone,
    superseded_at timestamp with time zone,
    over_owners boolean DEFAULT false NOT NULL,
    asserted boolean DEFAULT false NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    creator text DEFAULT 'system'::text NOT NULL,
    parent_id bigint,
    no_delete boolean DEFAULT false NOT NULL,
    made_with bigint,
    succeeds bigint,
    CONSTRAINT api_keys_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
    CONSTRAINT api_keys_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT api_keys_key_id_check CHECK ((key_id ~ '^[0-9A-Za-z]{12}$'::text)),
    CONSTRAINT api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);
ALTER TABLE ONLY public.api_keys ALTER COLUMN key_id SET STATISTICS 0;
ALTER TABLE ONLY public.api_keys ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.api_keys ALTER COLUMN scopes SET STATISTICS 0;
ALTER TABLE ONLY public.api_keys ALTER COLUMN hash SET STATISTICS 0;
ALTER TABLE ONLY public.api_keys ALTER COLUMN last4 SET STATISTICS 0;
ALTER TABLE ONLY public.api_keys ALTER COLUMN creator SET STATISTICS 0;

ALTER TABLE ONLY public.api_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE public.api_keys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.api_keys_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.approval_votes (
    org_id uuid NOT NULL,
    approval_id bigint NOT NULL,
    user_id uuid NOT NULL,
    decision text NOT NULL,
    people uuid[] NOT NULL,
    separation text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT approval_votes_decision_check CHECK ((decision = ANY (ARRAY['approved'::text, 'rejected'::text]))),
    CONSTRAINT approval_votes_separation_check CHECK ((separation = ANY (ARRAY['requester'::text, 'key_owner'::text, 'off'::text])))
);

ALTER TABLE ONLY public.approval_votes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.assessed_contents (
    org_id uuid NOT NULL,
    digest bytea NOT NULL,
    side text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT assessed_contents_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT assessed_contents_side_check CHECK ((side = ANY (ARRAY['golden'::text, 'tuning'::text])))
);
ALTER TABLE ONLY public.assessed_contents ALTER COLUMN digest SET STATISTICS 0;

ALTER TABLE ONLY public.assessed_contents FORCE ROW LEVEL SECURITY;

CREATE TABLE public.audit_logs (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_type text NOT NULL,
    user_id uuid,
    api_key_id bigint,
    asserted boolean DEFAULT false NOT NULL,
    action text NOT NULL,
    resource_type text NOT NULL,
    resource_id text NOT NULL,
    request_id text NOT NULL,
    ip text NOT NULL,
    before_digest bytea,
    after_digest bytea,
    digest_format smallint DEFAULT 1 NOT NULL,
    CONSTRAINT audit_logs_actor_type_check1 CHECK ((actor_type = ANY (ARRAY['user'::text, 'api_key'::text, 'system'::text])))
)
PARTITION BY RANGE (at);
ALTER TABLE ONLY public.audit_logs ALTER COLUMN action SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs ALTER COLUMN resource_type SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs ALTER COLUMN resource_id SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs ALTER COLUMN request_id SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs ALTER COLUMN ip SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs ALTER COLUMN before_digest SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs ALTER COLUMN after_digest SET STATISTICS 0;

ALTER TABLE ONLY public.audit_logs FORCE ROW LEVEL SECURITY;

CREATE SEQUENCE public.audit_log_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.audit_log_ids OWNED BY public.audit_logs.id;

CREATE TABLE public.audit_logs_default (
    org_id uuid NOT NULL,
    id bigint DEFAULT nextval('public.audit_log_ids'::regclass) NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_type text NOT NULL,
    user_id uuid,
    api_key_id bigint,
    asserted boolean DEFAULT false NOT NULL,
    action text NOT NULL,
    resource_type text NOT NULL,
    resource_id text NOT NULL,
    request_id text NOT NULL,
    ip text NOT NULL,
    before_digest bytea,
    after_digest bytea,
    digest_format smallint DEFAULT 1 NOT NULL,
    CONSTRAINT audit_logs_actor_type_check1 CHECK ((actor_type = ANY (ARRAY['user'::text, 'api_key'::text, 'system'::text])))
);
ALTER TABLE ONLY public.audit_logs_default ALTER COLUMN action SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs_default ALTER COLUMN resource_type SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs_default ALTER COLUMN resource_id SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs_default ALTER COLUMN request_id SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs_default ALTER COLUMN ip SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs_default ALTER COLUMN before_digest SET STATISTICS 0;
ALTER TABLE ONLY public.audit_logs_default ALTER COLUMN after_digest SET STATISTICS 0;

CREATE TABLE public.data_keys (
    org_id uuid NOT NULL,
    wrapped bytea NOT NULL,
    master_key_id text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.data_keys ALTER COLUMN wrapped SET STATISTICS 0;
ALTER TABLE ONLY public.data_keys ALTER COLUMN master_key_id SET STATISTICS 0;

ALTER TABLE ONLY public.data_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.dataset_holds (
    org_id uuid NOT NULL,
    dataset_id bigint NOT NULL,
    holder text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT dataset_holds_holder_check CHECK (((length(holder) >= 1) AND (length(holder) <= 200)))
);
ALTER TABLE ONLY public.dataset_holds ALTER COLUMN holder SET STATISTICS 0;

ALTER TABLE ONLY public.dataset_holds FORCE ROW LEVEL SECURITY;

CREATE TABLE public.dataset_items (
    org_id uuid NOT NULL,
    dataset_id bigint NOT NULL,
    id bigint NOT NULL,
    valid_from integer NOT NULL,
    valid_to integer,
    digest bytea NOT NULL,
    content json NOT NULL,
    split text,
    weight double precision DEFAULT 1 NOT NULL,
    source_type text,
    source_id text,
    created_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    updated_at timestamp with time zone,
    bytes integer,
    assessed bytea,
    asked bytea,
    CONSTRAINT dataset_items_asked_check CHECK ((length(asked) = 32)),
    CONSTRAINT dataset_items_assessed_check CHECK ((length(assessed) = 32)),
    CONSTRAINT dataset_items_check CHECK ((valid_to > valid_from)),
    CONSTRAINT dataset_items_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT dataset_items_split_check CHECK ((split = ANY (ARRAY['train'::text, 'dev'::text, 'test'::text]))),
    CONSTRAINT dataset_items_valid_from_check CHECK ((valid_from > 0)),
    CONSTRAINT dataset_items_weight_check CHECK ((weight >= (0)::double precision))
);
ALTER TABLE ONLY public.dataset_items ALTER COLUMN digest SET STATISTICS 0;
ALTER TABLE ONLY public.dataset_items ALTER COLUMN content SET COMPRESSION lz4;
ALTER TABLE ONLY public.dataset_items ALTER COLUMN source_type SET STATISTICS 0;
ALTER TABLE ONLY public.dataset_items ALTER COLUMN source_id SET STATISTICS 0;
ALTER TABLE ONLY public.dataset_items ALTER COLUMN assessed SET STATISTICS 0;
ALTER TABLE ONLY public.dataset_items ALTER COLUMN asked SET STATISTICS 0;

ALTER TABLE ONLY public.dataset_items FORCE ROW LEVEL SECURITY;

ALTER TABLE public.dataset_items ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.dataset_items_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.dataset_versions (
    org_id uuid NOT NULL,
    dataset_id bigint NOT NULL,
    number integer NOT NULL,
    item_count bigint NOT NULL,
    digest bytea NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    max_item bigint DEFAULT '9223372036854775807'::bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT dataset_versions_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT dataset_versions_number_check CHECK ((number > 0))
);
ALTER TABLE ONLY public.dataset_versions ALTER COLUMN digest SET STATISTICS 0;
ALTER TABLE ONLY public.dataset_versions ALTER COLUMN note SET STATISTICS 0;

ALTER TABLE ONLY public.dataset_versions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.datasets (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    purpose text NOT NULL,
    schema json,
    status text DEFAULT 'active'::text NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    metadata json DEFAULT '{}'::json NOT NULL,
    item_count bigint DEFAULT 0 NOT NULL,
    latest_version integer DEFAULT 0 NOT NULL,
    content_sum bytea NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    content_digest bytea GENERATED ALWAYS AS (sha256(content_sum)) STORED NOT NULL,
    CONSTRAINT datasets_item_count_check CHECK ((item_count >= 0)),
    CONSTRAINT datasets_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT datasets_purpose_check CHECK ((purpose = ANY (ARRAY['general'::text, 'golden'::text, 'calibration'::text, 'regression'::text]))),
    CONSTRAINT datasets_status_check CHECK ((status = ANY (ARRAY['active'::text, 'archived'::text])))
);
ALTER TABLE ONLY public.datasets ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.datasets ALTER COLUMN description SET STATISTICS 0;
ALTER TABLE ONLY public.datasets ALTER COLUMN tags SET STATISTICS 0;
ALTER TABLE ONLY public.datasets ALTER COLUMN content_sum SET STATISTICS 0;
ALTER TABLE ONLY public.datasets ALTER COLUMN content_sum SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.datasets ALTER COLUMN content_digest SET STATISTICS 0;

ALTER TABLE ONLY public.datasets FORCE ROW LEVEL SECURITY;

ALTER TABLE public.datasets ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.datasets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deletion_certificates (
    org_id uuid NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    requested_by text NOT NULL,
    completed_at timestamp with time zone,
    contents json DEFAULT '{}'::json NOT NULL,
    digest bytea
);
ALTER TABLE ONLY public.deletion_certificates ALTER COLUMN requested_by SET STATISTICS 0;
ALTER TABLE ONLY public.deletion_certificates ALTER COLUMN digest SET STATISTICS 0;

ALTER TABLE ONLY public.deletion_certificates FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evaluation_artifacts (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    evaluation_id bigint NOT NULL,
    run_id bigint NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    content_type text NOT NULL,
    size_bytes bigint NOT NULL,
    sha256 bytea NOT NULL,
    object text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT evaluation_artifacts_kind_check CHECK ((kind = ANY (ARRAY['report'::text, 'results'::text, 'comparison'::text, 'analysis'::text, 'labeled_dataset'::text, 'log'::text]))),
    CONSTRAINT evaluation_artifacts_sha256_check CHECK ((length(sha256) = 32))
);
ALTER TABLE ONLY public.evaluation_artifacts ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.evaluation_artifacts ALTER COLUMN content_type SET STATISTICS 0;
ALTER TABLE ONLY public.evaluation_artifacts ALTER COLUMN sha256 SET STATISTICS 0;
ALTER TABLE ONLY public.evaluation_artifacts ALTER COLUMN object SET STATISTICS 0;

ALTER TABLE ONLY public.evaluation_artifacts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.evaluation_artifacts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.evaluation_artifacts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.evaluation_run_chunks (
    org_id uuid NOT NULL,
    run_id bigint NOT NULL,
    chunk integer NOT NULL,
    size integer NOT NULL,
    done integer NOT NULL,
    passed integer NOT NULL,
    failed integer NOT NULL,
    errored integer NOT NULL,
    skipped integer NOT NULL,
    calls bigint DEFAULT 0 NOT NULL,
    input_tokens bigint DEFAULT 0 NOT NULL,
    output_tokens bigint DEFAULT 0 NOT NULL,
    cost_nano_usd bigint NOT NULL,
    overall_sum double precision DEFAULT 0 NOT NULL,
    overall_sum2 double precision DEFAULT 0 NOT NULL,
    scored integer DEFAULT 0 NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deaths jsonb DEFAULT '{}'::jsonb NOT NULL
);
ALTER TABLE ONLY public.evaluation_run_chunks ALTER COLUMN deaths SET STATISTICS 0;

ALTER TABLE ONLY public.evaluation_run_chunks FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evaluation_run_items (
    org_id uuid NOT NULL,
    run_id bigint NOT NULL,
    page integer NOT NULL,
    items bigint[] NOT NULL
);

ALTER TABLE ONLY public.evaluation_run_items FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evaluation_run_notes (
    org_id uuid NOT NULL,
    run_id bigint NOT NULL,
    subject text NOT NULL,
    at timestamp with time zone NOT NULL,
    level text NOT NULL,
    message text NOT NULL,
    CONSTRAINT evaluation_run_notes_level_check CHECK ((level = ANY (ARRAY['info'::text, 'warning'::text, 'error'::text])))
);
ALTER TABLE ONLY public.evaluation_run_notes ALTER COLUMN subject SET STATISTICS 0;
ALTER TABLE ONLY public.evaluation_run_notes ALTER COLUMN message SET STATISTICS 0;

ALTER TABLE ONLY public.evaluation_run_notes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evaluation_runs (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    evaluation_id bigint NOT NULL,
    status text NOT NULL,
    phase text NOT NULL,
    request json NOT NULL,
    resolved json,
    outcome json,
    error_code text,
    error_message text,
    created_by text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    heard_at timestamp with time zone,
    final boolean DEFAULT false NOT NULL,
    posting integer DEFAULT 0 NOT NULL,
    posting_until timestamp with time zone,
    verdict text,
    CONSTRAINT evaluation_runs_check CHECK (((status = 'running'::text) = (completed_at IS NULL))),
    CONSTRAINT evaluation_runs_phase_check CHECK ((phase = ANY (ARRAY['queued'::text, 'executing'::text, 'scoring'::text, 'aggregating'::text, 'done'::text]))),
    CONSTRAINT evaluation_runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT evaluation_runs_verdict_check CHECK ((verdict = ANY (ARRAY['PASS'::text, 'FAIL'::text, 'INCONCLUSIVE'::text])))
);
ALTER TABLE ONLY public.evaluation_runs ALTER COLUMN error_code SET STATISTICS 0;
ALTER TABLE ONLY public.evaluation_runs ALTER COLUMN error_message SET STATISTICS 0;
ALTER TABLE ONLY public.evaluation_runs ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.evaluation_runs FORCE ROW LEVEL SECURITY;

ALTER TABLE public.evaluation_runs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.evaluation_runs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.evaluations (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    dataset_id text NOT NULL,
    dataset_version integer,
    plan json NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    metadata json DEFAULT '{}'::json NOT NULL,
    archived_at timestamp with time zone,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    deleted_at timestamp with time zone,
    baseline_run bigint,
    CONSTRAINT evaluations_dataset_version_check CHECK ((dataset_version > 0)),
    CONSTRAINT evaluations_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);
ALTER TABLE ONLY public.evaluations ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.evaluations ALTER COLUMN description SET STATISTICS 0;
ALTER TABLE ONLY public.evaluations ALTER COLUMN dataset_id SET STATISTICS 0;
ALTER TABLE ONLY public.evaluations ALTER COLUMN tags SET STATISTICS 0;
ALTER TABLE ONLY public.evaluations ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.evaluations FORCE ROW LEVEL SECURITY;

ALTER TABLE public.evaluations ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.evaluations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.events (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    at timestamp with time zone NOT NULL,
    type text NOT NULL,
    resource text NOT NULL,
    resource_id text NOT NULL,
    payload json NOT NULL
)
PARTITION BY RANGE (at);
ALTER TABLE ONLY public.events ALTER COLUMN type SET STATISTICS 0;
ALTER TABLE ONLY public.events ALTER COLUMN resource SET STATISTICS 0;
ALTER TABLE ONLY public.events ALTER COLUMN resource_id SET STATISTICS 0;

ALTER TABLE ONLY public.events FORCE ROW LEVEL SECURITY;

CREATE SEQUENCE public.event_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.event_ids OWNED BY public.events.id;

CREATE TABLE public.events_default (
    org_id uuid NOT NULL,
    id bigint DEFAULT nextval('public.event_ids'::regclass) NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    at timestamp with time zone NOT NULL,
    type text NOT NULL,
    resource text NOT NULL,
    resource_id text NOT NULL,
    payload json NOT NULL
);
ALTER TABLE ONLY public.events_default ALTER COLUMN type SET STATISTICS 0;
ALTER TABLE ONLY public.events_default ALTER COLUMN resource SET STATISTICS 0;
ALTER TABLE ONLY public.events_default ALTER COLUMN resource_id SET STATISTICS 0;

CREATE TABLE public.evidence_cursors (
    org_id uuid NOT NULL,
    at_ms bigint NOT NULL,
    trace_id bytea NOT NULL,
    holder bigint NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT evidence_cursors_trace_id_check CHECK ((octet_length(trace_id) = 16))
);

ALTER TABLE ONLY public.evidence_cursors FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_history (
    org_id uuid NOT NULL,
    record_id bigint NOT NULL,
    version bigint NOT NULL,
    state text,
    decision text,
    body json NOT NULL,
    actor text NOT NULL,
    replaced_at timestamp with time zone NOT NULL
)
PARTITION BY HASH (org_id);
ALTER TABLE ONLY public.evidence_history ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history ALTER COLUMN actor SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_history FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_history_0 (
    org_id uuid NOT NULL,
    record_id bigint NOT NULL,
    version bigint NOT NULL,
    state text,
    decision text,
    body json NOT NULL,
    actor text NOT NULL,
    replaced_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.evidence_history_0 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_0 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_0 ALTER COLUMN actor SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_history_0 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_history_1 (
    org_id uuid NOT NULL,
    record_id bigint NOT NULL,
    version bigint NOT NULL,
    state text,
    decision text,
    body json NOT NULL,
    actor text NOT NULL,
    replaced_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.evidence_history_1 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_1 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_1 ALTER COLUMN actor SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_history_1 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_history_2 (
    org_id uuid NOT NULL,
    record_id bigint NOT NULL,
    version bigint NOT NULL,
    state text,
    decision text,
    body json NOT NULL,
    actor text NOT NULL,
    replaced_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.evidence_history_2 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_2 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_2 ALTER COLUMN actor SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_history_2 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_history_3 (
    org_id uuid NOT NULL,
    record_id bigint NOT NULL,
    version bigint NOT NULL,
    state text,
    decision text,
    body json NOT NULL,
    actor text NOT NULL,
    replaced_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.evidence_history_3 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_3 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_3 ALTER COLUMN actor SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_history_3 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_history_4 (
    org_id uuid NOT NULL,
    record_id bigint NOT NULL,
    version bigint NOT NULL,
    state text,
    decision text,
    body json NOT NULL,
    actor text NOT NULL,
    replaced_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.evidence_history_4 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_4 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_4 ALTER COLUMN actor SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_history_4 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_history_5 (
    org_id uuid NOT NULL,
    record_id bigint NOT NULL,
    version bigint NOT NULL,
    state text,
    decision text,
    body json NOT NULL,
    actor text NOT NULL,
    replaced_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.evidence_history_5 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_5 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_5 ALTER COLUMN actor SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_history_5 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_history_6 (
    org_id uuid NOT NULL,
    record_id bigint NOT NULL,
    version bigint NOT NULL,
    state text,
    decision text,
    body json NOT NULL,
    actor text NOT NULL,
    replaced_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.evidence_history_6 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_6 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_6 ALTER COLUMN actor SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_history_6 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_history_7 (
    org_id uuid NOT NULL,
    record_id bigint NOT NULL,
    version bigint NOT NULL,
    state text,
    decision text,
    body json NOT NULL,
    actor text NOT NULL,
    replaced_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.evidence_history_7 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_7 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_history_7 ALTER COLUMN actor SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_history_7 FORCE ROW LEVEL SECURITY;

CREATE SEQUENCE public.evidence_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.evidence_keys (
    org_id uuid NOT NULL,
    key bytea NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    content bytea,
    holder bigint,
    expires date,
    CONSTRAINT evidence_keys_content_check CHECK ((length(content) = 32)),
    CONSTRAINT evidence_keys_key_check CHECK ((length(key) = 16))
)
PARTITION BY HASH (org_id);
ALTER TABLE ONLY public.evidence_keys ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_keys ALTER COLUMN content SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_keys_0 (
    org_id uuid NOT NULL,
    key bytea NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    content bytea,
    holder bigint,
    expires date,
    CONSTRAINT evidence_keys_content_check CHECK ((length(content) = 32)),
    CONSTRAINT evidence_keys_key_check CHECK ((length(key) = 16))
);
ALTER TABLE ONLY public.evidence_keys_0 ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_keys_0 ALTER COLUMN content SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_keys_0 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_keys_1 (
    org_id uuid NOT NULL,
    key bytea NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    content bytea,
    holder bigint,
    expires date,
    CONSTRAINT evidence_keys_content_check CHECK ((length(content) = 32)),
    CONSTRAINT evidence_keys_key_check CHECK ((length(key) = 16))
);
ALTER TABLE ONLY public.evidence_keys_1 ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_keys_1 ALTER COLUMN content SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_keys_1 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_keys_2 (
    org_id uuid NOT NULL,
    key bytea NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    content bytea,
    holder bigint,
    expires date,
    CONSTRAINT evidence_keys_content_check CHECK ((length(content) = 32)),
    CONSTRAINT evidence_keys_key_check CHECK ((length(key) = 16))
);
ALTER TABLE ONLY public.evidence_keys_2 ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_keys_2 ALTER COLUMN content SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_keys_2 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_keys_3 (
    org_id uuid NOT NULL,
    key bytea NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    content bytea,
    holder bigint,
    expires date,
    CONSTRAINT evidence_keys_content_check CHECK ((length(content) = 32)),
    CONSTRAINT evidence_keys_key_check CHECK ((length(key) = 16))
);
ALTER TABLE ONLY public.evidence_keys_3 ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_keys_3 ALTER COLUMN content SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_keys_3 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_keys_4 (
    org_id uuid NOT NULL,
    key bytea NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    content bytea,
    holder bigint,
    expires date,
    CONSTRAINT evidence_keys_content_check CHECK ((length(content) = 32)),
    CONSTRAINT evidence_keys_key_check CHECK ((length(key) = 16))
);
ALTER TABLE ONLY public.evidence_keys_4 ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_keys_4 ALTER COLUMN content SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_keys_4 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_keys_5 (
    org_id uuid NOT NULL,
    key bytea NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    content bytea,
    holder bigint,
    expires date,
    CONSTRAINT evidence_keys_content_check CHECK ((length(content) = 32)),
    CONSTRAINT evidence_keys_key_check CHECK ((length(key) = 16))
);
ALTER TABLE ONLY public.evidence_keys_5 ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_keys_5 ALTER COLUMN content SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_keys_5 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_keys_6 (
    org_id uuid NOT NULL,
    key bytea NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    content bytea,
    holder bigint,
    expires date,
    CONSTRAINT evidence_keys_content_check CHECK ((length(content) = 32)),
    CONSTRAINT evidence_keys_key_check CHECK ((length(key) = 16))
);
ALTER TABLE ONLY public.evidence_keys_6 ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_keys_6 ALTER COLUMN content SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_keys_6 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_keys_7 (
    org_id uuid NOT NULL,
    key bytea NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    content bytea,
    holder bigint,
    expires date,
    CONSTRAINT evidence_keys_content_check CHECK ((length(content) = 32)),
    CONSTRAINT evidence_keys_key_check CHECK ((length(key) = 16))
);
ALTER TABLE ONLY public.evidence_keys_7 ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_keys_7 ALTER COLUMN content SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_keys_7 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_leases (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    until timestamp with time zone NOT NULL,
    digest bytea,
    CONSTRAINT evidence_leases_digest_check CHECK ((length(digest) = 16))
);
ALTER TABLE ONLY public.evidence_leases ALTER COLUMN digest SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_leases FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_normalizations (
    org_id uuid NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    events text NOT NULL,
    state text NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    read bigint DEFAULT 0 NOT NULL,
    changed bigint DEFAULT 0 NOT NULL,
    refused bigint DEFAULT 0 NOT NULL,
    actor text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    CONSTRAINT evidence_normalizations_events_check CHECK ((events = ANY (ARRAY['outdated'::text, 'all'::text]))),
    CONSTRAINT evidence_normalizations_state_check CHECK ((state = ANY (ARRAY['running'::text, 'completed'::text])))
);
ALTER TABLE ONLY public.evidence_normalizations ALTER COLUMN actor SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_normalizations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_records (
    org_id uuid NOT NULL,
    kind text NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    name text,
    idempotency_key text,
    origin text NOT NULL,
    actor text NOT NULL,
    state text,
    decision text,
    runtime_id bigint,
    runtime_key text,
    connector_id bigint,
    connector_key text,
    trace_id bytea,
    evaluation_run_id bigint,
    raw_event_id bigint,
    step_id bigint,
    tool_id bigint,
    invocation_id text,
    decision_id bigint,
    effect_id bigint,
    explanation_id bigint,
    report_id bigint,
    failure_key text,
    failure_mode text,
    side_effect_class text,
    body json NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT evidence_records_origin_check CHECK ((origin = ANY (ARRAY['platform'::text, 'ingested'::text, 'reported'::text]))),
    CONSTRAINT evidence_records_trace_id_check CHECK ((length(trace_id) = 16))
)
PARTITION BY HASH (org_id);
ALTER TABLE ONLY public.evidence_records ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN idempotency_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN actor SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN runtime_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN connector_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN invocation_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN failure_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN failure_mode SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records ALTER COLUMN side_effect_class SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_records FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_records_0 (
    org_id uuid NOT NULL,
    kind text NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    name text,
    idempotency_key text,
    origin text NOT NULL,
    actor text NOT NULL,
    state text,
    decision text,
    runtime_id bigint,
    runtime_key text,
    connector_id bigint,
    connector_key text,
    trace_id bytea,
    evaluation_run_id bigint,
    raw_event_id bigint,
    step_id bigint,
    tool_id bigint,
    invocation_id text,
    decision_id bigint,
    effect_id bigint,
    explanation_id bigint,
    report_id bigint,
    failure_key text,
    failure_mode text,
    side_effect_class text,
    body json NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT evidence_records_origin_check CHECK ((origin = ANY (ARRAY['platform'::text, 'ingested'::text, 'reported'::text]))),
    CONSTRAINT evidence_records_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN idempotency_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN actor SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN runtime_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN connector_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN invocation_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN failure_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN failure_mode SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_0 ALTER COLUMN side_effect_class SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_records_0 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_records_1 (
    org_id uuid NOT NULL,
    kind text NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    name text,
    idempotency_key text,
    origin text NOT NULL,
    actor text NOT NULL,
    state text,
    decision text,
    runtime_id bigint,
    runtime_key text,
    connector_id bigint,
    connector_key text,
    trace_id bytea,
    evaluation_run_id bigint,
    raw_event_id bigint,
    step_id bigint,
    tool_id bigint,
    invocation_id text,
    decision_id bigint,
    effect_id bigint,
    explanation_id bigint,
    report_id bigint,
    failure_key text,
    failure_mode text,
    side_effect_class text,
    body json NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT evidence_records_origin_check CHECK ((origin = ANY (ARRAY['platform'::text, 'ingested'::text, 'reported'::text]))),
    CONSTRAINT evidence_records_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN idempotency_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN actor SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN runtime_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN connector_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN invocation_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN failure_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN failure_mode SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_1 ALTER COLUMN side_effect_class SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_records_1 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_records_2 (
    org_id uuid NOT NULL,
    kind text NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    name text,
    idempotency_key text,
    origin text NOT NULL,
    actor text NOT NULL,
    state text,
    decision text,
    runtime_id bigint,
    runtime_key text,
    connector_id bigint,
    connector_key text,
    trace_id bytea,
    evaluation_run_id bigint,
    raw_event_id bigint,
    step_id bigint,
    tool_id bigint,
    invocation_id text,
    decision_id bigint,
    effect_id bigint,
    explanation_id bigint,
    report_id bigint,
    failure_key text,
    failure_mode text,
    side_effect_class text,
    body json NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT evidence_records_origin_check CHECK ((origin = ANY (ARRAY['platform'::text, 'ingested'::text, 'reported'::text]))),
    CONSTRAINT evidence_records_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN idempotency_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN actor SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN runtime_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN connector_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN invocation_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN failure_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN failure_mode SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_2 ALTER COLUMN side_effect_class SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_records_2 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_records_3 (
    org_id uuid NOT NULL,
    kind text NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    name text,
    idempotency_key text,
    origin text NOT NULL,
    actor text NOT NULL,
    state text,
    decision text,
    runtime_id bigint,
    runtime_key text,
    connector_id bigint,
    connector_key text,
    trace_id bytea,
    evaluation_run_id bigint,
    raw_event_id bigint,
    step_id bigint,
    tool_id bigint,
    invocation_id text,
    decision_id bigint,
    effect_id bigint,
    explanation_id bigint,
    report_id bigint,
    failure_key text,
    failure_mode text,
    side_effect_class text,
    body json NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT evidence_records_origin_check CHECK ((origin = ANY (ARRAY['platform'::text, 'ingested'::text, 'reported'::text]))),
    CONSTRAINT evidence_records_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN idempotency_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN actor SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN runtime_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN connector_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN invocation_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN failure_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN failure_mode SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_3 ALTER COLUMN side_effect_class SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_records_3 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_records_4 (
    org_id uuid NOT NULL,
    kind text NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    name text,
    idempotency_key text,
    origin text NOT NULL,
    actor text NOT NULL,
    state text,
    decision text,
    runtime_id bigint,
    runtime_key text,
    connector_id bigint,
    connector_key text,
    trace_id bytea,
    evaluation_run_id bigint,
    raw_event_id bigint,
    step_id bigint,
    tool_id bigint,
    invocation_id text,
    decision_id bigint,
    effect_id bigint,
    explanation_id bigint,
    report_id bigint,
    failure_key text,
    failure_mode text,
    side_effect_class text,
    body json NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT evidence_records_origin_check CHECK ((origin = ANY (ARRAY['platform'::text, 'ingested'::text, 'reported'::text]))),
    CONSTRAINT evidence_records_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN idempotency_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN actor SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN runtime_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN connector_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN invocation_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN failure_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN failure_mode SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_4 ALTER COLUMN side_effect_class SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_records_4 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_records_5 (
    org_id uuid NOT NULL,
    kind text NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    name text,
    idempotency_key text,
    origin text NOT NULL,
    actor text NOT NULL,
    state text,
    decision text,
    runtime_id bigint,
    runtime_key text,
    connector_id bigint,
    connector_key text,
    trace_id bytea,
    evaluation_run_id bigint,
    raw_event_id bigint,
    step_id bigint,
    tool_id bigint,
    invocation_id text,
    decision_id bigint,
    effect_id bigint,
    explanation_id bigint,
    report_id bigint,
    failure_key text,
    failure_mode text,
    side_effect_class text,
    body json NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT evidence_records_origin_check CHECK ((origin = ANY (ARRAY['platform'::text, 'ingested'::text, 'reported'::text]))),
    CONSTRAINT evidence_records_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN idempotency_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN actor SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN runtime_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN connector_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN invocation_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN failure_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN failure_mode SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_5 ALTER COLUMN side_effect_class SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_records_5 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_records_6 (
    org_id uuid NOT NULL,
    kind text NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    name text,
    idempotency_key text,
    origin text NOT NULL,
    actor text NOT NULL,
    state text,
    decision text,
    runtime_id bigint,
    runtime_key text,
    connector_id bigint,
    connector_key text,
    trace_id bytea,
    evaluation_run_id bigint,
    raw_event_id bigint,
    step_id bigint,
    tool_id bigint,
    invocation_id text,
    decision_id bigint,
    effect_id bigint,
    explanation_id bigint,
    report_id bigint,
    failure_key text,
    failure_mode text,
    side_effect_class text,
    body json NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT evidence_records_origin_check CHECK ((origin = ANY (ARRAY['platform'::text, 'ingested'::text, 'reported'::text]))),
    CONSTRAINT evidence_records_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN idempotency_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN actor SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN runtime_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN connector_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN invocation_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN failure_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN failure_mode SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_6 ALTER COLUMN side_effect_class SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_records_6 FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_records_7 (
    org_id uuid NOT NULL,
    kind text NOT NULL,
    id bigint DEFAULT nextval('public.evidence_ids'::regclass) NOT NULL,
    name text,
    idempotency_key text,
    origin text NOT NULL,
    actor text NOT NULL,
    state text,
    decision text,
    runtime_id bigint,
    runtime_key text,
    connector_id bigint,
    connector_key text,
    trace_id bytea,
    evaluation_run_id bigint,
    raw_event_id bigint,
    step_id bigint,
    tool_id bigint,
    invocation_id text,
    decision_id bigint,
    effect_id bigint,
    explanation_id bigint,
    report_id bigint,
    failure_key text,
    failure_mode text,
    side_effect_class text,
    body json NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT evidence_records_origin_check CHECK ((origin = ANY (ARRAY['platform'::text, 'ingested'::text, 'reported'::text]))),
    CONSTRAINT evidence_records_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN idempotency_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN actor SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN state SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN decision SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN runtime_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN connector_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN invocation_id SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN failure_key SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN failure_mode SET STATISTICS 0;
ALTER TABLE ONLY public.evidence_records_7 ALTER COLUMN side_effect_class SET STATISTICS 0;

ALTER TABLE ONLY public.evidence_records_7 FORCE ROW LEVEL SECURITY;

CREATE SEQUENCE public.feedback_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.followers (
    name text NOT NULL,
    xid xid8 NOT NULL,
    id bigint NOT NULL,
    holder uuid,
    leased_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    moved_at timestamp with time zone NOT NULL,
    CONSTRAINT followers_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64)))
);
ALTER TABLE ONLY public.followers ALTER COLUMN name SET STATISTICS 0;

ALTER TABLE ONLY public.followers FORCE ROW LEVEL SECURITY;

CREATE TABLE public.gate_decisions (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    evaluation_id bigint NOT NULL,
    run_id bigint NOT NULL,
    baseline_run bigint,
    verdict text NOT NULL,
    asked json NOT NULL,
    decided json NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT gate_decisions_verdict_check CHECK ((verdict = ANY (ARRAY['PASS'::text, 'FAIL'::text, 'INCONCLUSIVE'::text])))
);
ALTER TABLE ONLY public.gate_decisions ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.gate_decisions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.gate_decisions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.gate_decisions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.ground_truth_entries (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    item_id bigint NOT NULL,
    ground_truth_id bigint NOT NULL,
    purpose text NOT NULL,
    dataset_id bigint NOT NULL,
    dataset_item_id bigint NOT NULL,
    split text,
    judge_config_id bigint,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    justification text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ground_truth_entries_check CHECK (((purpose = 'calibration'::text) = (split IS NOT NULL))),
    CONSTRAINT ground_truth_entries_purpose_check CHECK ((purpose = ANY (ARRAY['calibration'::text, 'golden'::text]))),
    CONSTRAINT ground_truth_entries_split_check CHECK ((split = ANY (ARRAY['train'::text, 'dev'::text, 'test'::text])))
);
ALTER TABLE ONLY public.ground_truth_entries ALTER COLUMN tags SET STATISTICS 0;
ALTER TABLE ONLY public.ground_truth_entries ALTER COLUMN justification SET STATISTICS 0;
ALTER TABLE ONLY public.ground_truth_entries ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.ground_truth_entries FORCE ROW LEVEL SECURITY;

ALTER TABLE public.ground_truth_entries ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ground_truth_entries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.ground_truths (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    item_id bigint NOT NULL,
    decision_id bigint NOT NULL,
    decision text NOT NULL,
    label text,
    score double precision,
    expected_output json,
    rationale text NOT NULL,
    decided_by text NOT NULL,
    created_by text NOT NULL,
    number integer NOT NULL,
    supersedes_id bigint,
    status text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    content_digest bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT ground_truths_check CHECK (((status = 'active'::text) = (ended_at IS NULL))),
    CONSTRAINT ground_truths_content_digest_check CHECK ((length(content_digest) = 32)),
    CONSTRAINT ground_truths_decision_check CHECK ((decision = ANY (ARRAY['pass'::text, 'fail'::text, 'needs_revision'::text]))),
    CONSTRAINT ground_truths_number_check CHECK ((number > 0)),
    CONSTRAINT ground_truths_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision))),
    CONSTRAINT ground_truths_status_check CHECK ((status = ANY (ARRAY['active'::text, 'superseded'::text, 'revoked'::text])))
);
ALTER TABLE ONLY public.ground_truths ALTER COLUMN label SET STATISTICS 0;
ALTER TABLE ONLY public.ground_truths ALTER COLUMN rationale SET STATISTICS 0;
ALTER TABLE ONLY public.ground_truths ALTER COLUMN decided_by SET STATISTICS 0;
ALTER TABLE ONLY public.ground_truths ALTER COLUMN created_by SET STATISTICS 0;
ALTER TABLE ONLY public.ground_truths ALTER COLUMN reason SET STATISTICS 0;
ALTER TABLE ONLY public.ground_truths ALTER COLUMN content_digest SET STATISTICS 0;

ALTER TABLE ONLY public.ground_truths FORCE ROW LEVEL SECURITY;

ALTER TABLE public.ground_truths ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ground_truths_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.idempotency_keys (
    org_id uuid NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    output bytea,
    fault bytea,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT idempotency_keys_check CHECK (((output IS NULL) <> (fault IS NULL))),
    CONSTRAINT idempotency_keys_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
);
ALTER TABLE ONLY public.idempotency_keys ALTER COLUMN method SET STATISTICS 0;
ALTER TABLE ONLY public.idempotency_keys ALTER COLUMN path SET STATISTICS 0;
ALTER TABLE ONLY public.idempotency_keys ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.idempotency_keys ALTER COLUMN fingerprint SET STATISTICS 0;
ALTER TABLE ONLY public.idempotency_keys ALTER COLUMN output SET STATISTICS 0;
ALTER TABLE ONLY public.idempotency_keys ALTER COLUMN fault SET STATISTICS 0;

ALTER TABLE ONLY public.idempotency_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.invitations (
    org_id uuid NOT NULL,
    user_id uuid NOT NULL,
    hash bytea NOT NULL,
    invited_by uuid,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT invitations_hash_check CHECK ((length(hash) = 32))
);
ALTER TABLE ONLY public.invitations ALTER COLUMN hash SET STATISTICS 0;

ALTER TABLE ONLY public.invitations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.judge_conditions (
    org_id uuid NOT NULL,
    config_id bigint NOT NULL,
    number integer NOT NULL,
    settled_at timestamp with time zone,
    quiet_at timestamp with time zone,
    drifted_at timestamp with time zone,
    message text NOT NULL
);
ALTER TABLE ONLY public.judge_conditions ALTER COLUMN message SET STATISTICS 0;

ALTER TABLE ONLY public.judge_conditions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.judge_configs (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    label_key text NOT NULL,
    label_sampling text NOT NULL,
    status text NOT NULL,
    config_version integer NOT NULL,
    spend_cap_nano bigint,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT judge_configs_label_sampling_check CHECK ((label_sampling = ANY (ARRAY['unknown'::text, 'random'::text]))),
    CONSTRAINT judge_configs_spend_cap_nano_check CHECK ((spend_cap_nano >= 0)),
    CONSTRAINT judge_configs_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'retired'::text])))
);
ALTER TABLE ONLY public.judge_configs ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.judge_configs ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.judge_configs ALTER COLUMN description SET STATISTICS 0;
ALTER TABLE ONLY public.judge_configs ALTER COLUMN label_key SET STATISTICS 0;
ALTER TABLE ONLY public.judge_configs ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.judge_configs FORCE ROW LEVEL SECURITY;

ALTER TABLE public.judge_configs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.judge_configs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.judge_probe_verdicts (
    org_id uuid NOT NULL,
    probe_id bigint NOT NULL,
    unit integer NOT NULL,
    verdict json NOT NULL,
    created_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.judge_probe_verdicts FORCE ROW LEVEL SECURITY;

CREATE TABLE public.judge_probes (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    config_id bigint NOT NULL,
    config_version integer NOT NULL,
    status text NOT NULL,
    request json NOT NULL,
    subjects json,
    units integer DEFAULT 0 NOT NULL,
    error_code text,
    error_message text,
    report json,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT judge_probes_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);
ALTER TABLE ONLY public.judge_probes ALTER COLUMN error_code SET STATISTICS 0;
ALTER TABLE ONLY public.judge_probes ALTER COLUMN error_message SET STATISTICS 0;
ALTER TABLE ONLY public.judge_probes ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.judge_probes FORCE ROW LEVEL SECURITY;

ALTER TABLE public.judge_probes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.judge_probes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE public.judge_result_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.judge_rule_backfills (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    rule_id bigint NOT NULL,
    config_id bigint NOT NULL,
    config_version integer NOT NULL,
    filter json NOT NULL,
    sampling_key text NOT NULL,
    sample_rate double precision NOT NULL,
    from_at timestamp with time zone NOT NULL,
    to_at timestamp with time zone NOT NULL,
    max_traces integer,
    spend_cap_nano bigint,
    status text NOT NULL,
    reason_code text,
    reason_message text,
    total bigint,
    matched bigint NOT NULL,
    sampled bigint NOT NULL,
    step bigint NOT NULL,
    below_start bigint NOT NULL,
    below_id bytea NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT judge_rule_backfills_max_traces_check CHECK ((max_traces > 0)),
    CONSTRAINT judge_rule_backfills_sample_rate_check CHECK (((sample_rate > (0)::double precision) AND (sample_rate <= (1)::double precision))),
    CONSTRAINT judge_rule_backfills_spend_cap_nano_check CHECK ((spend_cap_nano >= 0)),
    CONSTRAINT judge_rule_backfills_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'stopped'::text, 'cancelled'::text])))
);
ALTER TABLE ONLY public.judge_rule_backfills ALTER COLUMN sampling_key SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rule_backfills ALTER COLUMN reason_code SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rule_backfills ALTER COLUMN reason_message SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rule_backfills ALTER COLUMN below_id SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rule_backfills ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.judge_rule_backfills FORCE ROW LEVEL SECURITY;

ALTER TABLE public.judge_rule_backfills ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.judge_rule_backfills_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.judge_rule_claims (
    org_id uuid NOT NULL,
    config_id bigint NOT NULL,
    config_version integer NOT NULL,
    trace_id bytea NOT NULL,
    rule_id bigint NOT NULL,
    backfill_id bigint NOT NULL,
    activation bigint NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    outcome text,
    reason text NOT NULL,
    cost_nano bigint NOT NULL,
    CONSTRAINT judge_rule_claims_outcome_check CHECK ((outcome = ANY (ARRAY['judged'::text, 'abstained'::text, 'failed'::text, 'skipped'::text]))),
    CONSTRAINT judge_rule_claims_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.judge_rule_claims ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rule_claims ALTER COLUMN reason SET STATISTICS 0;

ALTER TABLE ONLY public.judge_rule_claims FORCE ROW LEVEL SECURITY;

CREATE TABLE public.judge_rule_cursors (
    org_id uuid NOT NULL,
    rule_id bigint NOT NULL,
    step bigint NOT NULL,
    ended_ms bigint NOT NULL,
    ended_id bytea NOT NULL,
    idle_ms bigint NOT NULL,
    idle_id bytea NOT NULL,
    blocked_code text,
    blocked_message text,
    blocked_at timestamp with time zone
);
ALTER TABLE ONLY public.judge_rule_cursors ALTER COLUMN ended_id SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rule_cursors ALTER COLUMN idle_id SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rule_cursors ALTER COLUMN blocked_code SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rule_cursors ALTER COLUMN blocked_message SET STATISTICS 0;

ALTER TABLE ONLY public.judge_rule_cursors FORCE ROW LEVEL SECURITY;

CREATE TABLE public.judge_rule_tallies (
    org_id uuid NOT NULL,
    rule_id bigint NOT NULL,
    backfill_id bigint NOT NULL,
    outcome text NOT NULL,
    reason text NOT NULL,
    traces bigint NOT NULL,
    cost_nano bigint NOT NULL,
    CONSTRAINT judge_rule_tallies_outcome_check CHECK ((outcome = ANY (ARRAY['judged'::text, 'abstained'::text, 'failed'::text, 'skipped'::text])))
);
ALTER TABLE ONLY public.judge_rule_tallies ALTER COLUMN reason SET STATISTICS 0;

ALTER TABLE ONLY public.judge_rule_tallies FORCE ROW LEVEL SECURITY;

CREATE TABLE public.judge_rules (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    config_id bigint NOT NULL,
    filter json NOT NULL,
    sampling_key text NOT NULL,
    sample_rate double precision NOT NULL,
    status text NOT NULL,
    spend_cap_nano bigint,
    cap_period text NOT NULL,
    activation bigint NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT judge_rules_cap_period_check CHECK ((cap_period = ANY (ARRAY['month'::text, 'total'::text]))),
    CONSTRAINT judge_rules_sample_rate_check CHECK (((sample_rate > (0)::double precision) AND (sample_rate <= (1)::double precision))),
    CONSTRAINT judge_rules_spend_cap_nano_check CHECK ((spend_cap_nano >= 0)),
    CONSTRAINT judge_rules_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text])))
);
ALTER TABLE ONLY public.judge_rules ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rules ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rules ALTER COLUMN description SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rules ALTER COLUMN sampling_key SET STATISTICS 0;
ALTER TABLE ONLY public.judge_rules ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.judge_rules FORCE ROW LEVEL SECURITY;

ALTER TABLE public.judge_rules ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.judge_rules_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.judge_versions (
    org_id uuid NOT NULL,
    config_id bigint NOT NULL,
    number integer NOT NULL,
    spec json NOT NULL,
    digest bytea NOT NULL,
    salt bytea NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.judge_versions ALTER COLUMN digest SET STATISTICS 0;
ALTER TABLE ONLY public.judge_versions ALTER COLUMN salt SET STATISTICS 0;
ALTER TABLE ONLY public.judge_versions ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.judge_versions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.judge_watch_answers (
    org_id uuid NOT NULL,
    watch_id bigint NOT NULL,
    number integer NOT NULL,
    item_id bigint NOT NULL,
    repetition smallint NOT NULL,
    passed boolean,
    cost_nano bigint NOT NULL
);

ALTER TABLE ONLY public.judge_watch_answers FORCE ROW LEVEL SECURITY;

CREATE TABLE public.judge_watch_checks (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    watch_id bigint NOT NULL,
    number integer NOT NULL,
    verdict text NOT NULL,
    found json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT judge_watch_checks_verdict_check CHECK ((verdict = ANY (ARRAY['quiet'::text, 'unresolved'::text, 'drifted'::text, 'failed'::text])))
);

ALTER TABLE ONLY public.judge_watch_checks FORCE ROW LEVEL SECURITY;

ALTER TABLE public.judge_watch_checks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.judge_watch_checks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.judge_watches (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    config_id bigint NOT NULL,
    config_version integer NOT NULL,
    dataset_id bigint NOT NULL,
    dataset_version integer NOT NULL,
    every_seconds integer NOT NULL,
    tolerance double precision NOT NULL,
    status text NOT NULL,
    problem text DEFAULT ''::text NOT NULL,
    anchors integer DEFAULT 0 NOT NULL,
    flip_limit double precision DEFAULT 0 NOT NULL,
    evidence double precision DEFAULT 1 NOT NULL,
    checks integer DEFAULT 0 NOT NULL,
    next_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT judge_watches_every_seconds_check CHECK ((every_seconds > 0)),
    CONSTRAINT judge_watches_status_check CHECK ((status = ANY (ARRAY['preparing'::text, 'watching'::text, 'drifted'::text, 'stopped'::text]))),
    CONSTRAINT judge_watches_tolerance_check CHECK (((tolerance > (0)::double precision) AND (tolerance < (1)::double precision)))
);
ALTER TABLE ONLY public.judge_watches ALTER COLUMN problem SET STATISTICS 0;
ALTER TABLE ONLY public.judge_watches ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.judge_watches FORCE ROW LEVEL SECURITY;

ALTER TABLE public.judge_watches ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.judge_watches_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.key_peppers (
    version integer NOT NULL,
    fingerprint bytea NOT NULL,
    CONSTRAINT key_peppers_fingerprint_check CHECK ((octet_length(fingerprint) = 8))
);

ALTER TABLE ONLY public.key_peppers FORCE ROW LEVEL SECURITY;

CREATE TABLE public.members (
    org_id uuid NOT NULL,
    user_id uuid NOT NULL,
    email text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    role text NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    removed_at timestamp with time zone,
    version bigint DEFAULT 1 NOT NULL,
    invited_by uuid,
    CONSTRAINT members_email_check CHECK (((length(email) >= 3) AND (length(email) <= 320))),
    CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'annotator'::text, 'viewer'::text]))),
    CONSTRAINT members_status_check CHECK ((status = ANY (ARRAY['invited'::text, 'active'::text])))
);
ALTER TABLE ONLY public.members ALTER COLUMN email SET STATISTICS 0;
ALTER TABLE ONLY public.members ALTER COLUMN name SET STATISTICS 0;

ALTER TABLE ONLY public.members FORCE ROW LEVEL SECURITY;

CREATE TABLE public.model_answers (
    org_id uuid NOT NULL,
    digest bytea NOT NULL,
    answer json NOT NULL,
    bytes integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT model_answers_digest_check CHECK ((octet_length(digest) = 32))
);

ALTER TABLE ONLY public.model_answers FORCE ROW LEVEL SECURITY;

CREATE TABLE public.model_spends (
    org_id uuid NOT NULL,
    kind text NOT NULL,
    id text NOT NULL,
    period text NOT NULL,
    spent_nano_usd bigint NOT NULL,
    holds json DEFAULT '{}'::json NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT model_spends_id_check CHECK ((length(id) <= 200)),
    CONSTRAINT model_spends_kind_check CHECK (((length(kind) >= 1) AND (length(kind) <= 64))),
    CONSTRAINT model_spends_period_check CHECK ((period ~ '^([0-9]{4}-[0-9]{2})?$'::text)),
    CONSTRAINT model_spends_spent_nano_usd_check CHECK ((spent_nano_usd >= 0))
);
ALTER TABLE ONLY public.model_spends ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY public.model_spends ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY public.model_spends ALTER COLUMN period SET STATISTICS 0;

ALTER TABLE ONLY public.model_spends FORCE ROW LEVEL SECURITY;

CREATE TABLE public.organizations (
    id uuid NOT NULL,
    name text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    plan text DEFAULT 'self_hosted'::text NOT NULL,
    hourly_limit integer,
    settings json DEFAULT '{}'::json NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT organizations_hourly_limit_check CHECK ((hourly_limit > 0)),
    CONSTRAINT organizations_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT organizations_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text, 'enterprise'::text, 'self_hosted'::text]))),
    CONSTRAINT organizations_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text, 'deleting'::text])))
);
ALTER TABLE ONLY public.organizations ALTER COLUMN name SET STATISTICS 0;

ALTER TABLE ONLY public.organizations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.outbox (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    topic text NOT NULL,
    subject text NOT NULL,
    payload bytea NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.outbox ALTER COLUMN topic SET STATISTICS 0;
ALTER TABLE ONLY public.outbox ALTER COLUMN subject SET STATISTICS 0;
ALTER TABLE ONLY public.outbox ALTER COLUMN payload SET STATISTICS 0;

ALTER TABLE ONLY public.outbox FORCE ROW LEVEL SECURITY;

ALTER TABLE public.outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.policies (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    mode text NOT NULL,
    state text NOT NULL,
    source text NOT NULL,
    applies_to json NOT NULL,
    tests json NOT NULL,
    policy_version bigint DEFAULT 1 NOT NULL,
    used boolean NOT NULL,
    created_by text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT policies_mode_check CHECK ((mode = ANY (ARRAY['enforce'::text, 'shadow'::text, 'disabled'::text]))),
    CONSTRAINT policies_source_check CHECK ((octet_length(source) <= 10240)),
    CONSTRAINT policies_state_check CHECK ((state = ANY (ARRAY['draft'::text, 'active'::text, 'retired'::text])))
);
ALTER TABLE ONLY public.policies ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY public.policies ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.policies ALTER COLUMN source SET STATISTICS 0;
ALTER TABLE ONLY public.policies ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.policies FORCE ROW LEVEL SECURITY;

ALTER TABLE public.policies ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.policies_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.policy_actions (
    org_id uuid NOT NULL,
    decision_id bigint NOT NULL,
    actor text NOT NULL,
    connector text NOT NULL,
    tool text NOT NULL,
    numbers json NOT NULL,
    at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.policy_actions ALTER COLUMN actor SET STATISTICS 0;
ALTER TABLE ONLY public.policy_actions ALTER COLUMN connector SET STATISTICS 0;
ALTER TABLE ONLY public.policy_actions ALTER COLUMN tool SET STATISTICS 0;

ALTER TABLE ONLY public.policy_actions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.policy_sets (
    org_id uuid NOT NULL,
    revision bigint NOT NULL
);

ALTER TABLE ONLY public.policy_sets FORCE ROW LEVEL SECURITY;

CREATE TABLE public.policy_versions (
    org_id uuid NOT NULL,
    policy_id bigint NOT NULL,
    number bigint NOT NULL,
    mode text NOT NULL,
    source text NOT NULL,
    applies_to json NOT NULL,
    tests json NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT policy_versions_mode_check CHECK ((mode = ANY (ARRAY['enforce'::text, 'shadow'::text, 'disabled'::text])))
);
ALTER TABLE ONLY public.policy_versions ALTER COLUMN source SET STATISTICS 0;
ALTER TABLE ONLY public.policy_versions ALTER COLUMN created_by SET STATISTICS 0;

ALTER TABLE ONLY public.policy_versions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.provider_keys (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    provider text NOT NULL,
    name text NOT NULL,
    base_url text NOT NULL,
    secret bytea NOT NULL,
    last4 text NOT NULL,
    models text[] DEFAULT '{}'::text[] NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    last_used_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    monthly_cap_nano_usd bigint,
    CONSTRAINT provider_keys_monthly_cap_nano_usd_check CHECK ((monthly_cap_nano_usd >= 0)),
    CONSTRAINT provider_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT provider_keys_provider_check CHECK (((length(provider) >= 1) AND (length(provider) <= 64))),
    CONSTRAINT provider_keys_status_check CHECK ((status = ANY (ARRAY['active'::text, 'invalid'::text, 'disabled'::text])))
);
ALTER TABLE ONLY public.provider_keys ALTER COLUMN provider SET STATISTICS 0;
ALTER TABLE ONLY public.provider_keys ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.provider_keys ALTER COLUMN base_url SET STATISTICS 0;
ALTER TABLE ONLY public.provider_keys ALTER COLUMN secret SET STATISTICS 0;
ALTER TABLE ONLY public.provider_keys ALTER COLUMN last4 SET STATISTICS 0;
ALTER TABLE ONLY public.provider_keys ALTER COLUMN models SET STATISTICS 0;

ALTER TABLE ONLY public.provider_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE public.provider_keys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.provider_keys_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.sessions (
    org_id uuid NOT NULL,
    hash bytea NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone NOT NULL,
    CONSTRAINT sessions_hash_check CHECK ((length(hash) = 32))
);
ALTER TABLE ONLY public.sessions ALTER COLUMN hash SET STATISTICS 0;

ALTER TABLE ONLY public.sessions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.trace_deletions (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    trace_id bytea NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    purged_at timestamp with time zone,
    CONSTRAINT trace_deletions_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.trace_deletions ALTER COLUMN trace_id SET STATISTICS 0;

ALTER TABLE ONLY public.trace_deletions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.trace_deletions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.trace_deletions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW public.trace_feedback WITH (security_invoker='true') AS
 SELECT NULL::uuid AS org_id,
    NULL::bigint AS id,
    NULL::bytea AS trace_id,
    NULL::bytea AS span_id,
    NULL::text AS type,
    NULL::json AS value,
    NULL::text AS comment,
    NULL::text AS user_id,
    NULL::timestamp with time zone AS created_at,
    NULL::text AS creator
  WHERE false;

CREATE TABLE public.trace_refs (
    org_id uuid NOT NULL,
    trace_ref bigint NOT NULL,
    trace_id bytea NOT NULL,
    stub boolean DEFAULT false NOT NULL,
    digest bytea,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT trace_refs_trace_id_check CHECK ((length(trace_id) = 16))
);
ALTER TABLE ONLY public.trace_refs ALTER COLUMN trace_id SET STATISTICS 0;
ALTER TABLE ONLY public.trace_refs ALTER COLUMN digest SET STATISTICS 0;

ALTER TABLE ONLY public.trace_refs FORCE ROW LEVEL SECURITY;

ALTER TABLE public.trace_refs ALTER COLUMN trace_ref ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.trace_refs_trace_ref_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.views (
    org_id uuid NOT NULL,
    id bigint NOT NULL,
    owner_id uuid,
    name text NOT NULL,
    list text NOT NULL,
    filters jsonb NOT NULL,
    creator text NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT views_list_check CHECK (((length(list) >= 1) AND (length(list) <= 64))),
    CONSTRAINT views_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);
ALTER TABLE ONLY public.views ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.views ALTER COLUMN list SET STATISTICS 0;
ALTER TABLE ONLY public.views ALTER COLUMN filters SET STATISTICS 0;
ALTER TABLE ONLY public.views ALTER COLUMN creator SET STATISTICS 0;

ALTER TABLE ONLY public.views FORCE ROW LEVEL SECURITY;

ALTER TABLE public.views ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.views_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY public.audit_logs ATTACH PARTITION public.audit_logs_default DEFAULT;

ALTER TABLE ONLY public.events ATTACH PARTITION public.events_default DEFAULT;

ALTER TABLE ONLY public.evidence_history ATTACH PARTITION public.evidence_history_0 FOR VALUES WITH (modulus 8, remainder 0);

ALTER TABLE ONLY public.evidence_history ATTACH PARTITION public.evidence_history_1 FOR VALUES WITH (modulus 8, remainder 1);

ALTER TABLE ONLY public.evidence_history ATTACH PARTITION public.evidence_history_2 FOR VALUES WITH (modulus 8, remainder 2);

ALTER TABLE ONLY public.evidence_history ATTACH PARTITION public.evidence_history_3 FOR VALUES WITH (modulus 8, remainder 3);

ALTER TABLE ONLY public.evidence_history ATTACH PARTITION public.evidence_history_4 FOR VALUES WITH (modulus 8, remainder 4);

ALTER TABLE ONLY public.evidence_history ATTACH PARTITION public.evidence_history_5 FOR VALUES WITH (modulus 8, remainder 5);

ALTER TABLE ONLY public.evidence_history ATTACH PARTITION public.evidence_history_6 FOR VALUES WITH (modulus 8, remainder 6);

ALTER TABLE ONLY public.evidence_history ATTACH PARTITION public.evidence_history_7 FOR VALUES WITH (modulus 8, remainder 7);

ALTER TABLE ONLY public.evidence_keys ATTACH PARTITION public.evidence_keys_0 FOR VALUES WITH (modulus 8, remainder 0);

ALTER TABLE ONLY public.evidence_keys ATTACH PARTITION public.evidence_keys_1 FOR VALUES WITH (modulus 8, remainder 1);

ALTER TABLE ONLY public.evidence_keys ATTACH PARTITION public.evidence_keys_2 FOR VALUES WITH (modulus 8, remainder 2);

ALTER TABLE ONLY public.evidence_keys ATTACH PARTITION public.evidence_keys_3 FOR VALUES WITH (modulus 8, remainder 3);

ALTER TABLE ONLY public.evidence_keys ATTACH PARTITION public.evidence_keys_4 FOR VALUES WITH (modulus 8, remainder 4);

ALTER TABLE ONLY public.evidence_keys ATTACH PARTITION public.evidence_keys_5 FOR VALUES WITH (modulus 8, remainder 5);

ALTER TABLE ONLY public.evidence_keys ATTACH PARTITION public.evidence_keys_6 FOR VALUES WITH (modulus 8, remainder 6);

ALTER TABLE ONLY public.evidence_keys ATTACH PARTITION public.evidence_keys_7 FOR VALUES WITH (modulus 8, remainder 7);

ALTER TABLE ONLY public.evidence_records ATTACH PARTITION public.evidence_records_0 FOR VALUES WITH (modulus 8, remainder 0);

ALTER TABLE ONLY public.evidence_records ATTACH PARTITION public.evidence_records_1 FOR VALUES WITH (modulus 8, remainder 1);

ALTER TABLE ONLY public.evidence_records ATTACH PARTITION public.evidence_records_2 FOR VALUES WITH (modulus 8, remainder 2);

ALTER TABLE ONLY public.evidence_records ATTACH PARTITION public.evidence_records_3 FOR VALUES WITH (modulus 8, remainder 3);

ALTER TABLE ONLY public.evidence_records ATTACH PARTITION public.evidence_records_4 FOR VALUES WITH (modulus 8, remainder 4);

ALTER TABLE ONLY public.evidence_records ATTACH PARTITION public.evidence_records_5 FOR VALUES WITH (modulus 8, remainder 5);

ALTER TABLE ONLY public.evidence_records ATTACH PARTITION public.evidence_records_6 FOR VALUES WITH (modulus 8, remainder 6);

ALTER TABLE ONLY public.evidence_records ATTACH PARTITION public.evidence_records_7 FOR VALUES WITH (modulus 8, remainder 7);

ALTER TABLE ONLY public.audit_logs ALTER COLUMN id SET DEFAULT nextval('public.audit_log_ids'::regclass);

ALTER TABLE ONLY public.events ALTER COLUMN id SET DEFAULT nextval('public.event_ids'::regclass);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (org_id, user_id);

ALTER TABLE ONLY public.adjudication_contents
    ADD CONSTRAINT adjudication_contents_pkey PRIMARY KEY (org_id, item_id);

ALTER TABLE ONLY public.adjudication_decisions
    ADD CONSTRAINT adjudication_decisions_org_id_item_id_id_decision_key UNIQUE (org_id, item_id, id, decision);

ALTER TABLE ONLY public.adjudication_decisions
    ADD CONSTRAINT adjudication_decisions_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.adjudication_items
    ADD CONSTRAINT adjudication_items_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.adjudication_sets
    ADD CONSTRAINT adjudication_sets_pkey PRIMARY KEY (org_id, purpose);

ALTER TABLE ONLY public.annotation_imports
    ADD CONSTRAINT annotation_imports_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.annotation_items
    ADD CONSTRAINT annotation_items_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.annotation_leases
    ADD CONSTRAINT annotation_leases_pkey PRIMARY KEY (org_id, task_id, person);

ALTER TABLE ONLY public.annotation_places
    ADD CONSTRAINT annotation_places_pkey PRIMARY KEY (org_id, task_id, person);

ALTER TABLE ONLY public.annotation_revisions
    ADD CONSTRAINT annotation_revisions_pkey PRIMARY KEY (org_id, annotation_id, version);

ALTER TABLE ONLY public.annotation_skips
    ADD CONSTRAINT annotation_skips_pkey PRIMARY KEY (org_id, item_id, person);

ALTER TABLE ONLY public.annotation_tasks
    ADD CONSTRAINT annotation_tasks_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.annotation_truths
    ADD CONSTRAINT annotation_truths_pkey PRIMARY KEY (org_id, task_id, item_id, origin);

ALTER TABLE ONLY public.annotations
    ADD CONSTRAINT annotations_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_id_key UNIQUE (key_id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.approval_votes
    ADD CONSTRAINT approval_votes_pkey PRIMARY KEY (org_id, approval_id, user_id);

ALTER TABLE ONLY public.assessed_contents
    ADD CONSTRAINT assessed_contents_pkey PRIMARY KEY (org_id, digest);

ALTER TABLE ONLY public.audit_logs
    ADD CONSTRAINT audit_logs_pkey PRIMARY KEY (org_id, id, at);

ALTER TABLE ONLY public.audit_logs_default
    ADD CONSTRAINT audit_logs_default_pkey PRIMARY KEY (org_id, id, at);

ALTER TABLE ONLY public.data_keys
    ADD CONSTRAINT data_keys_pkey PRIMARY KEY (org_id);

ALTER TABLE ONLY public.dataset_holds
    ADD CONSTRAINT dataset_holds_pkey PRIMARY KEY (org_id, dataset_id, holder);

ALTER TABLE ONLY public.dataset_items
    ADD CONSTRAINT dataset_items_pkey PRIMARY KEY (org_id, dataset_id, id, valid_from);

ALTER TABLE ONLY public.dataset_versions
    ADD CONSTRAINT dataset_versions_pkey PRIMARY KEY (org_id, dataset_id, number);

ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT datasets_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.deletion_certificates
    ADD CONSTRAINT deletion_certificates_pkey PRIMARY KEY (org_id);

ALTER TABLE ONLY public.evaluation_artifacts
    ADD CONSTRAINT evaluation_artifacts_org_id_run_id_name_key UNIQUE (org_id, run_id, name);

ALTER TABLE ONLY public.evaluation_artifacts
    ADD CONSTRAINT evaluation_artifacts_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.evaluation_run_chunks
    ADD CONSTRAINT evaluation_run_chunks_pkey PRIMARY KEY (org_id, run_id, chunk);

ALTER TABLE ONLY public.evaluation_run_items
    ADD CONSTRAINT evaluation_run_items_pkey PRIMARY KEY (org_id, run_id, page);

ALTER TABLE ONLY public.evaluation_run_notes
    ADD CONSTRAINT evaluation_run_notes_pkey PRIMARY KEY (org_id, run_id, subject);

ALTER TABLE ONLY public.evaluation_runs
    ADD CONSTRAINT evaluation_runs_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.evaluations
    ADD CONSTRAINT evaluations_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (org_id, id, at);

ALTER TABLE ONLY public.events_default
    ADD CONSTRAINT events_default_pkey PRIMARY KEY (org_id, id, at);

ALTER TABLE ONLY public.evidence_cursors
    ADD CONSTRAINT evidence_cursors_pkey PRIMARY KEY (org_id);

ALTER TABLE ONLY public.evidence_history
    ADD CONSTRAINT evidence_history_pkey PRIMARY KEY (org_id, record_id, version);

ALTER TABLE ONLY public.evidence_history_0
    ADD CONSTRAINT evidence_history_0_pkey PRIMARY KEY (org_id, record_id, version);

ALTER TABLE ONLY public.evidence_history_1
    ADD CONSTRAINT evidence_history_1_pkey PRIMARY KEY (org_id, record_id, version);

ALTER TABLE ONLY public.evidence_history_2
    ADD CONSTRAINT evidence_history_2_pkey PRIMARY KEY (org_id, record_id, version);

ALTER TABLE ONLY public.evidence_history_3
    ADD CONSTRAINT evidence_history_3_pkey PRIMARY KEY (org_id, record_id, version);

ALTER TABLE ONLY public.evidence_history_4
    ADD CONSTRAINT evidence_history_4_pkey PRIMARY KEY (org_id, record_id, version);

ALTER TABLE ONLY public.evidence_history_5
    ADD CONSTRAINT evidence_history_5_pkey PRIMARY KEY (org_id, record_id, version);

ALTER TABLE ONLY public.evidence_history_6
    ADD CONSTRAINT evidence_history_6_pkey PRIMARY KEY (org_id, record_id, version);

ALTER TABLE ONLY public.evidence_history_7
    ADD CONSTRAINT evidence_history_7_pkey PRIMARY KEY (org_id, record_id, version);

ALTER TABLE ONLY public.evidence_keys
    ADD CONSTRAINT evidence_keys_pkey PRIMARY KEY (org_id, key);

ALTER TABLE ONLY public.evidence_keys_0
    ADD CONSTRAINT evidence_keys_0_pkey PRIMARY KEY (org_id, key);

ALTER TABLE ONLY public.evidence_keys_1
    ADD CONSTRAINT evidence_keys_1_pkey PRIMARY KEY (org_id, key);

ALTER TABLE ONLY public.evidence_keys_2
    ADD CONSTRAINT evidence_keys_2_pkey PRIMARY KEY (org_id, key);

ALTER TABLE ONLY public.evidence_keys_3
    ADD CONSTRAINT evidence_keys_3_pkey PRIMARY KEY (org_id, key);

ALTER TABLE ONLY public.evidence_keys_4
    ADD CONSTRAINT evidence_keys_4_pkey PRIMARY KEY (org_id, key);

ALTER TABLE ONLY public.evidence_keys_5
    ADD CONSTRAINT evidence_keys_5_pkey PRIMARY KEY (org_id, key);

ALTER TABLE ONLY public.evidence_keys_6
    ADD CONSTRAINT evidence_keys_6_pkey PRIMARY KEY (org_id, key);

ALTER TABLE ONLY public.evidence_keys_7
    ADD CONSTRAINT evidence_keys_7_pkey PRIMARY KEY (org_id, key);

ALTER TABLE ONLY public.evidence_leases
    ADD CONSTRAINT evidence_leases_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.evidence_normalizations
    ADD CONSTRAINT evidence_normalizations_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.evidence_records
    ADD CONSTRAINT evidence_records_pkey PRIMARY KEY (org_id, kind, id);

ALTER TABLE ONLY public.evidence_records_0
    ADD CONSTRAINT evidence_records_0_pkey PRIMARY KEY (org_id, kind, id);

ALTER TABLE ONLY public.evidence_records_1
    ADD CONSTRAINT evidence_records_1_pkey PRIMARY KEY (org_id, kind, id);

ALTER TABLE ONLY public.evidence_records_2
    ADD CONSTRAINT evidence_records_2_pkey PRIMARY KEY (org_id, kind, id);

ALTER TABLE ONLY public.evidence_records_3
    ADD CONSTRAINT evidence_records_3_pkey PRIMARY KEY (org_id, kind, id);

ALTER TABLE ONLY public.evidence_records_4
    ADD CONSTRAINT evidence_records_4_pkey PRIMARY KEY (org_id, kind, id);

ALTER TABLE ONLY public.evidence_records_5
    ADD CONSTRAINT evidence_records_5_pkey PRIMARY KEY (org_id, kind, id);

ALTER TABLE ONLY public.evidence_records_6
    ADD CONSTRAINT evidence_records_6_pkey PRIMARY KEY (org_id, kind, id);

ALTER TABLE ONLY public.evidence_records_7
    ADD CONSTRAINT evidence_records_7_pkey PRIMARY KEY (org_id, kind, id);

ALTER TABLE ONLY public.followers
    ADD CONSTRAINT followers_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.gate_decisions
    ADD CONSTRAINT gate_decisions_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.ground_truth_entries
    ADD CONSTRAINT ground_truth_entries_once UNIQUE (org_id, item_id, dataset_id);

ALTER TABLE ONLY public.ground_truth_entries
    ADD CONSTRAINT ground_truth_entries_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.ground_truths
    ADD CONSTRAINT ground_truths_org_id_item_id_id_key UNIQUE (org_id, item_id, id);

ALTER TABLE ONLY public.ground_truths
    ADD CONSTRAINT ground_truths_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (org_id, method, path, key);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (org_id, user_id);

ALTER TABLE ONLY public.judge_conditions
    ADD CONSTRAINT judge_conditions_pkey PRIMARY KEY (org_id, config_id, number);

ALTER TABLE ONLY public.judge_configs
    ADD CONSTRAINT judge_configs_key UNIQUE (org_id, key);

ALTER TABLE ONLY public.judge_configs
    ADD CONSTRAINT judge_configs_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.judge_probe_verdicts
    ADD CONSTRAINT judge_probe_verdicts_pkey PRIMARY KEY (org_id, probe_id, unit);

ALTER TABLE ONLY public.judge_probes
    ADD CONSTRAINT judge_probes_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.judge_rule_backfills
    ADD CONSTRAINT judge_rule_backfills_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.judge_rule_claims
    ADD CONSTRAINT judge_rule_claims_pkey PRIMARY KEY (org_id, config_id, config_version, trace_id);

ALTER TABLE ONLY public.judge_rule_cursors
    ADD CONSTRAINT judge_rule_cursors_pkey PRIMARY KEY (org_id, rule_id);

ALTER TABLE ONLY public.judge_rule_tallies
    ADD CONSTRAINT judge_rule_tallies_pkey PRIMARY KEY (org_id, rule_id, backfill_id, outcome, reason);

ALTER TABLE ONLY public.judge_rules
    ADD CONSTRAINT judge_rules_key UNIQUE (org_id, key);

ALTER TABLE ONLY public.judge_rules
    ADD CONSTRAINT judge_rules_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.judge_versions
    ADD CONSTRAINT judge_versions_pkey PRIMARY KEY (org_id, config_id, number);

ALTER TABLE ONLY public.judge_watch_answers
    ADD CONSTRAINT judge_watch_answers_pkey PRIMARY KEY (org_id, watch_id, number, item_id, repetition);

ALTER TABLE ONLY public.judge_watch_checks
    ADD CONSTRAINT judge_watch_checks_number UNIQUE (org_id, watch_id, number);

ALTER TABLE ONLY public.judge_watch_checks
    ADD CONSTRAINT judge_watch_checks_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.judge_watches
    ADD CONSTRAINT judge_watches_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.key_peppers
    ADD CONSTRAINT key_peppers_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (org_id, user_id);

ALTER TABLE ONLY public.model_answers
    ADD CONSTRAINT model_answers_pkey PRIMARY KEY (org_id, digest);

ALTER TABLE ONLY public.model_spends
    ADD CONSTRAINT model_spends_pkey PRIMARY KEY (org_id, kind, id, period);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_key UNIQUE (org_id, key);

ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.policy_actions
    ADD CONSTRAINT policy_actions_pkey PRIMARY KEY (org_id, decision_id);

ALTER TABLE ONLY public.policy_sets
    ADD CONSTRAINT policy_sets_pkey PRIMARY KEY (org_id);

ALTER TABLE ONLY public.policy_versions
    ADD CONSTRAINT policy_versions_pkey PRIMARY KEY (org_id, policy_id, number);

ALTER TABLE ONLY public.provider_keys
    ADD CONSTRAINT provider_keys_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (org_id, hash);

ALTER TABLE ONLY public.trace_deletions
    ADD CONSTRAINT trace_deletions_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.trace_refs
    ADD CONSTRAINT trace_refs_org_id_trace_id_key UNIQUE (org_id, trace_id);

ALTER TABLE ONLY public.trace_refs
    ADD CONSTRAINT trace_refs_pkey PRIMARY KEY (org_id, trace_ref);

ALTER TABLE ONLY public.views
    ADD CONSTRAINT views_pkey PRIMARY KEY (org_id, id);

CREATE UNIQUE INDEX adjudication_decisions_current ON public.adjudication_decisions USING btree (org_id, item_id) WHERE (superseded_at IS NULL);

CREATE INDEX adjudication_decisions_made ON public.adjudication_decisions USING btree (org_id, created_at);

CREATE INDEX adjudication_items_assigned ON public.adjudication_items USING btree (org_id, assignee_id) WHERE (assignee_id IS NOT NULL);

CREATE INDEX adjudication_items_of_run ON public.adjudication_items USING btree (org_id, evaluation_run_id) WHERE (evaluation_run_id IS NOT NULL);

CREATE INDEX adjudication_items_of_trace ON public.adjudication_items USING btree (org_id, trace_id) WHERE (trace_id IS NOT NULL);

CREATE INDEX adjudication_items_queue ON public.adjudication_items USING btree (org_id, status, rank_at, id);

CREATE INDEX adjudication_items_subject ON public.adjudication_items USING btree (org_id, subject_key);

CREATE UNIQUE INDEX adjudication_items_unresolved ON public.adjudication_items USING btree (org_id, source, subject_key) WHERE (status = ANY (ARRAY['open'::text, 'assigned'::text, 'decided'::text]));

CREATE INDEX annotation_imports_item ON public.annotation_imports USING btree (org_id, item_id, id);

CREATE INDEX annotation_items_queue ON public.annotation_items USING btree (org_id, task_id, queue) WHERE (((submitted + held) < required) AND (status = ANY (ARRAY['pending'::text, 'in_progress'::text])));

CREATE INDEX annotation_items_task ON public.annotation_items USING btree (org_id, task_id, id);

CREATE INDEX annotation_leases_expiry ON public.annotation_leases USING btree (org_id, task_id, expires_at);

CREATE INDEX annotation_leases_item ON public.annotation_leases USING btree (org_id, item_id);

CREATE INDEX annotation_truths_item ON public.annotation_truths USING btree (org_id, item_id);

CREATE INDEX annotations_item ON public.annotations USING btree (org_id, item_id, person) WHERE (item_id IS NOT NULL);

CREATE UNIQUE INDEX annotations_person ON public.annotations USING btree (org_id, item_id, person) WHERE ((item_id IS NOT NULL) AND (status <> 'discarded'::text) AND (deleted_at IS NULL));

CREATE INDEX annotations_run ON public.annotations USING btree (org_id, evaluation_run_id, id) WHERE (evaluation_run_id IS NOT NULL);

CREATE INDEX annotations_task ON public.annotations USING btree (org_id, task_id, id) WHERE (task_id IS NOT NULL);

CREATE INDEX annotations_trace ON public.annotations USING btree (org_id, trace_id, id) WHERE (trace_id IS NOT NULL);

CREATE INDEX annotations_who ON public.annotations USING btree (org_id, person, id);

CREATE UNIQUE INDEX api_keys_name ON public.api_keys USING btree (org_id, name) WHERE ((revoked_at IS NULL) AND (superseded_at IS NULL));

CREATE INDEX api_keys_owner ON public.api_keys USING btree (org_id, owner_id) WHERE (owner_id IS NOT NULL);

CREATE INDEX api_keys_parent ON public.api_keys USING btree (org_id, parent_id) WHERE (parent_id IS NOT NULL);

CREATE INDEX audit_logs_action ON ONLY public.audit_logs USING btree (org_id, action, id);

CREATE INDEX audit_logs_at ON ONLY public.audit_logs USING btree (org_id, at);

CREATE INDEX audit_logs_default_org_id_action_id_idx ON public.audit_logs_default USING btree (org_id, action, id);

CREATE INDEX audit_logs_default_org_id_at_idx ON public.audit_logs_default USING btree (org_id, at);

CREATE INDEX audit_logs_resource ON ONLY public.audit_logs USING btree (org_id, resource_type, resource_id, id);

CREATE INDEX audit_logs_default_org_id_resource_type_resource_id_id_idx ON public.audit_logs_default USING btree (org_id, resource_type, resource_id, id);

CREATE INDEX audit_logs_user ON ONLY public.audit_logs USING btree (org_id, user_id, id) WHERE (user_id IS NOT NULL);

CREATE INDEX audit_logs_default_org_id_user_id_id_idx ON public.audit_logs_default USING btree (org_id, user_id, id) WHERE (user_id IS NOT NULL);

CREATE INDEX data_keys_master ON public.data_keys USING btree (master_key_id);

CREATE INDEX dataset_items_asked ON public.dataset_items USING btree (org_id, asked) WHERE (asked IS NOT NULL);

CREATE INDEX dataset_items_assessed ON public.dataset_items USING btree (org_id, assessed) WHERE (assessed IS NOT NULL);

CREATE UNIQUE INDEX dataset_items_current ON public.dataset_items USING btree (org_id, dataset_id, id) WHERE (valid_to IS NULL);

CREATE UNIQUE INDEX dataset_items_current_digest ON public.dataset_items USING btree (org_id, dataset_id, digest) WHERE (valid_to IS NULL);

CREATE INDEX datasets_current ON public.datasets USING btree (org_id, id) WHERE (deleted_at IS NULL);

CREATE INDEX evaluation_artifacts_evaluation ON public.evaluation_artifacts USING btree (org_id, evaluation_id, id);

CREATE INDEX evaluation_runs_evaluation ON public.evaluation_runs USING btree (org_id, evaluation_id, id);

CREATE INDEX evaluation_runs_passed ON public.evaluation_runs USING btree (org_id, evaluation_id, id) WHERE (verdict = 'PASS'::text);

CREATE INDEX evaluation_runs_running ON public.evaluation_runs USING btree (org_id, id) WHERE (status = 'running'::text);

CREATE INDEX events_order ON ONLY public.events USING btree (xid, id);

CREATE INDEX events_default_xid_id_idx ON public.events_default USING btree (xid, id);

CREATE INDEX evidence_keys_expires ON ONLY public.evidence_keys USING brin (expires);

CREATE INDEX evidence_keys_0_expires_idx ON public.evidence_keys_0 USING brin (expires);

CREATE INDEX evidence_keys_1_expires_idx ON public.evidence_keys_1 USING brin (expires);

CREATE INDEX evidence_keys_2_expires_idx ON public.evidence_keys_2 USING brin (expires);

CREATE INDEX evidence_keys_3_expires_idx ON public.evidence_keys_3 USING brin (expires);

CREATE INDEX evidence_keys_4_expires_idx ON public.evidence_keys_4 USING brin (expires);

CREATE INDEX evidence_keys_5_expires_idx ON public.evidence_keys_5 USING brin (expires);

CREATE INDEX evidence_keys_6_expires_idx ON public.evidence_keys_6 USING brin (expires);

CREATE INDEX evidence_keys_7_expires_idx ON public.evidence_keys_7 USING brin (expires);

CREATE INDEX evidence_leases_until ON public.evidence_leases USING btree (until);

CREATE UNIQUE INDEX evidence_normalizations_running ON public.evidence_normalizations USING btree (org_id) WHERE (state = 'running'::text);

CREATE INDEX evidence_records_action ON ONLY public.evidence_records USING btree (org_id, ((body ->> 'input_digest'::text))) WHERE (kind = 'approvals'::text);
ALTER INDEX public.evidence_records_action ALTER COLUMN 2 SET STATISTICS 0;

CREATE INDEX evidence_records_0_org_id_expr_idx ON public.evidence_records_0 USING btree (org_id, ((body ->> 'input_digest'::text))) WHERE (kind = 'approvals'::text);
ALTER INDEX public.evidence_records_0_org_id_expr_idx ALTER COLUMN 2 SET STATISTICS 0;

CREATE UNIQUE INDEX evidence_records_id ON ONLY public.evidence_records USING btree (org_id, id);

CREATE UNIQUE INDEX evidence_records_0_org_id_id_idx ON public.evidence_records_0 USING btree (org_id, id);

CREATE INDEX evidence_records_connector ON ONLY public.evidence_records USING btree (org_id, kind, connector_id, id) WHERE (connector_id IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_connector_id_id_idx ON public.evidence_records_0 USING btree (org_id, kind, connector_id, id) WHERE (connector_id IS NOT NULL);

CREATE INDEX evidence_records_of_decision ON ONLY public.evidence_records USING btree (org_id, kind, decision_id, id) WHERE (decision_id IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_decision_id_id_idx ON public.evidence_records_0 USING btree (org_id, kind, decision_id, id) WHERE (decision_id IS NOT NULL);

CREATE INDEX evidence_records_decision ON ONLY public.evidence_records USING btree (org_id, kind, decision, id) WHERE (decision IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_decision_id_idx ON public.evidence_records_0 USING btree (org_id, kind, decision, id) WHERE (decision IS NOT NULL);

CREATE INDEX evidence_records_effect ON ONLY public.evidence_records USING btree (org_id, kind, effect_id, id) WHERE (effect_id IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_effect_id_id_idx ON public.evidence_records_0 USING btree (org_id, kind, effect_id, id) WHERE (effect_id IS NOT NULL);

CREATE INDEX evidence_records_run ON ONLY public.evidence_records USING btree (org_id, kind, evaluation_run_id, id) WHERE (evaluation_run_id IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_evaluation_run_id_id_idx ON public.evidence_records_0 USING btree (org_id, kind, evaluation_run_id, id) WHERE (evaluation_run_id IS NOT NULL);

CREATE INDEX evidence_records_explanation ON ONLY public.evidence_records USING btree (org_id, kind, explanation_id, id) WHERE (explanation_id IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_explanation_id_id_idx ON public.evidence_records_0 USING btree (org_id, kind, explanation_id, id) WHERE (explanation_id IS NOT NULL);

CREATE INDEX evidence_records_failure ON ONLY public.evidence_records USING btree (org_id, kind, failure_key, id) WHERE ((kind = 'quality-cases'::text) AND (failure_key IS NOT NULL));

CREATE INDEX evidence_records_0_org_id_kind_failure_key_id_idx ON public.evidence_records_0 USING btree (org_id, kind, failure_key, id) WHERE ((kind = 'quality-cases'::text) AND (failure_key IS NOT NULL));

CREATE INDEX evidence_records_mode ON ONLY public.evidence_records USING btree (org_id, kind, failure_mode, id) WHERE (failure_mode IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_failure_mode_id_idx ON public.evidence_records_0 USING btree (org_id, kind, failure_mode, id) WHERE (failure_mode IS NOT NULL);

CREATE INDEX evidence_records_idempotency ON ONLY public.evidence_records USING btree (org_id, kind, idempotency_key, id) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_idempotency_key_id_idx ON public.evidence_records_0 USING btree (org_id, kind, idempotency_key, id) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX evidence_records_invocation ON ONLY public.evidence_records USING btree (org_id, kind, invocation_id, id) WHERE (invocation_id IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_invocation_id_id_idx ON public.evidence_records_0 USING btree (org_id, kind, invocation_id, id) WHERE (invocation_id IS NOT NULL);

CREATE INDEX evidence_records_name ON ONLY public.evidence_records USING btree (org_id, kind, name, id) WHERE (name IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_name_id_idx ON public.evidence_records_0 USING btree (org_id, kind, name, id) WHERE (name IS NOT NULL);

CREATE UNIQUE INDEX evidence_records_thing ON ONLY public.evidence_records USING btree (org_id, kind, name) WHERE (kind = ANY (ARRAY['runtimes'::text, 'connectors'::text, 'failures'::text, 'quality-cases'::text]));

CREATE UNIQUE INDEX evidence_records_0_org_id_kind_name_idx ON public.evidence_records_0 USING btree (org_id, kind, name) WHERE (kind = ANY (ARRAY['runtimes'::text, 'connectors'::text, 'failures'::text, 'quality-cases'::text]));

CREATE INDEX evidence_records_event ON ONLY public.evidence_records USING btree (org_id, kind, raw_event_id, id) WHERE (raw_event_id IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_raw_event_id_id_idx ON public.evidence_records_0 USING btree (org_id, kind, raw_event_id, id) WHERE (raw_event_id IS NOT NULL);

CREATE INDEX evidence_records_runtime_decision ON ONLY public.evidence_records USING btree (org_id, kind, runtime_id, decision, id) WHERE ((runtime_id IS NOT NULL) AND (decision IS NOT NULL));

CREATE INDEX evidence_records_0_org_id_kind_runtime_id_decision_id_idx ON public.evidence_records_0 USING btree (org_id, kind, runtime_id, decision, id) WHERE ((runtime_id IS NOT NULL) AND (decision IS NOT NULL));

CREATE INDEX evidence_records_runtime ON ONLY public.evidence_records USING btree (org_id, kind, runtime_id, id) WHERE (runtime_id IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_runtime_id_id_idx ON public.evidence_records_0 USING btree (org_id, kind, runtime_id, id) WHERE (runtime_id IS NOT NULL);

CREATE INDEX evidence_records_runtime_state ON ONLY public.evidence_records USING btree (org_id, kind, runtime_id, state, id) WHERE ((runtime_id IS NOT NULL) AND (state IS NOT NULL));

CREATE INDEX evidence_records_0_org_id_kind_runtime_id_state_id_idx ON public.evidence_records_0 USING btree (org_id, kind, runtime_id, state, id) WHERE ((runtime_id IS NOT NULL) AND (state IS NOT NULL));

CREATE INDEX evidence_records_class ON ONLY public.evidence_records USING btree (org_id, kind, side_effect_class, id) WHERE (side_effect_class IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_side_effect_class_id_idx ON public.evidence_records_0 USING btree (org_id, kind, side_effect_class, id) WHERE (side_effect_class IS NOT NULL);

CREATE INDEX evidence_records_state ON ONLY public.evidence_records USING btree (org_id, kind, state, id) WHERE (state IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_state_id_idx ON public.evidence_records_0 USING btree (org_id, kind, state, id) WHERE (state IS NOT NULL);

CREATE INDEX evidence_records_step ON ONLY public.evidence_records USING btree (org_id, kind, step_id, id) WHERE (step_id IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_step_id_id_idx ON public.evidence_records_0 USING btree (org_id, kind, step_id, id) WHERE (step_id IS NOT NULL);

CREATE INDEX evidence_records_tool ON ONLY public.evidence_records USING btree (org_id, kind, tool_id, id) WHERE (tool_id IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_kind_tool_id_id_idx ON public.evidence_records_0 USING btree (org_id, kind, tool_id, id) WHERE (tool_id IS NOT NULL);

CREATE INDEX evidence_records_trace ON ONLY public.evidence_records USING btree (org_id, trace_id, kind, id) WHERE (trace_id IS NOT NULL);

CREATE INDEX evidence_records_0_org_id_trace_id_kind_id_idx ON public.evidence_records_0 USING btree (org_id, trace_id, kind, id) WHERE (trace_id IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_expr_idx ON public.evidence_records_1 USING btree (org_id, ((body ->> 'input_digest'::text))) WHERE (kind = 'approvals'::text);
ALTER INDEX public.evidence_records_1_org_id_expr_idx ALTER COLUMN 2 SET STATISTICS 0;

CREATE UNIQUE INDEX evidence_records_1_org_id_id_idx ON public.evidence_records_1 USING btree (org_id, id);

CREATE INDEX evidence_records_1_org_id_kind_connector_id_id_idx ON public.evidence_records_1 USING btree (org_id, kind, connector_id, id) WHERE (connector_id IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_decision_id_id_idx ON public.evidence_records_1 USING btree (org_id, kind, decision_id, id) WHERE (decision_id IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_decision_id_idx ON public.evidence_records_1 USING btree (org_id, kind, decision, id) WHERE (decision IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_effect_id_id_idx ON public.evidence_records_1 USING btree (org_id, kind, effect_id, id) WHERE (effect_id IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_evaluation_run_id_id_idx ON public.evidence_records_1 USING btree (org_id, kind, evaluation_run_id, id) WHERE (evaluation_run_id IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_explanation_id_id_idx ON public.evidence_records_1 USING btree (org_id, kind, explanation_id, id) WHERE (explanation_id IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_failure_key_id_idx ON public.evidence_records_1 USING btree (org_id, kind, failure_key, id) WHERE ((kind = 'quality-cases'::text) AND (failure_key IS NOT NULL));

CREATE INDEX evidence_records_1_org_id_kind_failure_mode_id_idx ON public.evidence_records_1 USING btree (org_id, kind, failure_mode, id) WHERE (failure_mode IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_idempotency_key_id_idx ON public.evidence_records_1 USING btree (org_id, kind, idempotency_key, id) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_invocation_id_id_idx ON public.evidence_records_1 USING btree (org_id, kind, invocation_id, id) WHERE (invocation_id IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_name_id_idx ON public.evidence_records_1 USING btree (org_id, kind, name, id) WHERE (name IS NOT NULL);

CREATE UNIQUE INDEX evidence_records_1_org_id_kind_name_idx ON public.evidence_records_1 USING btree (org_id, kind, name) WHERE (kind = ANY (ARRAY['runtimes'::text, 'connectors'::text, 'failures'::text, 'quality-cases'::text]));

CREATE INDEX evidence_records_1_org_id_kind_raw_event_id_id_idx ON public.evidence_records_1 USING btree (org_id, kind, raw_event_id, id) WHERE (raw_event_id IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_runtime_id_decision_id_idx ON public.evidence_records_1 USING btree (org_id, kind, runtime_id, decision, id) WHERE ((runtime_id IS NOT NULL) AND (decision IS NOT NULL));

CREATE INDEX evidence_records_1_org_id_kind_runtime_id_id_idx ON public.evidence_records_1 USING btree (org_id, kind, runtime_id, id) WHERE (runtime_id IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_runtime_id_state_id_idx ON public.evidence_records_1 USING btree (org_id, kind, runtime_id, state, id) WHERE ((runtime_id IS NOT NULL) AND (state IS NOT NULL));

CREATE INDEX evidence_records_1_org_id_kind_side_effect_class_id_idx ON public.evidence_records_1 USING btree (org_id, kind, side_effect_class, id) WHERE (side_effect_class IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_state_id_idx ON public.evidence_records_1 USING btree (org_id, kind, state, id) WHERE (state IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_step_id_id_idx ON public.evidence_records_1 USING btree (org_id, kind, step_id, id) WHERE (step_id IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_kind_tool_id_id_idx ON public.evidence_records_1 USING btree (org_id, kind, tool_id, id) WHERE (tool_id IS NOT NULL);

CREATE INDEX evidence_records_1_org_id_trace_id_kind_id_idx ON public.evidence_records_1 USING btree (org_id, trace_id, kind, id) WHERE (trace_id IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_expr_idx ON public.evidence_records_2 USING btree (org_id, ((body ->> 'input_digest'::text))) WHERE (kind = 'approvals'::text);
ALTER INDEX public.evidence_records_2_org_id_expr_idx ALTER COLUMN 2 SET STATISTICS 0;

CREATE UNIQUE INDEX evidence_records_2_org_id_id_idx ON public.evidence_records_2 USING btree (org_id, id);

CREATE INDEX evidence_records_2_org_id_kind_connector_id_id_idx ON public.evidence_records_2 USING btree (org_id, kind, connector_id, id) WHERE (connector_id IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_decision_id_id_idx ON public.evidence_records_2 USING btree (org_id, kind, decision_id, id) WHERE (decision_id IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_decision_id_idx ON public.evidence_records_2 USING btree (org_id, kind, decision, id) WHERE (decision IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_effect_id_id_idx ON public.evidence_records_2 USING btree (org_id, kind, effect_id, id) WHERE (effect_id IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_evaluation_run_id_id_idx ON public.evidence_records_2 USING btree (org_id, kind, evaluation_run_id, id) WHERE (evaluation_run_id IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_explanation_id_id_idx ON public.evidence_records_2 USING btree (org_id, kind, explanation_id, id) WHERE (explanation_id IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_failure_key_id_idx ON public.evidence_records_2 USING btree (org_id, kind, failure_key, id) WHERE ((kind = 'quality-cases'::text) AND (failure_key IS NOT NULL));

CREATE INDEX evidence_records_2_org_id_kind_failure_mode_id_idx ON public.evidence_records_2 USING btree (org_id, kind, failure_mode, id) WHERE (failure_mode IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_idempotency_key_id_idx ON public.evidence_records_2 USING btree (org_id, kind, idempotency_key, id) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_invocation_id_id_idx ON public.evidence_records_2 USING btree (org_id, kind, invocation_id, id) WHERE (invocation_id IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_name_id_idx ON public.evidence_records_2 USING btree (org_id, kind, name, id) WHERE (name IS NOT NULL);

CREATE UNIQUE INDEX evidence_records_2_org_id_kind_name_idx ON public.evidence_records_2 USING btree (org_id, kind, name) WHERE (kind = ANY (ARRAY['runtimes'::text, 'connectors'::text, 'failures'::text, 'quality-cases'::text]));

CREATE INDEX evidence_records_2_org_id_kind_raw_event_id_id_idx ON public.evidence_records_2 USING btree (org_id, kind, raw_event_id, id) WHERE (raw_event_id IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_runtime_id_decision_id_idx ON public.evidence_records_2 USING btree (org_id, kind, runtime_id, decision, id) WHERE ((runtime_id IS NOT NULL) AND (decision IS NOT NULL));

CREATE INDEX evidence_records_2_org_id_kind_runtime_id_id_idx ON public.evidence_records_2 USING btree (org_id, kind, runtime_id, id) WHERE (runtime_id IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_runtime_id_state_id_idx ON public.evidence_records_2 USING btree (org_id, kind, runtime_id, state, id) WHERE ((runtime_id IS NOT NULL) AND (state IS NOT NULL));

CREATE INDEX evidence_records_2_org_id_kind_side_effect_class_id_idx ON public.evidence_records_2 USING btree (org_id, kind, side_effect_class, id) WHERE (side_effect_class IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_state_id_idx ON public.evidence_records_2 USING btree (org_id, kind, state, id) WHERE (state IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_step_id_id_idx ON public.evidence_records_2 USING btree (org_id, kind, step_id, id) WHERE (step_id IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_kind_tool_id_id_idx ON public.evidence_records_2 USING btree (org_id, kind, tool_id, id) WHERE (tool_id IS NOT NULL);

CREATE INDEX evidence_records_2_org_id_trace_id_kind_id_idx ON public.evidence_records_2 USING btree (org_id, trace_id, kind, id) WHERE (trace_id IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_expr_idx ON public.evidence_records_3 USING btree (org_id, ((body ->> 'input_digest'::text))) WHERE (kind = 'approvals'::text);
ALTER INDEX public.evidence_records_3_org_id_expr_idx ALTER COLUMN 2 SET STATISTICS 0;

CREATE UNIQUE INDEX evidence_records_3_org_id_id_idx ON public.evidence_records_3 USING btree (org_id, id);

CREATE INDEX evidence_records_3_org_id_kind_connector_id_id_idx ON public.evidence_records_3 USING btree (org_id, kind, connector_id, id) WHERE (connector_id IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_decision_id_id_idx ON public.evidence_records_3 USING btree (org_id, kind, decision_id, id) WHERE (decision_id IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_decision_id_idx ON public.evidence_records_3 USING btree (org_id, kind, decision, id) WHERE (decision IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_effect_id_id_idx ON public.evidence_records_3 USING btree (org_id, kind, effect_id, id) WHERE (effect_id IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_evaluation_run_id_id_idx ON public.evidence_records_3 USING btree (org_id, kind, evaluation_run_id, id) WHERE (evaluation_run_id IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_explanation_id_id_idx ON public.evidence_records_3 USING btree (org_id, kind, explanation_id, id) WHERE (explanation_id IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_failure_key_id_idx ON public.evidence_records_3 USING btree (org_id, kind, failure_key, id) WHERE ((kind = 'quality-cases'::text) AND (failure_key IS NOT NULL));

CREATE INDEX evidence_records_3_org_id_kind_failure_mode_id_idx ON public.evidence_records_3 USING btree (org_id, kind, failure_mode, id) WHERE (failure_mode IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_idempotency_key_id_idx ON public.evidence_records_3 USING btree (org_id, kind, idempotency_key, id) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_invocation_id_id_idx ON public.evidence_records_3 USING btree (org_id, kind, invocation_id, id) WHERE (invocation_id IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_name_id_idx ON public.evidence_records_3 USING btree (org_id, kind, name, id) WHERE (name IS NOT NULL);

CREATE UNIQUE INDEX evidence_records_3_org_id_kind_name_idx ON public.evidence_records_3 USING btree (org_id, kind, name) WHERE (kind = ANY (ARRAY['runtimes'::text, 'connectors'::text, 'failures'::text, 'quality-cases'::text]));

CREATE INDEX evidence_records_3_org_id_kind_raw_event_id_id_idx ON public.evidence_records_3 USING btree (org_id, kind, raw_event_id, id) WHERE (raw_event_id IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_runtime_id_decision_id_idx ON public.evidence_records_3 USING btree (org_id, kind, runtime_id, decision, id) WHERE ((runtime_id IS NOT NULL) AND (decision IS NOT NULL));

CREATE INDEX evidence_records_3_org_id_kind_runtime_id_id_idx ON public.evidence_records_3 USING btree (org_id, kind, runtime_id, id) WHERE (runtime_id IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_runtime_id_state_id_idx ON public.evidence_records_3 USING btree (org_id, kind, runtime_id, state, id) WHERE ((runtime_id IS NOT NULL) AND (state IS NOT NULL));

CREATE INDEX evidence_records_3_org_id_kind_side_effect_class_id_idx ON public.evidence_records_3 USING btree (org_id, kind, side_effect_class, id) WHERE (side_effect_class IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_state_id_idx ON public.evidence_records_3 USING btree (org_id, kind, state, id) WHERE (state IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_step_id_id_idx ON public.evidence_records_3 USING btree (org_id, kind, step_id, id) WHERE (step_id IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_kind_tool_id_id_idx ON public.evidence_records_3 USING btree (org_id, kind, tool_id, id) WHERE (tool_id IS NOT NULL);

CREATE INDEX evidence_records_3_org_id_trace_id_kind_id_idx ON public.evidence_records_3 USING btree (org_id, trace_id, kind, id) WHERE (trace_id IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_expr_idx ON public.evidence_records_4 USING btree (org_id, ((body ->> 'input_digest'::text))) WHERE (kind = 'approvals'::text);
ALTER INDEX public.evidence_records_4_org_id_expr_idx ALTER COLUMN 2 SET STATISTICS 0;

CREATE UNIQUE INDEX evidence_records_4_org_id_id_idx ON public.evidence_records_4 USING btree (org_id, id);

CREATE INDEX evidence_records_4_org_id_kind_connector_id_id_idx ON public.evidence_records_4 USING btree (org_id, kind, connector_id, id) WHERE (connector_id IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_decision_id_id_idx ON public.evidence_records_4 USING btree (org_id, kind, decision_id, id) WHERE (decision_id IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_decision_id_idx ON public.evidence_records_4 USING btree (org_id, kind, decision, id) WHERE (decision IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_effect_id_id_idx ON public.evidence_records_4 USING btree (org_id, kind, effect_id, id) WHERE (effect_id IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_evaluation_run_id_id_idx ON public.evidence_records_4 USING btree (org_id, kind, evaluation_run_id, id) WHERE (evaluation_run_id IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_explanation_id_id_idx ON public.evidence_records_4 USING btree (org_id, kind, explanation_id, id) WHERE (explanation_id IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_failure_key_id_idx ON public.evidence_records_4 USING btree (org_id, kind, failure_key, id) WHERE ((kind = 'quality-cases'::text) AND (failure_key IS NOT NULL));

CREATE INDEX evidence_records_4_org_id_kind_failure_mode_id_idx ON public.evidence_records_4 USING btree (org_id, kind, failure_mode, id) WHERE (failure_mode IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_idempotency_key_id_idx ON public.evidence_records_4 USING btree (org_id, kind, idempotency_key, id) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_invocation_id_id_idx ON public.evidence_records_4 USING btree (org_id, kind, invocation_id, id) WHERE (invocation_id IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_name_id_idx ON public.evidence_records_4 USING btree (org_id, kind, name, id) WHERE (name IS NOT NULL);

CREATE UNIQUE INDEX evidence_records_4_org_id_kind_name_idx ON public.evidence_records_4 USING btree (org_id, kind, name) WHERE (kind = ANY (ARRAY['runtimes'::text, 'connectors'::text, 'failures'::text, 'quality-cases'::text]));

CREATE INDEX evidence_records_4_org_id_kind_raw_event_id_id_idx ON public.evidence_records_4 USING btree (org_id, kind, raw_event_id, id) WHERE (raw_event_id IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_runtime_id_decision_id_idx ON public.evidence_records_4 USING btree (org_id, kind, runtime_id, decision, id) WHERE ((runtime_id IS NOT NULL) AND (decision IS NOT NULL));

CREATE INDEX evidence_records_4_org_id_kind_runtime_id_id_idx ON public.evidence_records_4 USING btree (org_id, kind, runtime_id, id) WHERE (runtime_id IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_runtime_id_state_id_idx ON public.evidence_records_4 USING btree (org_id, kind, runtime_id, state, id) WHERE ((runtime_id IS NOT NULL) AND (state IS NOT NULL));

CREATE INDEX evidence_records_4_org_id_kind_side_effect_class_id_idx ON public.evidence_records_4 USING btree (org_id, kind, side_effect_class, id) WHERE (side_effect_class IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_state_id_idx ON public.evidence_records_4 USING btree (org_id, kind, state, id) WHERE (state IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_step_id_id_idx ON public.evidence_records_4 USING btree (org_id, kind, step_id, id) WHERE (step_id IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_kind_tool_id_id_idx ON public.evidence_records_4 USING btree (org_id, kind, tool_id, id) WHERE (tool_id IS NOT NULL);

CREATE INDEX evidence_records_4_org_id_trace_id_kind_id_idx ON public.evidence_records_4 USING btree (org_id, trace_id, kind, id) WHERE (trace_id IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_expr_idx ON public.evidence_records_5 USING btree (org_id, ((body ->> 'input_digest'::text))) WHERE (kind = 'approvals'::text);
ALTER INDEX public.evidence_records_5_org_id_expr_idx ALTER COLUMN 2 SET STATISTICS 0;

CREATE UNIQUE INDEX evidence_records_5_org_id_id_idx ON public.evidence_records_5 USING btree (org_id, id);

CREATE INDEX evidence_records_5_org_id_kind_connector_id_id_idx ON public.evidence_records_5 USING btree (org_id, kind, connector_id, id) WHERE (connector_id IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_decision_id_id_idx ON public.evidence_records_5 USING btree (org_id, kind, decision_id, id) WHERE (decision_id IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_decision_id_idx ON public.evidence_records_5 USING btree (org_id, kind, decision, id) WHERE (decision IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_effect_id_id_idx ON public.evidence_records_5 USING btree (org_id, kind, effect_id, id) WHERE (effect_id IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_evaluation_run_id_id_idx ON public.evidence_records_5 USING btree (org_id, kind, evaluation_run_id, id) WHERE (evaluation_run_id IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_explanation_id_id_idx ON public.evidence_records_5 USING btree (org_id, kind, explanation_id, id) WHERE (explanation_id IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_failure_key_id_idx ON public.evidence_records_5 USING btree (org_id, kind, failure_key, id) WHERE ((kind = 'quality-cases'::text) AND (failure_key IS NOT NULL));

CREATE INDEX evidence_records_5_org_id_kind_failure_mode_id_idx ON public.evidence_records_5 USING btree (org_id, kind, failure_mode, id) WHERE (failure_mode IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_idempotency_key_id_idx ON public.evidence_records_5 USING btree (org_id, kind, idempotency_key, id) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_invocation_id_id_idx ON public.evidence_records_5 USING btree (org_id, kind, invocation_id, id) WHERE (invocation_id IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_name_id_idx ON public.evidence_records_5 USING btree (org_id, kind, name, id) WHERE (name IS NOT NULL);

CREATE UNIQUE INDEX evidence_records_5_org_id_kind_name_idx ON public.evidence_records_5 USING btree (org_id, kind, name) WHERE (kind = ANY (ARRAY['runtimes'::text, 'connectors'::text, 'failures'::text, 'quality-cases'::text]));

CREATE INDEX evidence_records_5_org_id_kind_raw_event_id_id_idx ON public.evidence_records_5 USING btree (org_id, kind, raw_event_id, id) WHERE (raw_event_id IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_runtime_id_decision_id_idx ON public.evidence_records_5 USING btree (org_id, kind, runtime_id, decision, id) WHERE ((runtime_id IS NOT NULL) AND (decision IS NOT NULL));

CREATE INDEX evidence_records_5_org_id_kind_runtime_id_id_idx ON public.evidence_records_5 USING btree (org_id, kind, runtime_id, id) WHERE (runtime_id IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_runtime_id_state_id_idx ON public.evidence_records_5 USING btree (org_id, kind, runtime_id, state, id) WHERE ((runtime_id IS NOT NULL) AND (state IS NOT NULL));

CREATE INDEX evidence_records_5_org_id_kind_side_effect_class_id_idx ON public.evidence_records_5 USING btree (org_id, kind, side_effect_class, id) WHERE (side_effect_class IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_state_id_idx ON public.evidence_records_5 USING btree (org_id, kind, state, id) WHERE (state IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_step_id_id_idx ON public.evidence_records_5 USING btree (org_id, kind, step_id, id) WHERE (step_id IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_kind_tool_id_id_idx ON public.evidence_records_5 USING btree (org_id, kind, tool_id, id) WHERE (tool_id IS NOT NULL);

CREATE INDEX evidence_records_5_org_id_trace_id_kind_id_idx ON public.evidence_records_5 USING btree (org_id, trace_id, kind, id) WHERE (trace_id IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_expr_idx ON public.evidence_records_6 USING btree (org_id, ((body ->> 'input_digest'::text))) WHERE (kind = 'approvals'::text);
ALTER INDEX public.evidence_records_6_org_id_expr_idx ALTER COLUMN 2 SET STATISTICS 0;

CREATE UNIQUE INDEX evidence_records_6_org_id_id_idx ON public.evidence_records_6 USING btree (org_id, id);

CREATE INDEX evidence_records_6_org_id_kind_connector_id_id_idx ON public.evidence_records_6 USING btree (org_id, kind, connector_id, id) WHERE (connector_id IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_decision_id_id_idx ON public.evidence_records_6 USING btree (org_id, kind, decision_id, id) WHERE (decision_id IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_decision_id_idx ON public.evidence_records_6 USING btree (org_id, kind, decision, id) WHERE (decision IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_effect_id_id_idx ON public.evidence_records_6 USING btree (org_id, kind, effect_id, id) WHERE (effect_id IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_evaluation_run_id_id_idx ON public.evidence_records_6 USING btree (org_id, kind, evaluation_run_id, id) WHERE (evaluation_run_id IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_explanation_id_id_idx ON public.evidence_records_6 USING btree (org_id, kind, explanation_id, id) WHERE (explanation_id IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_failure_key_id_idx ON public.evidence_records_6 USING btree (org_id, kind, failure_key, id) WHERE ((kind = 'quality-cases'::text) AND (failure_key IS NOT NULL));

CREATE INDEX evidence_records_6_org_id_kind_failure_mode_id_idx ON public.evidence_records_6 USING btree (org_id, kind, failure_mode, id) WHERE (failure_mode IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_idempotency_key_id_idx ON public.evidence_records_6 USING btree (org_id, kind, idempotency_key, id) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_invocation_id_id_idx ON public.evidence_records_6 USING btree (org_id, kind, invocation_id, id) WHERE (invocation_id IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_name_id_idx ON public.evidence_records_6 USING btree (org_id, kind, name, id) WHERE (name IS NOT NULL);

CREATE UNIQUE INDEX evidence_records_6_org_id_kind_name_idx ON public.evidence_records_6 USING btree (org_id, kind, name) WHERE (kind = ANY (ARRAY['runtimes'::text, 'connectors'::text, 'failures'::text, 'quality-cases'::text]));

CREATE INDEX evidence_records_6_org_id_kind_raw_event_id_id_idx ON public.evidence_records_6 USING btree (org_id, kind, raw_event_id, id) WHERE (raw_event_id IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_runtime_id_decision_id_idx ON public.evidence_records_6 USING btree (org_id, kind, runtime_id, decision, id) WHERE ((runtime_id IS NOT NULL) AND (decision IS NOT NULL));

CREATE INDEX evidence_records_6_org_id_kind_runtime_id_id_idx ON public.evidence_records_6 USING btree (org_id, kind, runtime_id, id) WHERE (runtime_id IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_runtime_id_state_id_idx ON public.evidence_records_6 USING btree (org_id, kind, runtime_id, state, id) WHERE ((runtime_id IS NOT NULL) AND (state IS NOT NULL));

CREATE INDEX evidence_records_6_org_id_kind_side_effect_class_id_idx ON public.evidence_records_6 USING btree (org_id, kind, side_effect_class, id) WHERE (side_effect_class IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_state_id_idx ON public.evidence_records_6 USING btree (org_id, kind, state, id) WHERE (state IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_step_id_id_idx ON public.evidence_records_6 USING btree (org_id, kind, step_id, id) WHERE (step_id IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_kind_tool_id_id_idx ON public.evidence_records_6 USING btree (org_id, kind, tool_id, id) WHERE (tool_id IS NOT NULL);

CREATE INDEX evidence_records_6_org_id_trace_id_kind_id_idx ON public.evidence_records_6 USING btree (org_id, trace_id, kind, id) WHERE (trace_id IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_expr_idx ON public.evidence_records_7 USING btree (org_id, ((body ->> 'input_digest'::text))) WHERE (kind = 'approvals'::text);
ALTER INDEX public.evidence_records_7_org_id_expr_idx ALTER COLUMN 2 SET STATISTICS 0;

CREATE UNIQUE INDEX evidence_records_7_org_id_id_idx ON public.evidence_records_7 USING btree (org_id, id);

CREATE INDEX evidence_records_7_org_id_kind_connector_id_id_idx ON public.evidence_records_7 USING btree (org_id, kind, connector_id, id) WHERE (connector_id IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_decision_id_id_idx ON public.evidence_records_7 USING btree (org_id, kind, decision_id, id) WHERE (decision_id IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_decision_id_idx ON public.evidence_records_7 USING btree (org_id, kind, decision, id) WHERE (decision IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_effect_id_id_idx ON public.evidence_records_7 USING btree (org_id, kind, effect_id, id) WHERE (effect_id IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_evaluation_run_id_id_idx ON public.evidence_records_7 USING btree (org_id, kind, evaluation_run_id, id) WHERE (evaluation_run_id IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_explanation_id_id_idx ON public.evidence_records_7 USING btree (org_id, kind, explanation_id, id) WHERE (explanation_id IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_failure_key_id_idx ON public.evidence_records_7 USING btree (org_id, kind, failure_key, id) WHERE ((kind = 'quality-cases'::text) AND (failure_key IS NOT NULL));

CREATE INDEX evidence_records_7_org_id_kind_failure_mode_id_idx ON public.evidence_records_7 USING btree (org_id, kind, failure_mode, id) WHERE (failure_mode IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_idempotency_key_id_idx ON public.evidence_records_7 USING btree (org_id, kind, idempotency_key, id) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_invocation_id_id_idx ON public.evidence_records_7 USING btree (org_id, kind, invocation_id, id) WHERE (invocation_id IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_name_id_idx ON public.evidence_records_7 USING btree (org_id, kind, name, id) WHERE (name IS NOT NULL);

CREATE UNIQUE INDEX evidence_records_7_org_id_kind_name_idx ON public.evidence_records_7 USING btree (org_id, kind, name) WHERE (kind = ANY (ARRAY['runtimes'::text, 'connectors'::text, 'failures'::text, 'quality-cases'::text]));

CREATE INDEX evidence_records_7_org_id_kind_raw_event_id_id_idx ON public.evidence_records_7 USING btree (org_id, kind, raw_event_id, id) WHERE (raw_event_id IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_runtime_id_decision_id_idx ON public.evidence_records_7 USING btree (org_id, kind, runtime_id, decision, id) WHERE ((runtime_id IS NOT NULL) AND (decision IS NOT NULL));

CREATE INDEX evidence_records_7_org_id_kind_runtime_id_id_idx ON public.evidence_records_7 USING btree (org_id, kind, runtime_id, id) WHERE (runtime_id IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_runtime_id_state_id_idx ON public.evidence_records_7 USING btree (org_id, kind, runtime_id, state, id) WHERE ((runtime_id IS NOT NULL) AND (state IS NOT NULL));

CREATE INDEX evidence_records_7_org_id_kind_side_effect_class_id_idx ON public.evidence_records_7 USING btree (org_id, kind, side_effect_class, id) WHERE (side_effect_class IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_state_id_idx ON public.evidence_records_7 USING btree (org_id, kind, state, id) WHERE (state IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_step_id_id_idx ON public.evidence_records_7 USING btree (org_id, kind, step_id, id) WHERE (step_id IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_kind_tool_id_id_idx ON public.evidence_records_7 USING btree (org_id, kind, tool_id, id) WHERE (tool_id IS NOT NULL);

CREATE INDEX evidence_records_7_org_id_trace_id_kind_id_idx ON public.evidence_records_7 USING btree (org_id, trace_id, kind, id) WHERE (trace_id IS NOT NULL);

CREATE INDEX gate_decisions_run ON public.gate_decisions USING btree (org_id, run_id, id);

CREATE INDEX ground_truth_entries_of_dataset_item ON public.ground_truth_entries USING btree (org_id, dataset_id, dataset_item_id);

CREATE UNIQUE INDEX ground_truths_active ON public.ground_truths USING btree (org_id, item_id) WHERE (status = 'active'::text);

CREATE UNIQUE INDEX ground_truths_supersedes ON public.ground_truths USING btree (org_id, supersedes_id) WHERE (supersedes_id IS NOT NULL);

CREATE INDEX idempotency_keys_created ON public.idempotency_keys USING btree (created_at);

CREATE INDEX judge_probes_of_config ON public.judge_probes USING btree (org_id, config_id, id DESC);

CREATE INDEX judge_probes_running ON public.judge_probes USING btree (org_id, id) WHERE (status = 'running'::text);

CREATE INDEX judge_rule_backfills_rule ON public.judge_rule_backfills USING btree (org_id, rule_id, id);

CREATE INDEX judge_rule_claims_holder ON public.judge_rule_claims USING btree (org_id, rule_id, backfill_id, activation);

CREATE UNIQUE INDEX judge_watches_open ON public.judge_watches USING btree (org_id, config_id) WHERE (status = ANY (ARRAY['preparing'::text, 'watching'::text]));

CREATE UNIQUE INDEX members_email ON public.members USING btree (org_id, lower(email)) WHERE (removed_at IS NULL);
ALTER INDEX public.members_email ALTER COLUMN 2 SET STATISTICS 0;

CREATE INDEX members_order ON public.members USING btree (org_id, created_at, user_id) WHERE (removed_at IS NULL);

CREATE INDEX model_answers_expired ON public.model_answers USING btree (expires_at);

CREATE INDEX model_answers_oldest ON public.model_answers USING btree (org_id, created_at) INCLUDE (bytes);

CREATE INDEX outbox_due ON public.outbox USING btree (topic, due_at, id);

CREATE INDEX outbox_subject ON public.outbox USING btree (org_id, topic, subject);

CREATE INDEX outbox_turn ON public.outbox USING btree (topic, org_id, due_at, id);

CREATE INDEX policy_actions_at ON public.policy_actions USING btree (at);

CREATE INDEX policy_actions_of ON public.policy_actions USING btree (org_id, actor, connector, tool, at) INCLUDE (decision_id);

CREATE UNIQUE INDEX provider_keys_name ON public.provider_keys USING btree (org_id, name) WHERE (deleted_at IS NULL);

CREATE INDEX sessions_member ON public.sessions USING btree (org_id, user_id);

CREATE INDEX trace_deletions_trace ON public.trace_deletions USING btree (org_id, trace_id, id);

CREATE UNIQUE INDEX views_name ON public.views USING btree (org_id, list, owner_id, name) NULLS NOT DISTINCT;

ALTER INDEX public.audit_logs_action ATTACH PARTITION public.audit_logs_default_org_id_action_id_idx;

ALTER INDEX public.audit_logs_at ATTACH PARTITION public.audit_logs_default_org_id_at_idx;

ALTER INDEX public.audit_logs_resource ATTACH PARTITION public.audit_logs_default_org_id_resource_type_resource_id_id_idx;

ALTER INDEX public.audit_logs_user ATTACH PARTITION public.audit_logs_default_org_id_user_id_id_idx;

ALTER INDEX public.audit_logs_pkey ATTACH PARTITION public.audit_logs_default_pkey;

ALTER INDEX public.events_pkey ATTACH PARTITION public.events_default_pkey;

ALTER INDEX public.events_order ATTACH PARTITION public.events_default_xid_id_idx;

ALTER INDEX public.evidence_history_pkey ATTACH PARTITION public.evidence_history_0_pkey;

ALTER INDEX public.evidence_history_pkey ATTACH PARTITION public.evidence_history_1_pkey;

ALTER INDEX public.evidence_history_pkey ATTACH PARTITION public.evidence_history_2_pkey;

ALTER INDEX public.evidence_history_pkey ATTACH PARTITION public.evidence_history_3_pkey;

ALTER INDEX public.evidence_history_pkey ATTACH PARTITION public.evidence_history_4_pkey;

ALTER INDEX public.evidence_history_pkey ATTACH PARTITION public.evidence_history_5_pkey;

ALTER INDEX public.evidence_history_pkey ATTACH PARTITION public.evidence_history_6_pkey;

ALTER INDEX public.evidence_history_pkey ATTACH PARTITION public.evidence_history_7_pkey;

ALTER INDEX public.evidence_keys_expires ATTACH PARTITION public.evidence_keys_0_expires_idx;

ALTER INDEX public.evidence_keys_pkey ATTACH PARTITION public.evidence_keys_0_pkey;

ALTER INDEX public.evidence_keys_expires ATTACH PARTITION public.evidence_keys_1_expires_idx;

ALTER INDEX public.evidence_keys_pkey ATTACH PARTITION public.evidence_keys_1_pkey;

ALTER INDEX public.evidence_keys_expires ATTACH PARTITION public.evidence_keys_2_expires_idx;

ALTER INDEX public.evidence_keys_pkey ATTACH PARTITION public.evidence_keys_2_pkey;

ALTER INDEX public.evidence_keys_expires ATTACH PARTITION public.evidence_keys_3_expires_idx;

ALTER INDEX public.evidence_keys_pkey ATTACH PARTITION public.evidence_keys_3_pkey;

ALTER INDEX public.evidence_keys_expires ATTACH PARTITION public.evidence_keys_4_expires_idx;

ALTER INDEX public.evidence_keys_pkey ATTACH PARTITION public.evidence_keys_4_pkey;

ALTER INDEX public.evidence_keys_expires ATTACH PARTITION public.evidence_keys_5_expires_idx;

ALTER INDEX public.evidence_keys_pkey ATTACH PARTITION public.evidence_keys_5_pkey;

ALTER INDEX public.evidence_keys_expires ATTACH PARTITION public.evidence_keys_6_expires_idx;

ALTER INDEX public.evidence_keys_pkey ATTACH PARTITION public.evidence_keys_6_pkey;

ALTER INDEX public.evidence_keys_expires ATTACH PARTITION public.evidence_keys_7_expires_idx;

ALTER INDEX public.evidence_keys_pkey ATTACH PARTITION public.evidence_keys_7_pkey;

ALTER INDEX public.evidence_records_action ATTACH PARTITION public.evidence_records_0_org_id_expr_idx;

ALTER INDEX public.evidence_records_id ATTACH PARTITION public.evidence_records_0_org_id_id_idx;

ALTER INDEX public.evidence_records_connector ATTACH PARTITION public.evidence_records_0_org_id_kind_connector_id_id_idx;

ALTER INDEX public.evidence_records_of_decision ATTACH PARTITION public.evidence_records_0_org_id_kind_decision_id_id_idx;

ALTER INDEX public.evidence_records_decision ATTACH PARTITION public.evidence_records_0_org_id_kind_decision_id_idx;

ALTER INDEX public.evidence_records_effect ATTACH PARTITION public.evidence_records_0_org_id_kind_effect_id_id_idx;

ALTER INDEX public.evidence_records_run ATTACH PARTITION public.evidence_records_0_org_id_kind_evaluation_run_id_id_idx;

ALTER INDEX public.evidence_records_explanation ATTACH PARTITION public.evidence_records_0_org_id_kind_explanation_id_id_idx;

ALTER INDEX public.evidence_records_failure ATTACH PARTITION public.evidence_records_0_org_id_kind_failure_key_id_idx;

ALTER INDEX public.evidence_records_mode ATTACH PARTITION public.evidence_records_0_org_id_kind_failure_mode_id_idx;

ALTER INDEX public.evidence_records_idempotency ATTACH PARTITION public.evidence_records_0_org_id_kind_idempotency_key_id_idx;

ALTER INDEX public.evidence_records_invocation ATTACH PARTITION public.evidence_records_0_org_id_kind_invocation_id_id_idx;

ALTER INDEX public.evidence_records_name ATTACH PARTITION public.evidence_records_0_org_id_kind_name_id_idx;

ALTER INDEX public.evidence_records_thing ATTACH PARTITION public.evidence_records_0_org_id_kind_name_idx;

ALTER INDEX public.evidence_records_event ATTACH PARTITION public.evidence_records_0_org_id_kind_raw_event_id_id_idx;

ALTER INDEX public.evidence_records_runtime_decision ATTACH PARTITION public.evidence_records_0_org_id_kind_runtime_id_decision_id_idx;

ALTER INDEX public.evidence_records_runtime ATTACH PARTITION public.evidence_records_0_org_id_kind_runtime_id_id_idx;

ALTER INDEX public.evidence_records_runtime_state ATTACH PARTITION public.evidence_records_0_org_id_kind_runtime_id_state_id_idx;

ALTER INDEX public.evidence_records_class ATTACH PARTITION public.evidence_records_0_org_id_kind_side_effect_class_id_idx;

ALTER INDEX public.evidence_records_state ATTACH PARTITION public.evidence_records_0_org_id_kind_state_id_idx;

ALTER INDEX public.evidence_records_step ATTACH PARTITION public.evidence_records_0_org_id_kind_step_id_id_idx;

ALTER INDEX public.evidence_records_tool ATTACH PARTITION public.evidence_records_0_org_id_kind_tool_id_id_idx;

ALTER INDEX public.evidence_records_trace ATTACH PARTITION public.evidence_records_0_org_id_trace_id_kind_id_idx;

ALTER INDEX public.evidence_records_pkey ATTACH PARTITION public.evidence_records_0_pkey;

ALTER INDEX public.evidence_records_action ATTACH PARTITION public.evidence_records_1_org_id_expr_idx;

ALTER INDEX public.evidence_records_id ATTACH PARTITION public.evidence_records_1_org_id_id_idx;

ALTER INDEX public.evidence_records_connector ATTACH PARTITION public.evidence_records_1_org_id_kind_connector_id_id_idx;

ALTER INDEX public.evidence_records_of_decision ATTACH PARTITION public.evidence_records_1_org_id_kind_decision_id_id_idx;

ALTER INDEX public.evidence_records_decision ATTACH PARTITION public.evidence_records_1_org_id_kind_decision_id_idx;

ALTER INDEX public.evidence_records_effect ATTACH PARTITION public.evidence_records_1_org_id_kind_effect_id_id_idx;

ALTER INDEX public.evidence_records_run ATTACH PARTITION public.evidence_records_1_org_id_kind_evaluation_run_id_id_idx;

ALTER INDEX public.evidence_records_explanation ATTACH PARTITION public.evidence_records_1_org_id_kind_explanation_id_id_idx;

ALTER INDEX public.evidence_records_failure ATTACH PARTITION public.evidence_records_1_org_id_kind_failure_key_id_idx;

ALTER INDEX public.evidence_records_mode ATTACH PARTITION public.evidence_records_1_org_id_kind_failure_mode_id_idx;

ALTER INDEX public.evidence_records_idempotency ATTACH PARTITION public.evidence_records_1_org_id_kind_idempotency_key_id_idx;

ALTER INDEX public.evidence_records_invocation ATTACH PARTITION public.evidence_records_1_org_id_kind_invocation_id_id_idx;

ALTER INDEX public.evidence_records_name ATTACH PARTITION public.evidence_records_1_org_id_kind_name_id_idx;

ALTER INDEX public.evidence_records_thing ATTACH PARTITION public.evidence_records_1_org_id_kind_name_idx;

ALTER INDEX public.evidence_records_event ATTACH PARTITION public.evidence_records_1_org_id_kind_raw_event_id_id_idx;

ALTER INDEX public.evidence_records_runtime_decision ATTACH PARTITION public.evidence_records_1_org_id_kind_runtime_id_decision_id_idx;

ALTER INDEX public.evidence_records_runtime ATTACH PARTITION public.evidence_records_1_org_id_kind_runtime_id_id_idx;

ALTER INDEX public.evidence_records_runtime_state ATTACH PARTITION public.evidence_records_1_org_id_kind_runtime_id_state_id_idx;

ALTER INDEX public.evidence_records_class ATTACH PARTITION public.evidence_records_1_org_id_kind_side_effect_class_id_idx;

ALTER INDEX public.evidence_records_state ATTACH PARTITION public.evidence_records_1_org_id_kind_state_id_idx;

ALTER INDEX public.evidence_records_step ATTACH PARTITION public.evidence_records_1_org_id_kind_step_id_id_idx;

ALTER INDEX public.evidence_records_tool ATTACH PARTITION public.evidence_records_1_org_id_kind_tool_id_id_idx;

ALTER INDEX public.evidence_records_trace ATTACH PARTITION public.evidence_records_1_org_id_trace_id_kind_id_idx;

ALTER INDEX public.evidence_records_pkey ATTACH PARTITION public.evidence_records_1_pkey;

ALTER INDEX public.evidence_records_action ATTACH PARTITION public.evidence_records_2_org_id_expr_idx;

ALTER INDEX public.evidence_records_id ATTACH PARTITION public.evidence_records_2_org_id_id_idx;

ALTER INDEX public.evidence_records_connector ATTACH PARTITION public.evidence_records_2_org_id_kind_connector_id_id_idx;

ALTER INDEX public.evidence_records_of_decision ATTACH PARTITION public.evidence_records_2_org_id_kind_decision_id_id_idx;

ALTER INDEX public.evidence_records_decision ATTACH PARTITION public.evidence_records_2_org_id_kind_decision_id_idx;

ALTER INDEX public.evidence_records_effect ATTACH PARTITION public.evidence_records_2_org_id_kind_effect_id_id_idx;

ALTER INDEX public.evidence_records_run ATTACH PARTITION public.evidence_records_2_org_id_kind_evaluation_run_id_id_idx;

ALTER INDEX public.evidence_records_explanation ATTACH PARTITION public.evidence_records_2_org_id_kind_explanation_id_id_idx;

ALTER INDEX public.evidence_records_failure ATTACH PARTITION public.evidence_records_2_org_id_kind_failure_key_id_idx;

ALTER INDEX public.evidence_records_mode ATTACH PARTITION public.evidence_records_2_org_id_kind_failure_mode_id_idx;

ALTER INDEX public.evidence_records_idempotency ATTACH PARTITION public.evidence_records_2_org_id_kind_idempotency_key_id_idx;

ALTER INDEX public.evidence_records_invocation ATTACH PARTITION public.evidence_records_2_org_id_kind_invocation_id_id_idx;

ALTER INDEX public.evidence_records_name ATTACH PARTITION public.evidence_records_2_org_id_kind_name_id_idx;

ALTER INDEX public.evidence_records_thing ATTACH PARTITION public.evidence_records_2_org_id_kind_name_idx;

ALTER INDEX public.evidence_records_event ATTACH PARTITION public.evidence_records_2_org_id_kind_raw_event_id_id_idx;

ALTER INDEX public.evidence_records_runtime_decision ATTACH PARTITION public.evidence_records_2_org_id_kind_runtime_id_decision_id_idx;

ALTER INDEX public.evidence_records_runtime ATTACH PARTITION public.evidence_records_2_org_id_kind_runtime_id_id_idx;

ALTER INDEX public.evidence_records_runtime_state ATTACH PARTITION public.evidence_records_2_org_id_kind_runtime_id_state_id_idx;

ALTER INDEX public.evidence_records_class ATTACH PARTITION public.evidence_records_2_org_id_kind_side_effect_class_id_idx;

ALTER INDEX public.evidence_records_state ATTACH PARTITION public.evidence_records_2_org_id_kind_state_id_idx;

ALTER INDEX public.evidence_records_step ATTACH PARTITION public.evidence_records_2_org_id_kind_step_id_id_idx;

ALTER INDEX public.evidence_records_tool ATTACH PARTITION public.evidence_records_2_org_id_kind_tool_id_id_idx;

ALTER INDEX public.evidence_records_trace ATTACH PARTITION public.evidence_records_2_org_id_trace_id_kind_id_idx;

ALTER INDEX public.evidence_records_pkey ATTACH PARTITION public.evidence_records_2_pkey;

ALTER INDEX public.evidence_records_action ATTACH PARTITION public.evidence_records_3_org_id_expr_idx;

ALTER INDEX public.evidence_records_id ATTACH PARTITION public.evidence_records_3_org_id_id_idx;

ALTER INDEX public.evidence_records_connector ATTACH PARTITION public.evidence_records_3_org_id_kind_connector_id_id_idx;

ALTER INDEX public.evidence_records_of_decision ATTACH PARTITION public.evidence_records_3_org_id_kind_decision_id_id_idx;

ALTER INDEX public.evidence_records_decision ATTACH PARTITION public.evidence_records_3_org_id_kind_decision_id_idx;

ALTER INDEX public.evidence_records_effect ATTACH PARTITION public.evidence_records_3_org_id_kind_effect_id_id_idx;

ALTER INDEX public.evidence_records_run ATTACH PARTITION public.evidence_records_3_org_id_kind_evaluation_run_id_id_idx;

ALTER INDEX public.evidence_records_explanation ATTACH PARTITION public.evidence_records_3_org_id_kind_explanation_id_id_idx;

ALTER INDEX public.evidence_records_failure ATTACH PARTITION public.evidence_records_3_org_id_kind_failure_key_id_idx;

ALTER INDEX public.evidence_records_mode ATTACH PARTITION public.evidence_records_3_org_id_kind_failure_mode_id_idx;

ALTER INDEX public.evidence_records_idempotency ATTACH PARTITION public.evidence_records_3_org_id_kind_idempotency_key_id_idx;

ALTER INDEX public.evidence_records_invocation ATTACH PARTITION public.evidence_records_3_org_id_kind_invocation_id_id_idx;

ALTER INDEX public.evidence_records_name ATTACH PARTITION public.evidence_records_3_org_id_kind_name_id_idx;

ALTER INDEX public.evidence_records_thing ATTACH PARTITION public.evidence_records_3_org_id_kind_name_idx;

ALTER INDEX public.evidence_records_event ATTACH PARTITION public.evidence_records_3_org_id_kind_raw_event_id_id_idx;

ALTER INDEX public.evidence_records_runtime_decision ATTACH PARTITION public.evidence_records_3_org_id_kind_runtime_id_decision_id_idx;

ALTER INDEX public.evidence_records_runtime ATTACH PARTITION public.evidence_records_3_org_id_kind_runtime_id_id_idx;

ALTER INDEX public.evidence_records_runtime_state ATTACH PARTITION public.evidence_records_3_org_id_kind_runtime_id_state_id_idx;

ALTER INDEX public.evidence_records_class ATTACH PARTITION public.evidence_records_3_org_id_kind_side_effect_class_id_idx;

ALTER INDEX public.evidence_records_state ATTACH PARTITION public.evidence_records_3_org_id_kind_state_id_idx;

ALTER INDEX public.evidence_records_step ATTACH PARTITION public.evidence_records_3_org_id_kind_step_id_id_idx;

ALTER INDEX public.evidence_records_tool ATTACH PARTITION public.evidence_records_3_org_id_kind_tool_id_id_idx;

ALTER INDEX public.evidence_records_trace ATTACH PARTITION public.evidence_records_3_org_id_trace_id_kind_id_idx;

ALTER INDEX public.evidence_records_pkey ATTACH PARTITION public.evidence_records_3_pkey;

ALTER INDEX public.evidence_records_action ATTACH PARTITION public.evidence_records_4_org_id_expr_idx;

ALTER INDEX public.evidence_records_id ATTACH PARTITION public.evidence_records_4_org_id_id_idx;

ALTER INDEX public.evidence_records_connector ATTACH PARTITION public.evidence_records_4_org_id_kind_connector_id_id_idx;

ALTER INDEX public.evidence_records_of_decision ATTACH PARTITION public.evidence_records_4_org_id_kind_decision_id_id_idx;

ALTER INDEX public.evidence_records_decision ATTACH PARTITION public.evidence_records_4_org_id_kind_decision_id_idx;

ALTER INDEX public.evidence_records_effect ATTACH PARTITION public.evidence_records_4_org_id_kind_effect_id_id_idx;

ALTER INDEX public.evidence_records_run ATTACH PARTITION public.evidence_records_4_org_id_kind_evaluation_run_id_id_idx;

ALTER INDEX public.evidence_records_explanation ATTACH PARTITION public.evidence_records_4_org_id_kind_explanation_id_id_idx;

ALTER INDEX public.evidence_records_failure ATTACH PARTITION public.evidence_records_4_org_id_kind_failure_key_id_idx;

ALTER INDEX public.evidence_records_mode ATTACH PARTITION public.evidence_records_4_org_id_kind_failure_mode_id_idx;

ALTER INDEX public.evidence_records_idempotency ATTACH PARTITION public.evidence_records_4_org_id_kind_idempotency_key_id_idx;

ALTER INDEX public.evidence_records_invocation ATTACH PARTITION public.evidence_records_4_org_id_kind_invocation_id_id_idx;

ALTER INDEX public.evidence_records_name ATTACH PARTITION public.evidence_records_4_org_id_kind_name_id_idx;

ALTER INDEX public.evidence_records_thing ATTACH PARTITION public.evidence_records_4_org_id_kind_name_idx;

ALTER INDEX public.evidence_records_event ATTACH PARTITION public.evidence_records_4_org_id_kind_raw_event_id_id_idx;

ALTER INDEX public.evidence_records_runtime_decision ATTACH PARTITION public.evidence_records_4_org_id_kind_runtime_id_decision_id_idx;

ALTER INDEX public.evidence_records_runtime ATTACH PARTITION public.evidence_records_4_org_id_kind_runtime_id_id_idx;

ALTER INDEX public.evidence_records_runtime_state ATTACH PARTITION public.evidence_records_4_org_id_kind_runtime_id_state_id_idx;

ALTER INDEX public.evidence_records_class ATTACH PARTITION public.evidence_records_4_org_id_kind_side_effect_class_id_idx;

ALTER INDEX public.evidence_records_state ATTACH PARTITION public.evidence_records_4_org_id_kind_state_id_idx;

ALTER INDEX public.evidence_records_step ATTACH PARTITION public.evidence_records_4_org_id_kind_step_id_id_idx;

ALTER INDEX public.evidence_records_tool ATTACH PARTITION public.evidence_records_4_org_id_kind_tool_id_id_idx;

ALTER INDEX public.evidence_records_trace ATTACH PARTITION public.evidence_records_4_org_id_trace_id_kind_id_idx;

ALTER INDEX public.evidence_records_pkey ATTACH PARTITION public.evidence_records_4_pkey;

ALTER INDEX public.evidence_records_action ATTACH PARTITION public.evidence_records_5_org_id_expr_idx;

ALTER INDEX public.evidence_records_id ATTACH PARTITION public.evidence_records_5_org_id_id_idx;

ALTER INDEX public.evidence_records_connector ATTACH PARTITION public.evidence_records_5_org_id_kind_connector_id_id_idx;

ALTER INDEX public.evidence_records_of_decision ATTACH PARTITION public.evidence_records_5_org_id_kind_decision_id_id_idx;

ALTER INDEX public.evidence_records_decision ATTACH PARTITION public.evidence_records_5_org_id_kind_decision_id_idx;

ALTER INDEX public.evidence_records_effect ATTACH PARTITION public.evidence_records_5_org_id_kind_effect_id_id_idx;

ALTER INDEX public.evidence_records_run ATTACH PARTITION public.evidence_records_5_org_id_kind_evaluation_run_id_id_idx;

ALTER INDEX public.evidence_records_explanation ATTACH PARTITION public.evidence_records_5_org_id_kind_explanation_id_id_idx;

ALTER INDEX public.evidence_records_failure ATTACH PARTITION public.evidence_records_5_org_id_kind_failure_key_id_idx;

ALTER INDEX public.evidence_records_mode ATTACH PARTITION public.evidence_records_5_org_id_kind_failure_mode_id_idx;

ALTER INDEX public.evidence_records_idempotency ATTACH PARTITION public.evidence_records_5_org_id_kind_idempotency_key_id_idx;

ALTER INDEX public.evidence_records_invocation ATTACH PARTITION public.evidence_records_5_org_id_kind_invocation_id_id_idx;

ALTER INDEX public.evidence_records_name ATTACH PARTITION public.evidence_records_5_org_id_kind_name_id_idx;

ALTER INDEX public.evidence_records_thing ATTACH PARTITION public.evidence_records_5_org_id_kind_name_idx;

ALTER INDEX public.evidence_records_event ATTACH PARTITION public.evidence_records_5_org_id_kind_raw_event_id_id_idx;

ALTER INDEX public.evidence_records_runtime_decision ATTACH PARTITION public.evidence_records_5_org_id_kind_runtime_id_decision_id_idx;

ALTER INDEX public.evidence_records_runtime ATTACH PARTITION public.evidence_records_5_org_id_kind_runtime_id_id_idx;

ALTER INDEX public.evidence_records_runtime_state ATTACH PARTITION public.evidence_records_5_org_id_kind_runtime_id_state_id_idx;

ALTER INDEX public.evidence_records_class ATTACH PARTITION public.evidence_records_5_org_id_kind_side_effect_class_id_idx;

ALTER INDEX public.evidence_records_state ATTACH PARTITION public.evidence_records_5_org_id_kind_state_id_idx;

ALTER INDEX public.evidence_records_step ATTACH PARTITION public.evidence_records_5_org_id_kind_step_id_id_idx;

ALTER INDEX public.evidence_records_tool ATTACH PARTITION public.evidence_records_5_org_id_kind_tool_id_id_idx;

ALTER INDEX public.evidence_records_trace ATTACH PARTITION public.evidence_records_5_org_id_trace_id_kind_id_idx;

ALTER INDEX public.evidence_records_pkey ATTACH PARTITION public.evidence_records_5_pkey;

ALTER INDEX public.evidence_records_action ATTACH PARTITION public.evidence_records_6_org_id_expr_idx;

ALTER INDEX public.evidence_records_id ATTACH PARTITION public.evidence_records_6_org_id_id_idx;

ALTER INDEX public.evidence_records_connector ATTACH PARTITION public.evidence_records_6_org_id_kind_connector_id_id_idx;

ALTER INDEX public.evidence_records_of_decision ATTACH PARTITION public.evidence_records_6_org_id_kind_decision_id_id_idx;

ALTER INDEX public.evidence_records_decision ATTACH PARTITION public.evidence_records_6_org_id_kind_decision_id_idx;

ALTER INDEX public.evidence_records_effect ATTACH PARTITION public.evidence_records_6_org_id_kind_effect_id_id_idx;

ALTER INDEX public.evidence_records_run ATTACH PARTITION public.evidence_records_6_org_id_kind_evaluation_run_id_id_idx;

ALTER INDEX public.evidence_records_explanation ATTACH PARTITION public.evidence_records_6_org_id_kind_explanation_id_id_idx;

ALTER INDEX public.evidence_records_failure ATTACH PARTITION public.evidence_records_6_org_id_kind_failure_key_id_idx;

ALTER INDEX public.evidence_records_mode ATTACH PARTITION public.evidence_records_6_org_id_kind_failure_mode_id_idx;

ALTER INDEX public.evidence_records_idempotency ATTACH PARTITION public.evidence_records_6_org_id_kind_idempotency_key_id_idx;

ALTER INDEX public.evidence_records_invocation ATTACH PARTITION public.evidence_records_6_org_id_kind_invocation_id_id_idx;

ALTER INDEX public.evidence_records_name ATTACH PARTITION public.evidence_records_6_org_id_kind_name_id_idx;

ALTER INDEX public.evidence_records_thing ATTACH PARTITION public.evidence_records_6_org_id_kind_name_idx;

ALTER INDEX public.evidence_records_event ATTACH PARTITION public.evidence_records_6_org_id_kind_raw_event_id_id_idx;

ALTER INDEX public.evidence_records_runtime_decision ATTACH PARTITION public.evidence_records_6_org_id_kind_runtime_id_decision_id_idx;

ALTER INDEX public.evidence_records_runtime ATTACH PARTITION public.evidence_records_6_org_id_kind_runtime_id_id_idx;

ALTER INDEX public.evidence_records_runtime_state ATTACH PARTITION public.evidence_records_6_org_id_kind_runtime_id_state_id_idx;

ALTER INDEX public.evidence_records_class ATTACH PARTITION public.evidence_records_6_org_id_kind_side_effect_class_id_idx;

ALTER INDEX public.evidence_records_state ATTACH PARTITION public.evidence_records_6_org_id_kind_state_id_idx;

ALTER INDEX public.evidence_records_step ATTACH PARTITION public.evidence_records_6_org_id_kind_step_id_id_idx;

ALTER INDEX public.evidence_records_tool ATTACH PARTITION public.evidence_records_6_org_id_kind_tool_id_id_idx;

ALTER INDEX public.evidence_records_trace ATTACH PARTITION public.evidence_records_6_org_id_trace_id_kind_id_idx;

ALTER INDEX public.evidence_records_pkey ATTACH PARTITION public.evidence_records_6_pkey;

ALTER INDEX public.evidence_records_action ATTACH PARTITION public.evidence_records_7_org_id_expr_idx;

ALTER INDEX public.evidence_records_id ATTACH PARTITION public.evidence_records_7_org_id_id_idx;

ALTER INDEX public.evidence_records_connector ATTACH PARTITION public.evidence_records_7_org_id_kind_connector_id_id_idx;

ALTER INDEX public.evidence_records_of_decision ATTACH PARTITION public.evidence_records_7_org_id_kind_decision_id_id_idx;

ALTER INDEX public.evidence_records_decision ATTACH PARTITION public.evidence_records_7_org_id_kind_decision_id_idx;

ALTER INDEX public.evidence_records_effect ATTACH PARTITION public.evidence_records_7_org_id_kind_effect_id_id_idx;

ALTER INDEX public.evidence_records_run ATTACH PARTITION public.evidence_records_7_org_id_kind_evaluation_run_id_id_idx;

ALTER INDEX public.evidence_records_explanation ATTACH PARTITION public.evidence_records_7_org_id_kind_explanation_id_id_idx;

ALTER INDEX public.evidence_records_failure ATTACH PARTITION public.evidence_records_7_org_id_kind_failure_key_id_idx;

ALTER INDEX public.evidence_records_mode ATTACH PARTITION public.evidence_records_7_org_id_kind_failure_mode_id_idx;

ALTER INDEX public.evidence_records_idempotency ATTACH PARTITION public.evidence_records_7_org_id_kind_idempotency_key_id_idx;

ALTER INDEX public.evidence_records_invocation ATTACH PARTITION public.evidence_records_7_org_id_kind_invocation_id_id_idx;

ALTER INDEX public.evidence_records_name ATTACH PARTITION public.evidence_records_7_org_id_kind_name_id_idx;

ALTER INDEX public.evidence_records_thing ATTACH PARTITION public.evidence_records_7_org_id_kind_name_idx;

ALTER INDEX public.evidence_records_event ATTACH PARTITION public.evidence_records_7_org_id_kind_raw_event_id_id_idx;

ALTER INDEX public.evidence_records_runtime_decision ATTACH PARTITION public.evidence_records_7_org_id_kind_runtime_id_decision_id_idx;

ALTER INDEX public.evidence_records_runtime ATTACH PARTITION public.evidence_records_7_org_id_kind_runtime_id_id_idx;

ALTER INDEX public.evidence_records_runtime_state ATTACH PARTITION public.evidence_records_7_org_id_kind_runtime_id_state_id_idx;

ALTER INDEX public.evidence_records_class ATTACH PARTITION public.evidence_records_7_org_id_kind_side_effect_class_id_idx;

ALTER INDEX public.evidence_records_state ATTACH PARTITION public.evidence_records_7_org_id_kind_state_id_idx;

ALTER INDEX public.evidence_records_step ATTACH PARTITION public.evidence_records_7_org_id_kind_step_id_id_idx;

ALTER INDEX public.evidence_records_tool ATTACH PARTITION public.evidence_records_7_org_id_kind_tool_id_id_idx;

ALTER INDEX public.evidence_records_trace ATTACH PARTITION public.evidence_records_7_org_id_trace_id_kind_id_idx;

ALTER INDEX public.evidence_records_pkey ATTACH PARTITION public.evidence_records_7_pkey;

CREATE TRIGGER entry_active BEFORE INSERT OR UPDATE OF ground_truth_id ON public.ground_truth_entries FOR EACH ROW EXECUTE FUNCTION public.entry_active();

CREATE TRIGGER event BEFORE INSERT ON public.outbox FOR EACH ROW WHEN ((new.topic = 'event'::text)) EXECUTE FUNCTION public.outbox_event();

CREATE TRIGGER item_bytes BEFORE INSERT OR UPDATE OF content ON public.dataset_items FOR EACH ROW EXECUTE FUNCTION public.item_bytes();

CREATE TRIGGER item_ended BEFORE UPDATE OF valid_to ON public.dataset_items FOR EACH ROW WHEN ((old.valid_to IS NOT NULL)) EXECUTE FUNCTION public.item_frozen();

CREATE TRIGGER item_frozen BEFORE DELETE OR UPDATE OF content, digest, split, weight, valid_from ON public.dataset_items FOR EACH ROW EXECUTE FUNCTION public.item_frozen();

CREATE TRIGGER item_side BEFORE INSERT OR UPDATE OF assessed, split ON public.dataset_items FOR EACH ROW WHEN (((new.assessed IS NOT NULL) AND (new.valid_to IS NULL))) EXECUTE FUNCTION public.item_side();

CREATE TRIGGER promise_feedback INSTEAD OF INSERT OR DELETE ON public.trace_feedback FOR EACH ROW EXECUTE FUNCTION public.promise_feedback();

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_org_id_user_id_fkey FOREIGN KEY (org_id, user_id) REFERENCES public.members(org_id, user_id);

ALTER TABLE ONLY public.adjudication_contents
    ADD CONSTRAINT adjudication_contents_org_id_item_id_fkey FOREIGN KEY (org_id, item_id) REFERENCES public.adjudication_items(org_id, id);

ALTER TABLE ONLY public.adjudication_decisions
    ADD CONSTRAINT adjudication_decisions_org_id_item_id_fkey FOREIGN KEY (org_id, item_id) REFERENCES public.adjudication_items(org_id, id);

ALTER TABLE ONLY public.adjudication_items
    ADD CONSTRAINT adjudication_items_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.adjudication_sets
    ADD CONSTRAINT adjudication_sets_org_id_dataset_id_fkey FOREIGN KEY (org_id, dataset_id) REFERENCES public.datasets(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.annotation_imports
    ADD CONSTRAINT annotation_imports_org_id_item_id_fkey FOREIGN KEY (org_id, item_id) REFERENCES public.annotation_items(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.annotation_items
    ADD CONSTRAINT annotation_items_org_id_task_id_fkey FOREIGN KEY (org_id, task_id) REFERENCES public.annotation_tasks(org_id, id);

ALTER TABLE ONLY public.annotation_leases
    ADD CONSTRAINT annotation_leases_org_id_item_id_fkey FOREIGN KEY (org_id, item_id) REFERENCES public.annotation_items(org_id, id);

ALTER TABLE ONLY public.annotation_places
    ADD CONSTRAINT annotation_places_org_id_task_id_fkey FOREIGN KEY (org_id, task_id) REFERENCES public.annotation_tasks(org_id, id);

ALTER TABLE ONLY public.annotation_revisions
    ADD CONSTRAINT annotation_revisions_org_id_annotation_id_fkey FOREIGN KEY (org_id, annotation_id) REFERENCES public.annotations(org_id, id);

ALTER TABLE ONLY public.annotation_skips
    ADD CONSTRAINT annotation_skips_org_id_item_id_fkey FOREIGN KEY (org_id, item_id) REFERENCES public.annotation_items(org_id, id);

ALTER TABLE ONLY public.annotation_tasks
    ADD CONSTRAINT annotation_tasks_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.annotation_truths
    ADD CONSTRAINT annotation_truths_org_id_item_id_fkey FOREIGN KEY (org_id, item_id) REFERENCES public.annotation_items(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.annotations
    ADD CONSTRAINT annotations_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_org_id_created_by_fkey FOREIGN KEY (org_id, created_by) REFERENCES public.members(org_id, user_id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_org_id_owner_id_fkey FOREIGN KEY (org_id, owner_id) REFERENCES public.members(org_id, user_id);

ALTER TABLE ONLY public.approval_votes
    ADD CONSTRAINT approval_votes_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.assessed_contents
    ADD CONSTRAINT assessed_contents_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.data_keys
    ADD CONSTRAINT data_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.dataset_holds
    ADD CONSTRAINT dataset_holds_org_id_dataset_id_fkey FOREIGN KEY (org_id, dataset_id) REFERENCES public.datasets(org_id, id);

ALTER TABLE ONLY public.dataset_items
    ADD CONSTRAINT dataset_items_org_id_dataset_id_fkey FOREIGN KEY (org_id, dataset_id) REFERENCES public.datasets(org_id, id);

ALTER TABLE ONLY public.dataset_versions
    ADD CONSTRAINT dataset_versions_org_id_dataset_id_fkey FOREIGN KEY (org_id, dataset_id) REFERENCES public.datasets(org_id, id);

ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT datasets_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.evaluation_artifacts
    ADD CONSTRAINT evaluation_artifacts_org_id_evaluation_id_fkey FOREIGN KEY (org_id, evaluation_id) REFERENCES public.evaluations(org_id, id);

ALTER TABLE ONLY public.evaluation_artifacts
    ADD CONSTRAINT evaluation_artifacts_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.evaluation_artifacts
    ADD CONSTRAINT evaluation_artifacts_org_id_run_id_fkey FOREIGN KEY (org_id, run_id) REFERENCES public.evaluation_runs(org_id, id);

ALTER TABLE ONLY public.evaluation_run_chunks
    ADD CONSTRAINT evaluation_run_chunks_org_id_run_id_fkey FOREIGN KEY (org_id, run_id) REFERENCES public.evaluation_runs(org_id, id);

ALTER TABLE ONLY public.evaluation_run_items
    ADD CONSTRAINT evaluation_run_items_org_id_run_id_fkey FOREIGN KEY (org_id, run_id) REFERENCES public.evaluation_runs(org_id, id);

ALTER TABLE ONLY public.evaluation_run_notes
    ADD CONSTRAINT evaluation_run_notes_org_id_run_id_fkey FOREIGN KEY (org_id, run_id) REFERENCES public.evaluation_runs(org_id, id);

ALTER TABLE ONLY public.evaluation_runs
    ADD CONSTRAINT evaluation_runs_org_id_evaluation_id_fkey FOREIGN KEY (org_id, evaluation_id) REFERENCES public.evaluations(org_id, id);

ALTER TABLE ONLY public.evaluation_runs
    ADD CONSTRAINT evaluation_runs_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.evaluations
    ADD CONSTRAINT evaluations_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.evidence_cursors
    ADD CONSTRAINT evidence_cursors_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE public.evidence_history
    ADD CONSTRAINT evidence_history_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.evidence_leases
    ADD CONSTRAINT evidence_leases_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.evidence_normalizations
    ADD CONSTRAINT evidence_normalizations_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE public.evidence_records
    ADD CONSTRAINT evidence_records_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.gate_decisions
    ADD CONSTRAINT gate_decisions_org_id_evaluation_id_fkey FOREIGN KEY (org_id, evaluation_id) REFERENCES public.evaluations(org_id, id);

ALTER TABLE ONLY public.gate_decisions
    ADD CONSTRAINT gate_decisions_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.gate_decisions
    ADD CONSTRAINT gate_decisions_org_id_run_id_fkey FOREIGN KEY (org_id, run_id) REFERENCES public.evaluation_runs(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.ground_truth_entries
    ADD CONSTRAINT ground_truth_entries_org_id_dataset_id_fkey FOREIGN KEY (org_id, dataset_id) REFERENCES public.datasets(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.ground_truth_entries
    ADD CONSTRAINT ground_truth_entries_org_id_item_id_ground_truth_id_fkey FOREIGN KEY (org_id, item_id, ground_truth_id) REFERENCES public.ground_truths(org_id, item_id, id);

ALTER TABLE ONLY public.ground_truths
    ADD CONSTRAINT ground_truths_org_id_item_id_decision_id_decision_fkey FOREIGN KEY (org_id, item_id, decision_id, decision) REFERENCES public.adjudication_decisions(org_id, item_id, id, decision);

ALTER TABLE ONLY public.ground_truths
    ADD CONSTRAINT ground_truths_org_id_supersedes_id_fkey FOREIGN KEY (org_id, supersedes_id) REFERENCES public.ground_truths(org_id, id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_org_id_user_id_fkey FOREIGN KEY (org_id, user_id) REFERENCES public.members(org_id, user_id);

ALTER TABLE ONLY public.judge_conditions
    ADD CONSTRAINT judge_conditions_org_id_config_id_number_fkey FOREIGN KEY (org_id, config_id, number) REFERENCES public.judge_versions(org_id, config_id, number);

ALTER TABLE ONLY public.judge_configs
    ADD CONSTRAINT judge_configs_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.judge_probe_verdicts
    ADD CONSTRAINT judge_probe_verdicts_org_id_probe_id_fkey FOREIGN KEY (org_id, probe_id) REFERENCES public.judge_probes(org_id, id);

ALTER TABLE ONLY public.judge_probes
    ADD CONSTRAINT judge_probes_org_id_config_id_fkey FOREIGN KEY (org_id, config_id) REFERENCES public.judge_configs(org_id, id);

ALTER TABLE ONLY public.judge_rule_backfills
    ADD CONSTRAINT judge_rule_backfills_org_id_rule_id_fkey FOREIGN KEY (org_id, rule_id) REFERENCES public.judge_rules(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.judge_rule_claims
    ADD CONSTRAINT judge_rule_claims_org_id_rule_id_fkey FOREIGN KEY (org_id, rule_id) REFERENCES public.judge_rules(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.judge_rule_cursors
    ADD CONSTRAINT judge_rule_cursors_org_id_rule_id_fkey FOREIGN KEY (org_id, rule_id) REFERENCES public.judge_rules(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.judge_rule_tallies
    ADD CONSTRAINT judge_rule_tallies_org_id_rule_id_fkey FOREIGN KEY (org_id, rule_id) REFERENCES public.judge_rules(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.judge_rules
    ADD CONSTRAINT judge_rules_org_id_config_id_fkey FOREIGN KEY (org_id, config_id) REFERENCES public.judge_configs(org_id, id);

ALTER TABLE ONLY public.judge_rules
    ADD CONSTRAINT judge_rules_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.judge_versions
    ADD CONSTRAINT judge_versions_org_id_config_id_fkey FOREIGN KEY (org_id, config_id) REFERENCES public.judge_configs(org_id, id);

ALTER TABLE ONLY public.judge_watch_answers
    ADD CONSTRAINT judge_watch_answers_org_id_watch_id_fkey FOREIGN KEY (org_id, watch_id) REFERENCES public.judge_watches(org_id, id);

ALTER TABLE ONLY public.judge_watch_checks
    ADD CONSTRAINT judge_watch_checks_org_id_watch_id_fkey FOREIGN KEY (org_id, watch_id) REFERENCES public.judge_watches(org_id, id);

ALTER TABLE ONLY public.judge_watches
    ADD CONSTRAINT judge_watches_org_id_config_id_config_version_fkey FOREIGN KEY (org_id, config_id, config_version) REFERENCES public.judge_versions(org_id, config_id, number);

ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.model_answers
    ADD CONSTRAINT model_answers_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.model_spends
    ADD CONSTRAINT model_spends_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.policy_actions
    ADD CONSTRAINT policy_actions_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.policy_sets
    ADD CONSTRAINT policy_sets_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.policy_versions
    ADD CONSTRAINT policy_versions_org_id_policy_id_fkey FOREIGN KEY (org_id, policy_id) REFERENCES public.policies(org_id, id);

ALTER TABLE ONLY public.provider_keys
    ADD CONSTRAINT provider_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_org_id_user_id_fkey FOREIGN KEY (org_id, user_id) REFERENCES public.members(org_id, user_id);

ALTER TABLE ONLY public.trace_deletions
    ADD CONSTRAINT trace_deletions_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.trace_refs
    ADD CONSTRAINT trace_refs_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.views
    ADD CONSTRAINT views_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.views
    ADD CONSTRAINT views_org_id_owner_id_fkey FOREIGN KEY (org_id, owner_id) REFERENCES public.members(org_id, user_id);

ALTER TABLE public.accounts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.adjudication_contents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.adjudication_decisions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.adjudication_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.adjudication_sets ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.annotation_imports ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.annotation_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.annotation_leases ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.annotation_places ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.annotation_revisions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.annotation_skips ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.annotation_tasks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.annotation_truths ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.annotations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.api_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_votes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.assessed_contents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_logs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.data_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.dataset_holds ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.dataset_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.dataset_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.datasets ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.deletion_certificates ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evaluation_artifacts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evaluation_run_chunks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evaluation_run_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evaluation_run_notes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evaluation_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evaluations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_cursors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_history ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_history_0 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_history_1 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_history_2 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_history_3 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_history_4 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_history_5 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_history_6 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_history_7 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_keys_0 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_keys_1 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_keys_2 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_keys_3 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_keys_4 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_keys_5 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_keys_6 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_keys_7 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_leases ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_normalizations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_records ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_records_0 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_records_1 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_records_2 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_records_3 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_records_4 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_records_5 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_records_6 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_records_7 ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.followers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.gate_decisions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.ground_truth_entries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.ground_truths ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.idempotency_keys ENABLE ROW LEVEL SECURITY;

CREATE POLICY immutable ON public.audit_logs AS RESTRICTIVE FOR DELETE USING (((org_id)::text = NULLIF(current_setting('app.erase'::text, true), ''::text)));

CREATE POLICY immutable ON public.events AS RESTRICTIVE FOR DELETE USING (((org_id)::text = NULLIF(current_setting('app.erase'::text, true), ''::text)));

CREATE POLICY immutable ON public.evidence_history AS RESTRICTIVE FOR DELETE USING (((org_id)::text = NULLIF(current_setting('app.erase'::text, true), ''::text)));

CREATE POLICY immutable ON public.evidence_keys AS RESTRICTIVE FOR DELETE USING (((expires < CURRENT_DATE) OR ((org_id)::text = NULLIF(current_setting('app.erase'::text, true), ''::text))));

CREATE POLICY immutable ON public.evidence_records AS RESTRICTIVE FOR DELETE USING (((org_id)::text = NULLIF(current_setting('app.erase'::text, true), ''::text)));

ALTER TABLE public.invitations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_conditions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_configs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_probe_verdicts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_probes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_rule_backfills ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_rule_claims ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_rule_cursors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_rule_tallies ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_rules ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_watch_answers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_watch_checks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.judge_watches ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.key_peppers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.members ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.model_answers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.model_spends ENABLE ROW LEVEL SECURITY;

CREATE POLICY org ON public.accounts USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.adjudication_contents USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.adjudication_decisions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.adjudication_items USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.adjudication_sets USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.annotation_imports USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.annotation_items USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.annotation_leases USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.annotation_places USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.annotation_revisions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.annotation_skips USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.annotation_tasks USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.annotation_truths USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.annotations USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.api_keys USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.approval_votes USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.assessed_contents USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.audit_logs USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.data_keys USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.dataset_holds USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.dataset_items USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.dataset_versions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.datasets USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.deletion_certificates USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evaluation_artifacts USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evaluation_run_chunks USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evaluation_run_items USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evaluation_run_notes USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evaluation_runs USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evaluations USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.events USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_cursors USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_history USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_history_0 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_history_1 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_history_2 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_history_3 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_history_4 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_history_5 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_history_6 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_history_7 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_keys USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_keys_0 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_keys_1 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_keys_2 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_keys_3 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_keys_4 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_keys_5 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_keys_6 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_keys_7 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_leases USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_normalizations USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_records USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_records_0 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_records_1 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_records_2 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_records_3 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_records_4 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_records_5 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_records_6 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.evidence_records_7 USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.gate_decisions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.ground_truth_entries USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.ground_truths USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.idempotency_keys USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.invitations USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_conditions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_configs USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_probe_verdicts USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_probes USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_rule_backfills USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_rule_claims USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_rule_cursors USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_rule_tallies USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_rules USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_versions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_watch_answers USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_watch_checks USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.judge_watches USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.members USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.model_answers USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.model_spends USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.organizations USING ((id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.outbox USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.policies USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.policy_actions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.policy_sets USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.policy_versions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.provider_keys USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.sessions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.trace_deletions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.trace_refs USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.views USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

ALTER TABLE public.organizations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.outbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.policies ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.policy_actions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.policy_sets ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.policy_versions ENABLE ROW LEVEL SECURITY;

CREATE POLICY presented ON public.api_keys FOR SELECT USING ((key_id = NULLIF(current_setting('app.api_key'::text, true), ''::text)));

CREATE POLICY presented ON public.members FOR SELECT USING (((org_id, user_id) IN ( SELECT k.org_id,
    k.owner_id
   FROM public.api_keys k
  WHERE (k.key_id = NULLIF(current_setting('app.api_key'::text, true), ''::text)))));

CREATE POLICY presented ON public.organizations FOR SELECT USING ((id IN ( SELECT k.org_id
   FROM public.api_keys k
  WHERE (k.key_id = NULLIF(current_setting('app.api_key'::text, true), ''::text)))));

ALTER TABLE public.provider_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.sessions ENABLE ROW LEVEL SECURITY;

CREATE POLICY sweep ON public.data_keys USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'data_keys'::text));

CREATE POLICY sweep ON public.events FOR SELECT USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'events'::text));

CREATE POLICY sweep ON public.evidence_keys FOR DELETE USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'evidence_keys'::text));

CREATE POLICY sweep ON public.evidence_leases FOR DELETE USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'evidence_keys'::text));

CREATE POLICY sweep ON public.followers USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'events'::text));

CREATE POLICY sweep ON public.idempotency_keys FOR DELETE USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'idempotency_keys'::text));

CREATE POLICY sweep ON public.key_peppers USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'key_peppers'::text));

CREATE POLICY sweep ON public.model_answers FOR DELETE USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'model_answers'::text));

CREATE POLICY sweep ON public.outbox USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'outbox'::text));

CREATE POLICY sweep ON public.policy_actions FOR DELETE USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'policy_actions'::text));

CREATE POLICY sweep_find ON public.evidence_keys FOR SELECT USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'evidence_keys'::text));

CREATE POLICY sweep_find ON public.evidence_leases FOR SELECT USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'evidence_keys'::text));

CREATE POLICY sweep_find ON public.idempotency_keys FOR SELECT USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'idempotency_keys'::text));

CREATE POLICY sweep_find ON public.model_answers FOR SELECT USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'model_answers'::text));

CREATE POLICY sweep_find ON public.policy_actions FOR SELECT USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'policy_actions'::text));

ALTER TABLE public.trace_deletions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.trace_refs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.views ENABLE ROW LEVEL SECURITY;
