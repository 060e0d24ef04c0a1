-- name: InsertDataset :one
-- Makes a dataset without items.
INSERT INTO datasets (org_id, name, description, purpose, schema, tags, metadata, content_sum, created_at, updated_at)
VALUES (@org_id, @name, @description, @purpose, sqlc.narg('schema'), @tags, @metadata, @content_sum, @created_at, @created_at)
RETURNING id, version;

-- name: FindDataset :one
-- One dataset that is not deleted.
SELECT *
FROM datasets
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL;

-- name: ListDatasets :many
-- A page of datasets, newest first; an absent filter matches everything.
SELECT *
FROM datasets
WHERE org_id = @org_id AND deleted_at IS NULL
  AND (sqlc.narg('statuses')::text[] IS NULL OR status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('purposes')::text[] IS NULL OR purpose = ANY (sqlc.narg('purposes')::text[]))
  AND (sqlc.narg('tag')::text IS NULL OR sqlc.narg('tag') = ANY (tags))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(name), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR created_at < sqlc.narg('created_before'))
  AND id < @below
ORDER BY id DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: CountDatasets :one
-- How many datasets the same filters match.
SELECT count(*)
FROM datasets
WHERE org_id = @org_id AND deleted_at IS NULL
  AND (sqlc.narg('statuses')::text[] IS NULL OR status = ANY (sqlc.narg('statuses')::text[]))
  AND (sqlc.narg('purposes')::text[] IS NULL OR purpose = ANY (sqlc.narg('purposes')::text[]))
  AND (sqlc.narg('tag')::text IS NULL OR sqlc.narg('tag') = ANY (tags))
  AND (sqlc.narg('search')::text IS NULL OR strpos(lower(name), lower(sqlc.narg('search'))) > 0)
  AND (sqlc.narg('created_after')::timestamptz IS NULL OR created_at > sqlc.narg('created_after'))
  AND (sqlc.narg('created_before')::timestamptz IS NULL OR created_at < sqlc.narg('created_before'));

-- name: UpdateDataset :execrows
-- Replaces the mutable fields, if the row is still the one that was read.
UPDATE datasets
SET name = @name, description = @description, schema = sqlc.narg('schema'), status = @status, tags = @tags,
    metadata = @metadata, updated_at = @updated_at, version = version + 1
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL AND version = @expected_version AND status = @expected_status;

-- name: LockDataset :one
-- The dataset, kept from changing until the transaction ends: item writes and
-- freezing of one dataset happen one after the other.
SELECT *
FROM datasets
WHERE org_id = @org_id AND id = @id AND deleted_at IS NULL
FOR UPDATE;

-- name: SetContents :exec
-- Records what the current items now add up to.
UPDATE datasets SET item_count = @item_count, content_sum = @content_sum, updated_at = @updated_at
WHERE org_id = @org_id AND id = @id;

-- name: DeleteDataset :execrows
-- Marks a dataset as deleted, unless someone holds it.
UPDATE datasets d SET deleted_at = @deleted_at, version = d.version + 1
WHERE d.org_id = @org_id AND d.id = @id AND d.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM dataset_holds h WHERE h.org_id = d.org_id AND h.dataset_id = d.id);

-- name: InsertItems :many
-- Stores new items in the order given; content that the dataset already has is
-- left out of the result.
INSERT INTO dataset_items (org_id, dataset_id, valid_from, digest, content, split, weight, source_type, source_id, created_at, assessed)
SELECT @org_id, @dataset_id, @valid_from, i.digest, i.content::json, nullif(i.split, ''), i.weight, nullif(i.source_type, ''), nullif(i.source_id, ''), @created_at, nullif(i.assessed, '')
FROM (
  SELECT unnest(@digests::bytea[]) AS digest, unnest(@contents::text[]) AS content, unnest(@splits::text[]) AS split,
         unnest(@weights::float8[]) AS weight, unnest(@source_types::text[]) AS source_type, unnest(@source_ids::text[]) AS source_id, unnest(@assessed::bytea[]) AS assessed
) i
ON CONFLICT (org_id, dataset_id, digest) WHERE valid_to IS NULL DO NOTHING
RETURNING id, digest;

-- name: FindCurrentByDigest :many
-- The current items that have these contents.
SELECT i.id, i.digest
FROM unnest(@digests::bytea[]) AS wanted (digest)
CROSS JOIN LATERAL (
  SELECT d.id, d.digest FROM dataset_items d
  WHERE d.org_id = @org_id AND d.dataset_id = @dataset_id AND d.digest = wanted.digest AND d.valid_to IS NULL
  ORDER BY d.digest
  LIMIT 1
) i;

