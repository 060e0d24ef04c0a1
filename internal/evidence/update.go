package evidence

import (
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

// ErrUnverified is returned for a state that says what was found out, without how.
var ErrUnverified = fault.New(fault.Validation, "verification_required", "Say in verification how the effect was checked and what was found.")

// ErrIrreversible is returned for undoing what cannot be undone.
var ErrIrreversible = fault.New(fault.Conflict, "irreversible", "The effect is irreversible: it cannot be compensated.")

// ErrNotReady is returned for approving a connector that no audit has passed.
var ErrNotReady = fault.New(fault.Conflict, "connector_not_ready", "The connector has no readiness report that passed. Audit it, or give override.justification.")

// edit is a change of a record that a caller wants.
type edit struct {
	values kind.Values
	// cleared are fields that are to have no value.
	cleared  []string
	ignored  []string
	override string
	// expected is the version that is to be changed; zero means any.
	expected int64
}

// readEdit checks a change. May lists fields that only the platform sets on reports and
// the caller may set here.
func readEdit(k *kind.Kind, body jsontext.Value, may ...string) (edit, error) {
	if len(body) == 0 {
		return edit{}, nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(body, &members); err != nil {
		return edit{}, fault.Invalid("body", "", "type", "must be an object")
	}
	var e edit
	changed := *k
	changed.Born = k.States() // any state; the table of moves decides
	changed.Fields = slices.Clone(k.Fields)
	for i := range changed.Fields {
		f := &changed.Fields[i]
		if slices.Contains(may, f.Name) || f.Name == k.Lifecycle {
			f.Server = false
		}
	}
	var fields []fault.Field
	for _, name := range []string{"expectedVersion", "expected_version"} {
		if v, ok := members[name]; ok {
			if e.expected = (kind.Values{"": v}).Integer(""); e.expected < 1 {
				fields = append(fields, fault.Field{In: "body", Path: "/" + name, Code: "type", Message: "must be an integer from 1"})
			}
			delete(members, name)
		}
	}
	for name, value := range members {
		f := changed.Field(name)
		if f == nil {
			f = changed.Field(kind.Snake(name))
		}
		if value.Kind() != 'n' || f == nil {
			continue
		}
		if f.Required || f.Server || f.Name == k.Lifecycle {
			fields = append(fields, fault.Field{In: "body", Path: "/" + name, Code: "type", Message: "cannot be null"})
			continue
		}
		e.cleared = append(e.cleared, f.Name)
	}
	rest, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return edit{}, fault.Invalid("body", "", "format", "cannot be read as JSON")
	}
	d, bad := kind.Read(&changed, rest, true)
	if fields = append(fields, bad...); len(fields) > 0 {
		return edit{}, errInvalid.WithFields(fields...)
	}
	e.values, e.ignored = d.Values, d.Ignored
	e.override = d.Values.Within("attributes").Within("override").Text("justification")
	for name := range columns {
		if _, sent := e.values[name]; sent {
			e.ignored = append(e.ignored, name)
			delete(e.values, name)
		}
	}
	return e, nil
}

// apply makes the change, if the table of moves allows it.
func (e edit) apply(r *Record) error {
	before := r.State()
	was := r.Values
	r.Values = maps.Clone(was)
	for _, name := range e.cleared {
		delete(r.Values, name)
	}
	maps.Copy(r.Values, e.values)
	after := r.State()
	if before == after {
		return nil
	}
	if err := r.Kind.Moves.Check(ErrTransition, before, after); err != nil {
		return err
	}
	switch r.Kind.Name {
	case "side-effect-ledger":
		return effectMove(r, e)
	case "connectors":
		if after == "approved" && e.override == "" && r.Values.Integer("latest_readiness_report_id") == 0 {
			return ErrNotReady
		}
	}
	return nil
}

// effectMove checks what a state of a side effect asks for.
func effectMove(r *Record, e edit) error {
	switch r.State() {
	case "verified", "not_applied", "conflicting":
		if e.values["verification"] == nil {
			return ErrUnverified
		}
	case "compensating":
		if r.Values.Text("reversibility") == "irreversible" {
			return ErrIrreversible
		}
	}
	return nil
}

// updateTx changes a thing that lasts.
func (s *Service) updateTx(ctx context.Context, tx postgres.Tx, k *kind.Kind, id, expected int64, e edit) (Record, error) {
	return change.Update(change.Edit[Record]{
		Expected: expected, Conflict: ErrVersionConflict,
		Lock:  func() (Record, error) { return s.store.lockRecordTx(ctx, tx, k, id) },
		Apply: e.apply,
		Save: func(before Record, after *Record) error {
			after.UpdatedAt, after.Version = s.now(), before.Version+1
			if err := s.store.moveTx(ctx, tx, before, *after, principal.ActorOf(ctx)); err != nil {
				return err
			}
			_, err := s.putTx(ctx, tx, failures(before.Values, after))
			return err
		},
		Audit: func(before, after Record) error { return s.auditTx(ctx, tx, "updated", &before, &after) },
	})
}

// updateStream changes a record of the stream. Others who add to it wait until the
// change is stored.
func (s *Service) updateStream(ctx context.Context, org principal.OrgID, k *kind.Kind, id, expected int64, e edit) (after Record, err error) {
	found, err := s.Find(ctx, org, k, id)
	if err != nil {
		return Record{}, err
	}
	err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		if _, err := s.store.lockTx(ctx, tx, []key{found.key}); err != nil {
			return err
		}
		all, err := s.store.some(ctx, org, []kind.Name{k.Name}, []int64{id})
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return ErrNotFound
		}
		before := all[0]
		if expected != 0 && expected != before.Version {
			return ErrVersionConflict.With("currentVersion", before.Version)
		}
		after = before
		if err := e.apply(&after); err != nil {
			return err
		}
		if same(before.Values, after.Values) {
			return nil
		}
		after.UpdatedAt, after.Version = s.now(), before.Version+1
		if err := s.store.append(context.WithoutCancel(ctx), org, []*Record{&after}, uint16(s.cfg.RetentionDays)); err != nil {
			return err
		}
		_, err = s.putTx(ctx, tx, failures(before.Values, &after))
		return err
	})
	after.Number = found.Number // the trace of a record does not change
	return after, err
}
