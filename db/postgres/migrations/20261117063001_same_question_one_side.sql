-- +goose Up

-- The same question with another answer is the same case: whoever was shown one
-- answer to it knows what the other is about. So what is asked has one side as well.
-- +goose StatementBegin
CREATE FUNCTION asked(content json) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT AS $$
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

CREATE OR REPLACE FUNCTION item_side() RETURNS trigger LANGUAGE plpgsql AS $$
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
-- +goose StatementEnd

ALTER TABLE dataset_items ADD COLUMN asked bytea CHECK (length(asked) = 32);
ALTER TABLE dataset_items ALTER COLUMN asked SET STATISTICS 0; -- samples would outlive their organization
CREATE INDEX dataset_items_asked ON dataset_items (org_id, asked) WHERE asked IS NOT NULL;

-- Items that exist count too. Where a question is on both sides already, it stays on
-- the side of tuning: a judge may have seen it.
ALTER TABLE datasets NO FORCE ROW LEVEL SECURITY;
ALTER TABLE dataset_items NO FORCE ROW LEVEL SECURITY;
ALTER TABLE assessed_contents NO FORCE ROW LEVEL SECURITY;
UPDATE dataset_items i SET asked = asked(i.content)
FROM datasets d WHERE d.org_id = i.org_id AND d.id = i.dataset_id AND d.purpose IN ('golden', 'calibration');
INSERT INTO assessed_contents (org_id, digest, side)
SELECT DISTINCT i.org_id, i.asked, 'tuning' FROM dataset_items i
JOIN datasets d ON d.org_id = i.org_id AND d.id = i.dataset_id AND d.purpose = 'calibration'
WHERE i.asked IS NOT NULL AND i.split IN ('train', 'dev')
ON CONFLICT DO NOTHING;
INSERT INTO assessed_contents (org_id, digest, side)
SELECT DISTINCT i.org_id, i.asked, 'golden' FROM dataset_items i
JOIN datasets d ON d.org_id = i.org_id AND d.id = i.dataset_id AND d.purpose = 'golden'
WHERE i.asked IS NOT NULL AND i.valid_to IS NULL
ON CONFLICT DO NOTHING;
ALTER TABLE datasets FORCE ROW LEVEL SECURITY;
ALTER TABLE dataset_items FORCE ROW LEVEL SECURITY;
ALTER TABLE assessed_contents FORCE ROW LEVEL SECURITY;
-- fixture: INSERT INTO dataset_items (org_id, dataset_id, valid_from, digest, content, created_at) SELECT org_id, id, 1, decode(repeat('c7', 32), 'hex'), '{"input":"What is asked"}', now() FROM datasets WHERE name = 'fixture';
