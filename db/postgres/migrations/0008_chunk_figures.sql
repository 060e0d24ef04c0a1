-- +goose Up

-- A chunk counts what readers of a run's progress see, and what its budget
-- needs. Calls, tokens and sums of scores are read from the results alone, so
-- these columns are no longer written. They stay, and get defaults, because the
-- release before this one names them when it inserts.
ALTER TABLE evaluation_run_chunks
  ALTER COLUMN calls         SET DEFAULT 0,
  ALTER COLUMN input_tokens  SET DEFAULT 0,
  ALTER COLUMN output_tokens SET DEFAULT 0,
  ALTER COLUMN overall_sum   SET DEFAULT 0,
  ALTER COLUMN overall_sum2  SET DEFAULT 0,
  ALTER COLUMN scored        SET DEFAULT 0;