-- name: FindItem :one
-- The current revision of an item.
SELECT id, valid_from, digest, content, split, weight, source_type, source_id, created_at, updated_at, version
FROM dataset_items
WHERE org_id = @org_id AND dataset_id = @dataset_id AND id = @id AND valid_to IS NULL
ORDER BY valid_from DESC
LIMIT 1;

-- name: FindItemInVersion :one
-- The revision of an item that a frozen version contains.
SELECT id, valid_from, digest, content, split, weight, source_type, source_id, created_at, updated_at, version
FROM dataset_items
WHERE org_id = @org_id AND dataset_id = @dataset_id AND id = @id
  AND valid_from <= @version AND (valid_to IS NULL OR valid_to > @version)
ORDER BY valid_from DESC
LIMIT 1;

-- name: ListItems :many
-- A page of current items, newest first. It ends early when it has enough
-- bytes, which are counted without reading the contents; more says of each item
-- whether another follows it. The innermost query skips within the index to
-- where the page begins; the next one reads on from there. Both are ordered
-- scans of one index, which the planner chooses without statistics too.
SELECT p.id, p.valid_from, p.digest, p.content, p.split, p.weight, p.source_type, p.source_id, p.created_at, p.updated_at, p.version, p.more
FROM (
  SELECT i.id, i.valid_from, i.digest, i.content, i.split, i.weight, i.source_type, i.source_id, i.created_at, i.updated_at, i.version,
         (lead(i.id) OVER (ORDER BY i.id DESC) IS NOT NULL)::boolean AS more, (sum(i.size) OVER (ORDER BY i.id DESC) - i.size)::bigint AS before
  FROM (
    SELECT d.id, d.valid_from, d.digest, d.content, d.split, d.weight, d.source_type, d.source_id, d.created_at, d.updated_at, d.version,
           coalesce(d.bytes, octet_length(d.content::text)) AS size
    FROM dataset_items d
    WHERE d.org_id = @org_id AND d.dataset_id = @dataset_id AND d.valid_to IS NULL
      AND d.id <= (
        SELECT b.id FROM dataset_items b
        WHERE b.org_id = @org_id AND b.dataset_id = @dataset_id AND b.valid_to IS NULL AND b.id < @below
        ORDER BY b.id DESC
        LIMIT 1 OFFSET @row_offset)
    ORDER BY d.id DESC
    LIMIT @one_more
  ) i
) p
WHERE p.before < @max_bytes::bigint
ORDER BY p.id DESC
LIMIT @row_limit;

-- name: ListItemsInVersion :many
-- A page of a frozen version's items, newest first, which ends early when it has
-- enough bytes. It begins at the highest item that the version has, however many
-- were added since.
SELECT p.id, p.valid_from, p.digest, p.content, p.split, p.weight, p.source_type, p.source_id, p.created_at, p.updated_at, p.version, p.more
FROM (
  SELECT i.id, i.valid_from, i.digest, i.content, i.split, i.weight, i.source_type, i.source_id, i.created_at, i.updated_at, i.version,
         (lead(i.id) OVER (ORDER BY i.id DESC) IS NOT NULL)::boolean AS more, (sum(i.size) OVER (ORDER BY i.id DESC) - i.size)::bigint AS before
  FROM (
    SELECT d.id, d.valid_from, d.digest, d.content, d.split, d.weight, d.source_type, d.source_id, d.created_at, d.updated_at, d.version,
           coalesce(d.bytes, octet_length(d.content::text)) AS size
    FROM dataset_items d
    WHERE d.org_id = @org_id AND d.dataset_id = @dataset_id AND d.id < @below
      AND d.id <= (SELECT v.max_item FROM dataset_versions v WHERE v.org_id = @org_id AND v.dataset_id = @dataset_id AND v.number = @version)
      AND d.valid_from <= @version AND (d.valid_to IS NULL OR d.valid_to > @version)
    ORDER BY d.id DESC
    LIMIT @one_more OFFSET @row_offset
  ) i
) p
WHERE p.before < @max_bytes::bigint
ORDER BY p.id DESC
LIMIT @row_limit;

-- name: FindRevisions :many
-- The current revisions of some items, without their contents.
SELECT i.id, i.valid_from, i.digest, i.version
FROM unnest(@ids::bigint[]) AS wanted (id)
CROSS JOIN LATERAL (
  SELECT d.id, d.valid_from, d.digest, d.version FROM dataset_items d
  WHERE d.org_id = @org_id AND d.dataset_id = @dataset_id AND d.id = wanted.id AND d.valid_to IS NULL
  ORDER BY d.valid_from DESC
  LIMIT 1
) i;

