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

CREATE FUNCTION public.item_bytes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NEW.bytes := octet_length(NEW.content::text);
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
    CONSTRAINT members_email_check CHECK (((length(email) >= 3) AND (length(email) <= 320))),
    CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'annotator'::text, 'viewer'::text]))),
    CONSTRAINT members_status_check CHECK ((status = ANY (ARRAY['invited'::text, 'active'::text])))
);
ALTER TABLE ONLY public.members ALTER COLUMN email SET STATISTICS 0;
ALTER TABLE ONLY public.members ALTER COLUMN name SET STATISTICS 0;

ALTER TABLE ONLY public.members FORCE ROW LEVEL SECURITY;

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

ALTER TABLE ONLY public.audit_logs ALTER COLUMN id SET DEFAULT nextval('public.audit_log_ids'::regclass);

ALTER TABLE ONLY public.events ALTER COLUMN id SET DEFAULT nextval('public.event_ids'::regclass);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_id_key UNIQUE (key_id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (org_id, id);

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

ALTER TABLE ONLY public.followers
    ADD CONSTRAINT followers_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.gate_decisions
    ADD CONSTRAINT gate_decisions_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (org_id, method, path, key);

ALTER TABLE ONLY public.key_peppers
    ADD CONSTRAINT key_peppers_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (org_id, user_id);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.provider_keys
    ADD CONSTRAINT provider_keys_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.trace_deletions
    ADD CONSTRAINT trace_deletions_pkey PRIMARY KEY (org_id, id);

ALTER TABLE ONLY public.trace_refs
    ADD CONSTRAINT trace_refs_org_id_trace_id_key UNIQUE (org_id, trace_id);

ALTER TABLE ONLY public.trace_refs
    ADD CONSTRAINT trace_refs_pkey PRIMARY KEY (org_id, trace_ref);

ALTER TABLE ONLY public.views
    ADD CONSTRAINT views_pkey PRIMARY KEY (org_id, id);

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

CREATE UNIQUE INDEX dataset_items_current ON public.dataset_items USING btree (org_id, dataset_id, id) WHERE (valid_to IS NULL);

CREATE UNIQUE INDEX dataset_items_current_digest ON public.dataset_items USING btree (org_id, dataset_id, digest) WHERE (valid_to IS NULL);

CREATE INDEX datasets_current ON public.datasets USING btree (org_id, id) WHERE (deleted_at IS NULL);

CREATE INDEX evaluation_artifacts_evaluation ON public.evaluation_artifacts USING btree (org_id, evaluation_id, id);

CREATE INDEX evaluation_runs_evaluation ON public.evaluation_runs USING btree (org_id, evaluation_id, id);

CREATE INDEX evaluation_runs_passed ON public.evaluation_runs USING btree (org_id, evaluation_id, id) WHERE (verdict = 'PASS'::text);

CREATE INDEX evaluation_runs_running ON public.evaluation_runs USING btree (org_id, id) WHERE (status = 'running'::text);

CREATE INDEX events_order ON ONLY public.events USING btree (xid, id);

CREATE INDEX events_default_xid_id_idx ON public.events_default USING btree (xid, id);

CREATE INDEX gate_decisions_run ON public.gate_decisions USING btree (org_id, run_id, id);

CREATE INDEX idempotency_keys_created ON public.idempotency_keys USING btree (created_at);

CREATE UNIQUE INDEX members_email ON public.members USING btree (org_id, lower(email)) WHERE (removed_at IS NULL);
ALTER INDEX public.members_email ALTER COLUMN 2 SET STATISTICS 0;

CREATE INDEX members_order ON public.members USING btree (org_id, created_at, user_id) WHERE (removed_at IS NULL);

CREATE INDEX outbox_due ON public.outbox USING btree (topic, due_at, id);

CREATE INDEX outbox_subject ON public.outbox USING btree (org_id, topic, subject);

CREATE UNIQUE INDEX provider_keys_name ON public.provider_keys USING btree (org_id, name) WHERE (deleted_at IS NULL);

CREATE INDEX trace_deletions_trace ON public.trace_deletions USING btree (org_id, trace_id, id);

CREATE UNIQUE INDEX views_name ON public.views USING btree (org_id, list, owner_id, name) NULLS NOT DISTINCT;

ALTER INDEX public.audit_logs_action ATTACH PARTITION public.audit_logs_default_org_id_action_id_idx;

ALTER INDEX public.audit_logs_at ATTACH PARTITION public.audit_logs_default_org_id_at_idx;

ALTER INDEX public.audit_logs_resource ATTACH PARTITION public.audit_logs_default_org_id_resource_type_resource_id_id_idx;

ALTER INDEX public.audit_logs_user ATTACH PARTITION public.audit_logs_default_org_id_user_id_id_idx;

ALTER INDEX public.audit_logs_pkey ATTACH PARTITION public.audit_logs_default_pkey;

ALTER INDEX public.events_pkey ATTACH PARTITION public.events_default_pkey;

ALTER INDEX public.events_order ATTACH PARTITION public.events_default_xid_id_idx;

CREATE TRIGGER event BEFORE INSERT ON public.outbox FOR EACH ROW WHEN ((new.topic = 'event'::text)) EXECUTE FUNCTION public.outbox_event();

CREATE TRIGGER item_bytes BEFORE INSERT OR UPDATE OF content ON public.dataset_items FOR EACH ROW EXECUTE FUNCTION public.item_bytes();

CREATE TRIGGER promise_feedback INSTEAD OF INSERT OR DELETE ON public.trace_feedback FOR EACH ROW EXECUTE FUNCTION public.promise_feedback();

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_org_id_created_by_fkey FOREIGN KEY (org_id, created_by) REFERENCES public.members(org_id, user_id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_org_id_owner_id_fkey FOREIGN KEY (org_id, owner_id) REFERENCES public.members(org_id, user_id);

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

ALTER TABLE ONLY public.gate_decisions
    ADD CONSTRAINT gate_decisions_org_id_evaluation_id_fkey FOREIGN KEY (org_id, evaluation_id) REFERENCES public.evaluations(org_id, id);

ALTER TABLE ONLY public.gate_decisions
    ADD CONSTRAINT gate_decisions_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.gate_decisions
    ADD CONSTRAINT gate_decisions_org_id_run_id_fkey FOREIGN KEY (org_id, run_id) REFERENCES public.evaluation_runs(org_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.provider_keys
    ADD CONSTRAINT provider_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.trace_deletions
    ADD CONSTRAINT trace_deletions_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.trace_refs
    ADD CONSTRAINT trace_refs_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.views
    ADD CONSTRAINT views_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.views
    ADD CONSTRAINT views_org_id_owner_id_fkey FOREIGN KEY (org_id, owner_id) REFERENCES public.members(org_id, user_id);

ALTER TABLE public.api_keys ENABLE ROW LEVEL SECURITY;

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

ALTER TABLE public.followers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.gate_decisions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.idempotency_keys ENABLE ROW LEVEL SECURITY;

CREATE POLICY immutable ON public.audit_logs AS RESTRICTIVE FOR DELETE USING (((org_id)::text = NULLIF(current_setting('app.erase'::text, true), ''::text)));

CREATE POLICY immutable ON public.events AS RESTRICTIVE FOR DELETE USING (((org_id)::text = NULLIF(current_setting('app.erase'::text, true), ''::text)));

ALTER TABLE public.key_peppers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.members ENABLE ROW LEVEL SECURITY;

CREATE POLICY org ON public.api_keys USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

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

CREATE POLICY org ON public.gate_decisions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.idempotency_keys USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.members USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.organizations USING ((id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.outbox USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.provider_keys USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.trace_deletions USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.trace_refs USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

CREATE POLICY org ON public.views USING ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid)) WITH CHECK ((org_id = (NULLIF(current_setting('app.org'::text, true), ''::text))::uuid));

ALTER TABLE public.organizations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.outbox ENABLE ROW LEVEL SECURITY;

CREATE POLICY presented ON public.api_keys FOR SELECT USING ((key_id = NULLIF(current_setting('app.api_key'::text, true), ''::text)));

CREATE POLICY presented ON public.members FOR SELECT USING (((org_id, user_id) IN ( SELECT k.org_id,
    k.owner_id
   FROM public.api_keys k
  WHERE (k.key_id = NULLIF(current_setting('app.api_key'::text, true), ''::text)))));

CREATE POLICY presented ON public.organizations FOR SELECT USING ((id IN ( SELECT k.org_id
   FROM public.api_keys k
  WHERE (k.key_id = NULLIF(current_setting('app.api_key'::text, true), ''::text)))));

ALTER TABLE public.provider_keys ENABLE ROW LEVEL SECURITY;

CREATE POLICY sweep ON public.data_keys USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'data_keys'::text));

CREATE POLICY sweep ON public.events FOR SELECT USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'events'::text));

CREATE POLICY sweep ON public.followers USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'events'::text));

CREATE POLICY sweep ON public.idempotency_keys FOR DELETE USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'idempotency_keys'::text));

CREATE POLICY sweep ON public.key_peppers USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'key_peppers'::text));

CREATE POLICY sweep ON public.outbox USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'outbox'::text));

CREATE POLICY sweep_find ON public.idempotency_keys FOR SELECT USING ((NULLIF(current_setting('app.sweep'::text, true), ''::text) = 'idempotency_keys'::text));

ALTER TABLE public.trace_deletions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.trace_refs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.views ENABLE ROW LEVEL SECURITY;
