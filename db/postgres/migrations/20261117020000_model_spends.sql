-- +goose Up

-- What calls of models have cost, for everything that a cap can be set on: the
-- organization, a provider key, a run. A cap by the month counts in a row for each
-- month, as 2026-11; any other in one row without a period.
--
-- A process takes an allowance before it spends, so that it need not ask here for
-- each call; holds are those allowances, by process, with what is left of each and
-- how long it is kept. One row has it all, so that one comparison of the version
-- decides between two processes.
CREATE TABLE model_spends (
  org_id         uuid   NOT NULL REFERENCES organizations (id),
  kind           text   NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
  id             text   NOT NULL CHECK (length(id) <= 200),
  period         text   NOT NULL CHECK (period ~ '^([0-9]{4}-[0-9]{2})?$'),
  spent_nano_usd bigint NOT NULL CHECK (spent_nano_usd >= 0),
  holds          json   NOT NULL DEFAULT '{}',
  version        bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (org_id, kind, id, period)
);
SELECT tenant_table('model_spends');

ALTER TABLE provider_keys ADD COLUMN monthly_cap_nano_usd bigint CHECK (monthly_cap_nano_usd >= 0);
-- fixture: UPDATE provider_keys SET monthly_cap_nano_usd = 5000000000;
-- fixture: INSERT INTO model_spends (org_id, kind, id, period, spent_nano_usd, holds) SELECT org_id, 'provider_key', id::text, '2026-11', 1000000, '{"0": {"left": 5, "until": "2026-11-17T00:00:00Z"}}' FROM provider_keys;