-- name: RemoveRevisions :exec
-- Removes revisions that no frozen version contains.
DELETE FROM dataset_items
WHERE org_id = @org_id AND dataset_id = @dataset_id AND id = ANY (@ids::bigint[]) AND valid_to IS NULL;

-- name: CloseRevisions :exec
-- Ends revisions that frozen versions contain.
UPDATE dataset_items SET valid_to = @valid_to
WHERE org_id = @org_id AND dataset_id = @dataset_id AND id = ANY (@ids::bigint[]) AND valid_to IS NULL;

-- name: InsertRevisions :exec
-- New revisions of items whose earlier ones have just been ended.
INSERT INTO dataset_items (org_id, dataset_id, id, valid_from, digest, content, split, weight, source_type, source_id, created_at, updated_at, version, assessed)
SELECT d.org_id, d.dataset_id, d.id, @valid_from, e.digest, e.content::json, nullif(e.split, ''), e.weight, d.source_type, d.source_id, d.created_at, @updated_at, d.version + 1, nullif(e.assessed, '')
FROM (
  SELECT unnest(@ids::bigint[]) AS id, unnest(@digests::bytea[]) AS digest, unnest(@contents::text[]) AS content, unnest(@splits::text[]) AS split, unnest(@weights::float8[]) AS weight,
         unnest(@assessed::bytea[]) AS assessed
) e
JOIN dataset_items d ON d.org_id = @org_id AND d.dataset_id = @dataset_id AND d.id = e.id AND d.valid_to = @valid_from;

-- name: ReplaceRevisions :exec
-- Changes revisions in place; no frozen version contains them.
UPDATE dataset_items d
SET digest = e.digest, content = e.content::json, split = nullif(e.split, ''), weight = e.weight, updated_at = @updated_at, version = d.version + 1, assessed = nullif(e.assessed, '')
FROM (
  SELECT unnest(@ids::bigint[]) AS id, unnest(@digests::bytea[]) AS digest, unnest(@contents::text[]) AS content, unnest(@splits::text[]) AS split, unnest(@weights::float8[]) AS weight,
         unnest(@assessed::bytea[]) AS assessed
) e
WHERE d.org_id = @org_id AND d.dataset_id = @dataset_id AND d.id = e.id AND d.valid_to IS NULL;

-- name: InsertVersion :exec
-- Records a frozen version.
INSERT INTO dataset_versions (org_id, dataset_id, number, item_count, digest, note, max_item, created_at)
SELECT @org_id, @dataset_id, @number, @item_count, @digest, @note, coalesce((
  SELECT i.id FROM dataset_items i
  WHERE i.org_id = @org_id AND i.dataset_id = @dataset_id AND i.valid_to IS NULL
  ORDER BY i.id DESC LIMIT 1), 0), @created_at;

-- name: SetLatestVersion :exec
-- Items written from now on belong to the version after this one.
UPDATE datasets SET latest_version = @number, updated_at = @updated_at
WHERE org_id = @org_id AND id = @id;

-- name: ListVersions :many
-- A page of frozen versions, newest first.
SELECT number, item_count, digest, note, created_at
FROM dataset_versions
WHERE org_id = @org_id AND dataset_id = @dataset_id AND number < @below::bigint
ORDER BY number DESC
LIMIT @row_limit OFFSET @row_offset;

-- name: FindVersion :one
-- One frozen version.
SELECT number, item_count, digest, note, created_at
FROM dataset_versions
WHERE org_id = @org_id AND dataset_id = @dataset_id AND number = @number;

-- name: Hold :exec
-- Keeps the dataset from being deleted.
INSERT INTO dataset_holds (org_id, dataset_id, holder, created_at)
VALUES (@org_id, @dataset_id, @holder, @created_at)
ON CONFLICT DO NOTHING;

-- name: Release :exec
-- Ends a hold.
DELETE FROM dataset_holds WHERE org_id = @org_id AND dataset_id = @dataset_id AND holder = @holder;

-- name: PurgeItems :execrows
-- Removes some items of a deleted dataset, a bounded number a call.
DELETE FROM dataset_items d
WHERE d.org_id = @org_id AND d.dataset_id = @dataset_id
  AND d.ctid = ANY (ARRAY(
    SELECT i.ctid FROM dataset_items i
    JOIN datasets s ON s.org_id = i.org_id AND s.id = i.dataset_id AND s.deleted_at IS NOT NULL
    WHERE i.org_id = @org_id AND i.dataset_id = @dataset_id
    LIMIT @batch));

-- name: PurgeVersions :exec
-- Removes the versions of a deleted dataset.
DELETE FROM dataset_versions v USING datasets d
WHERE v.org_id = @org_id AND v.dataset_id = @dataset_id AND d.org_id = v.org_id AND d.id = v.dataset_id AND d.deleted_at IS NOT NULL;

