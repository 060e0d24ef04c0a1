package policy

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/policy/internal/db"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

type store struct{ db *postgres.DB }

// storedTest is a test in the database.
type storedTest struct {
	Name   string          `json:"name"`
	Input  jsontext.Value  `json:"input"`
	Expect engine.Decision `json:"expect"`
	RuleID string          `json:"rule_id,omitzero"`
}

// encoded is a spec in the database.
type encoded struct{ appliesTo, tests []byte }

func encode(s Spec) (out encoded, err error) {
	if out.appliesTo, err = json.Marshal(s.AppliesTo); err != nil {
		return out, fmt.Errorf("encode what a policy applies to: %w", err)
	}
	tests := make([]storedTest, len(s.Tests))
	for i, t := range s.Tests {
		tests[i] = storedTest(t)
	}
	if out.tests, err = json.Marshal(tests); err != nil {
		return out, fmt.Errorf("encode the tests of a policy: %w", err)
	}
	return out, nil
}

func decode(mode, source string, appliesTo, tests []byte) (Spec, error) {
	s := Spec{Mode: Mode(mode), Source: source}
	if err := json.Unmarshal(appliesTo, &s.AppliesTo); err != nil {
		return Spec{}, fmt.Errorf("read what a policy applies to: %w", err)
	}
	var stored []storedTest
	if err := json.Unmarshal(tests, &stored); err != nil {
		return Spec{}, fmt.Errorf("read the tests of a policy: %w", err)
	}
	for _, t := range stored {
		s.Tests = append(s.Tests, Test(t))
	}
	return s, nil
}

func (s store) insertTx(ctx context.Context, tx postgres.Tx, p Policy) (int64, error) {
	e, err := encode(p.Spec)
	if err != nil {
		return 0, err
	}
	id, err := db.New(tx).InsertPolicy(ctx, db.InsertPolicyParams{
		OrgID: tx.Org, Key: p.Key, Name: p.Name, Mode: string(p.Mode), State: string(p.State), Source: p.Source, AppliesTo: e.appliesTo, Tests: e.tests,
		Used: p.used, CreatedBy: p.CreatedBy.String(), CreatedAt: p.CreatedAt,
	})
	if postgres.Violates(err, "policies_key") {
		return 0, ErrKeyTaken
	}
	return id, postgres.Wrap(err, "insert policy")
}

// insertVersionTx keeps the current version of a policy. Who changed it made it.
func (s store) insertVersionTx(ctx context.Context, tx postgres.Tx, p Policy) error {
	e, err := encode(p.Spec)
	if err != nil {
		return err
	}
	err = db.New(tx).InsertVersion(ctx, db.InsertVersionParams{
		OrgID: tx.Org, PolicyID: p.ID, Number: p.Number, Mode: string(p.Mode), Source: p.Source, AppliesTo: e.appliesTo, Tests: e.tests,
		CreatedBy: principal.ActorOf(ctx).String(), CreatedAt: p.UpdatedAt,
	})
	return postgres.Wrap(err, "insert policy version")
}

func (s store) updateTx(ctx context.Context, tx postgres.Tx, p Policy) error {
	e, err := encode(p.Spec)
	if err != nil {
		return err
	}
	err = db.New(tx).UpdatePolicy(ctx, db.UpdatePolicyParams{
		OrgID: tx.Org, ID: p.ID, Name: p.Name, Mode: string(p.Mode), State: string(p.State), Source: p.Source, AppliesTo: e.appliesTo, Tests: e.tests,
		PolicyVersion: p.Number, Used: p.used, Version: p.Changes, UpdatedAt: p.UpdatedAt,
	})
	return postgres.Wrap(err, "update policy")
}

func (s store) find(ctx context.Context, org principal.OrgID, id int64) (Policy, error) {
	r, err := db.New(s.db.Org(org)).FindPolicy(ctx, db.FindPolicyParams{OrgID: org, ID: id})
	return found(r, err)
}

func (s store) lockPolicyTx(ctx context.Context, tx postgres.Tx, id int64) (Policy, error) {
	r, err := db.New(tx).LockPolicy(ctx, db.LockPolicyParams{OrgID: tx.Org, ID: id})
	return found(r, err)
}

func found(r db.Policy, err error) (Policy, error) {
	return postgres.DecodeOne(r, err, "find policy", ErrNotFound, fromRow)
}

func (s store) deleteTx(ctx context.Context, tx postgres.Tx, id int64) error {
	q := db.New(tx)
	if err := q.DeleteVersions(ctx, db.DeleteVersionsParams{OrgID: tx.Org, PolicyID: id}); err != nil {
		return fmt.Errorf("delete policy versions: %w", err)
	}
	return postgres.Wrap(q.DeletePolicy(ctx, db.DeletePolicyParams{OrgID: tx.Org, ID: id}), "delete policy")
}

func (s store) list(ctx context.Context, org principal.OrgID, l List) ([]Policy, int64, error) {
	q := db.New(s.db.Org(org))
	p := db.ListPoliciesParams{
		OrgID: org, States: postgres.Texts(l.States), Modes: postgres.Texts(l.Modes), Key: postgres.OrNull(l.Key), Below: l.Below, RowLimit: l.Rows(), RowOffset: l.Skip(),
	}
	rows, err := q.ListPolicies(ctx, p)
	return postgres.DecodeListed(rows, err, "policies", fromRow, l.Count, func() (int64, error) {
		return q.CountPolicies(ctx, db.CountPoliciesParams{OrgID: org, States: p.States, Modes: p.Modes, Key: p.Key})
	})
}

// countTx is how many policies the organization has.
func (s store) countTx(ctx context.Context, tx postgres.Tx) (int64, error) {
	n, err := db.New(tx).CountPolicies(ctx, db.CountPoliciesParams{OrgID: tx.Org})
	return n, postgres.Wrap(err, "count policies")
}

func (s store) versions(ctx context.Context, org principal.OrgID, id int64, p postgres.Page) ([]Version, int64, error) {
	q := db.New(s.db.Org(org))
	rows, err := q.ListVersions(ctx, db.ListVersionsParams{OrgID: org, PolicyID: id, Below: p.Below, RowLimit: p.Rows(), RowOffset: p.Skip()})
	out, err := postgres.DecodeAll(rows, err, "list policy versions", func(r db.ListVersionsRow) (Version, error) {
		spec, err := decode(r.Mode, r.Source, r.AppliesTo, r.Tests)
		return Version{Number: r.Number, Spec: spec, CreatedBy: principal.ParseActor(r.CreatedBy), CreatedAt: r.CreatedAt}, err
	})
	if err != nil {
		return nil, 0, err
	}
	total, err := q.CountVersions(ctx, db.CountVersionsParams{OrgID: org, PolicyID: id})
	return out, total, postgres.Wrap(err, "count policy versions")
}

func fromRow(r db.Policy) (Policy, error) {
	spec, err := decode(r.Mode, r.Source, r.AppliesTo, r.Tests)
	return Policy{
		ID: r.ID, Key: r.Key, Name: r.Name, State: State(r.State), Spec: spec, Number: r.PolicyVersion, CreatedBy: principal.ParseActor(r.CreatedBy),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Changes: r.Version, used: r.Used,
	}, err
}
