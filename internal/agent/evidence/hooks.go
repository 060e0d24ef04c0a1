package evidence

import (
	"context"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// hooks are what records of a kind need beside what is done for all. Each may be nil.
type hooks struct {
	// check refuses, by need, what breaks a rule that one field alone cannot state.
	check func(d kind.Draft, need func(path, code, message string))
	// link completes a report before texts lose what the organization does not want to have stored.
	link func(context.Context, *intake, principal.OrgID, *linked) error
	// begin sets what only the platform sets on a new record, and what it leaves open.
	begin func(context.Context, *Record)
	// insert completes a new record in the transaction that stores it.
	insert func(*things, context.Context, postgres.Tx, *Record) error
	// refresh applies a report to a thing that is there; without it, the thing stays as it is.
	refresh func(before, after Record, r *report) refreshed
	// edit adds to a change that a caller makes, once its move is allowed.
	edit func(was kind.Values, r *Record, e edit) error
	// move completes a change in the transaction that stores it.
	move func(s *things, ctx context.Context, tx postgres.Tx, before, after *Record, e edit) error
}

// edit is a change of a record that a caller wants.
type edit struct {
	draft kind.Draft
	// cleared are fields that are to have no value.
	cleared []string
	ignored []string
	// override is why a rule does not apply this once.
	override string
	// expected is the version that is to be changed; zero means any.
	expected int64
}

// hooked are the hooks by kind. The file of a kind puts its own there.
var hooked = map[kind.Name]hooks{}
