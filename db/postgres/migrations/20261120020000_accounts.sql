-- +goose Up

-- A person comes in by an invitation, which is accepted once with a password.
CREATE TABLE invitations (
  org_id     uuid        NOT NULL REFERENCES organizations (id),
  user_id    uuid        NOT NULL,
  -- SHA-256 of the token, which is stored nowhere.
  hash       bytea       NOT NULL CHECK (length(hash) = 32),
  -- Who saw the token; null if only the operator of the deployment did.
  invited_by uuid,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, user_id),
  FOREIGN KEY (org_id, user_id) REFERENCES members (org_id, user_id)
);
SELECT tenant_table('invitations');
-- fixture: WITH m AS (INSERT INTO members (org_id, user_id, email, role, status, created_at) VALUES ('01900000-0000-7000-8000-000000000001', gen_random_uuid(), gen_random_uuid()::text, 'member', 'invited', now()) RETURNING org_id, user_id)
-- fixture: INSERT INTO invitations (org_id, user_id, hash, created_at, expires_at) SELECT org_id, user_id, sha256('invitation'), now(), now() FROM m;

-- How a member signs in. An account belongs to one membership.
CREATE TABLE accounts (
  org_id     uuid        NOT NULL REFERENCES organizations (id),
  user_id    uuid        NOT NULL,
  -- An Argon2id hash with its parameters.
  password   text        NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, user_id),
  FOREIGN KEY (org_id, user_id) REFERENCES members (org_id, user_id)
);
SELECT tenant_table('accounts');
-- fixture: WITH m AS (INSERT INTO members (org_id, user_id, email, role, status, created_at) VALUES ('01900000-0000-7000-8000-000000000001', gen_random_uuid(), gen_random_uuid()::text, 'member', 'invited', now()) RETURNING org_id, user_id)
-- fixture: INSERT INTO accounts (org_id, user_id, password, created_at, updated_at) SELECT org_id, user_id, '$argon2id$', now(), now() FROM m;

-- A browser in which somebody has signed in.
CREATE TABLE sessions (
  org_id     uuid        NOT NULL REFERENCES organizations (id),
  -- SHA-256 of the token, which only the browser has.
  hash       bytea       NOT NULL CHECK (length(hash) = 32),
  user_id    uuid        NOT NULL,
  created_at timestamptz NOT NULL,
  used_at    timestamptz NOT NULL,
  PRIMARY KEY (org_id, hash),
  FOREIGN KEY (org_id, user_id) REFERENCES members (org_id, user_id)
);
CREATE INDEX sessions_member ON sessions (org_id, user_id);
SELECT tenant_table('sessions');
-- fixture: WITH m AS (INSERT INTO members (org_id, user_id, email, role, status, created_at) VALUES ('01900000-0000-7000-8000-000000000001', gen_random_uuid(), gen_random_uuid()::text, 'member', 'invited', now()) RETURNING org_id, user_id)
-- fixture: INSERT INTO sessions (org_id, hash, user_id, created_at, used_at) SELECT org_id, sha256(gen_random_uuid()::text::bytea), user_id, now(), now() FROM m;

-- Who saw the invitation with which the member came in: they could have accepted it.
ALTER TABLE members ADD COLUMN invited_by uuid;
-- fixture: UPDATE members SET invited_by = user_id;
