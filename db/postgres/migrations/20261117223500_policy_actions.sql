-- +goose Up

-- Actions that were allowed, for policies that look back.
CREATE TABLE policy_actions (
  org_id      uuid        NOT NULL REFERENCES organizations (id),
  decision_id bigint      NOT NULL,
  -- Who acts, such as runtime/refund-agent.
  actor       text        NOT NULL,
  connector   text        NOT NULL,
  tool        text        NOT NULL,
  -- The arguments that can be summed up.
  numbers     json        NOT NULL,
  at          timestamptz NOT NULL,
  PRIMARY KEY (org_id, decision_id)
);
SELECT tenant_table('policy_actions');
REVOKE UPDATE ON policy_actions FROM assay_app;
CREATE INDEX policy_actions_of ON policy_actions (org_id, actor, connector, tool, at) INCLUDE (decision_id);
CREATE INDEX policy_actions_at ON policy_actions (at);
CREATE POLICY sweep ON policy_actions FOR DELETE
  USING (nullif(current_setting('app.sweep', true), '') = 'policy_actions');
CREATE POLICY sweep_find ON policy_actions FOR SELECT
  USING (nullif(current_setting('app.sweep', true), '') = 'policy_actions');
-- fixture: INSERT INTO policy_actions (org_id, decision_id, actor, connector, tool, numbers, at) SELECT id, 1, 'runtime/refund-agent', 'payments', 'refund', '{"amount":"240.00"}', '2026-11-17T00:00:00Z' FROM organizations;