-- name: PurgeDataset :exec
-- Removes a deleted dataset whose items are gone.
DELETE FROM datasets WHERE org_id = @org_id AND id = @id AND deleted_at IS NOT NULL;

-- name: ListLabelled :many
-- Current items that have a label of a key, above an id and in their order, until
-- there are enough bytes.
SELECT p.id, p.valid_from, p.digest, p.content, p.split, p.weight, p.source_type, p.source_id, p.created_at, p.updated_at, p.version
FROM (
  SELECT i.id, i.valid_from, i.digest, i.content, i.split, i.weight, i.source_type, i.source_id, i.created_at, i.updated_at, i.version,
         (sum(i.size) OVER (ORDER BY i.id) - i.size)::bigint AS before
  FROM (
    SELECT d.id, d.valid_from, d.digest, d.content, d.split, d.weight, d.source_type, d.source_id, d.created_at, d.updated_at, d.version,
           coalesce(d.bytes, octet_length(d.content::text)) AS size
    FROM dataset_items d
    WHERE d.org_id = @org_id AND d.dataset_id = @dataset_id AND d.valid_to IS NULL AND d.id > @above
      AND json_typeof(d.content -> 'labels') = 'object' AND d.content -> 'labels' ->> @key::text IS NOT NULL
    ORDER BY d.id
    LIMIT @row_limit
  ) i
) p
WHERE p.before < @max_bytes::bigint
ORDER BY p.id;

-- name: ListItemIDsInVersion :many
-- The ids of a frozen version's items above an id, in their order.
SELECT i.id
FROM dataset_items i
WHERE i.org_id = @org_id AND i.dataset_id = @dataset_id AND i.id > @above
  AND i.valid_from <= @version AND (i.valid_to IS NULL OR i.valid_to > @version)
ORDER BY i.id
LIMIT @row_limit;

-- name: FindItemsInVersion :many
-- Some items as a frozen version has them, in the order asked for, until there
-- are enough bytes; more says of each whether another follows it. One look into
-- the index for each, which the planner chooses without statistics too.
SELECT p.place, p.more, p.id, p.valid_from, p.digest, p.content, p.split, p.weight, p.source_type, p.source_id, p.created_at, p.updated_at, p.version
FROM (
  SELECT wanted.place::int AS place, (lead(wanted.place) OVER (ORDER BY wanted.place) IS NOT NULL)::boolean AS more, (sum(i.size) OVER (ORDER BY wanted.place) - i.size)::bigint AS before,
         i.id, i.valid_from, i.digest, i.content, i.split, i.weight, i.source_type, i.source_id, i.created_at, i.updated_at, i.version
  FROM (SELECT unnest(@ids::bigint[]) AS id, generate_subscripts(@ids::bigint[], 1) AS place) wanted
  CROSS JOIN LATERAL (
    SELECT d.id, d.valid_from, d.digest, d.content, d.split, d.weight, d.source_type, d.source_id, d.created_at, d.updated_at, d.version,
           coalesce(d.bytes, octet_length(d.content::text)) AS size
    FROM dataset_items d
    WHERE d.org_id = @org_id AND d.dataset_id = @dataset_id AND d.id = wanted.id
      AND d.valid_from <= @version AND (d.valid_to IS NULL OR d.valid_to > @version)
    ORDER BY d.valid_from DESC
    LIMIT 1
  ) i
) p
WHERE p.before < @max_bytes::bigint
ORDER BY p.place;

-- name: LockSides :many
-- The digests by which content is kept on one side, of its answer and of what it asks.
-- They are kept from changing until the transaction ends.
SELECT digest FROM assessed_contents
WHERE org_id = @org_id AND (digest = @digest OR digest = asked(@content::json))
ORDER BY digest
FOR UPDATE;

-- name: NewestItemStart :one
-- The first version with the newest revision of an item, deleted or not.
SELECT valid_from FROM dataset_items
WHERE org_id = @org_id AND dataset_id = @dataset_id AND id = @id
ORDER BY valid_from DESC
LIMIT 1;

-- name: FreeGolden :exec
-- Lets content be used otherwise that no golden dataset has any more, nor any of its
-- frozen versions.
DELETE FROM assessed_contents c
WHERE c.org_id = @org_id AND c.digest = @digest AND c.side = 'golden'
  AND NOT EXISTS (
    SELECT FROM dataset_items i
    JOIN datasets d ON d.org_id = i.org_id AND d.id = i.dataset_id AND d.purpose = 'golden'
    WHERE i.org_id = @org_id AND (i.assessed = @digest OR i.asked = @digest)
      AND (i.valid_to IS NULL OR i.valid_from <= d.latest_version));
