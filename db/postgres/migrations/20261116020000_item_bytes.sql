-- +goose Up

-- How many bytes the content of an item has, so that a page can end before it
-- has too many without reading them. Items from before have none and are
-- measured when a list meets them. The trigger also measures what a binary from
-- before writes.
ALTER TABLE dataset_items ADD COLUMN bytes integer;

-- +goose StatementBegin
CREATE FUNCTION item_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.bytes := octet_length(NEW.content::text);
  RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER item_bytes BEFORE INSERT OR UPDATE OF content ON dataset_items FOR EACH ROW EXECUTE FUNCTION item_bytes();
-- fixture: INSERT INTO dataset_items (org_id, dataset_id, valid_from, digest, content, created_at)
-- fixture: SELECT org_id, id, 1, decode(repeat('01', 32), 'hex'), '{"input": "y"}', created_at FROM datasets WHERE name = 'fixture';
