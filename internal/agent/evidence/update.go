package evidence

import (
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/clean"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

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
	var fields []fault.Field
	refuse := func(name, code, message string) {
		fields = append(fields, fault.Field{In: "body", Path: "/" + name, Code: code, Message: message})
	}
	for _, name := range []string{"expectedVersion", "expected_version"} {
		if v, ok := members[name]; ok {
			if e.expected = (kind.Values{"": v}).Integer(""); e.expected < 1 {
				refuse(name, "type", "must be an integer from 1")
			}
			delete(members, name)
		}
	}
	if v, ok := members[kind.FieldOverride]; ok && k.Field(kind.FieldOverride) != nil {
		if e.override = (kind.Values{"": v}).Within("").Justification(); e.override == "" || len(e.override) > maxJustification || kind.HasNUL(v) {
			refuse("override", "required", "must have a justification of at most 2000 bytes")
		}
		delete(members, kind.FieldOverride)
	}
	changed := editable(k, may)
	for name, value := range members {
		f := changed.Field(name)
		if f == nil {
			f = changed.Field(kind.Snake(name))
		}
		switch {
		case f == nil || f.Server:
		case record.Columns[f.Name]:
			e.ignored = append(e.ignored, name)
			delete(members, name)
		case !k.Changeable(f.Name):
			refuse(name, "not_changeable", "cannot be changed: it says which record this is, or what it is about")
			delete(members, name)
		case value.Kind() == 'n' && (f.Required || f.Name == k.Lifecycle):
			refuse(name, "type", "cannot be null")
		case value.Kind() == 'n':
			e.cleared = append(e.cleared, f.Name)
		}
	}
	d, bad := kind.Read(changed, kind.Values(members).JSON(), true)
	if fields = append(fields, bad...); len(fields) > 0 {
		return edit{}, errInvalid.WithFields(fields...)
	}
	d.Kind = k
	e.draft, e.ignored = d, append(e.ignored, d.Ignored...)
	slices.Sort(e.ignored)
	return e, nil
}

// maxJustification is the length of a reason to set a rule aside.
const maxJustification = 2000

// editable is a kind as changes see it: any state can be asked for, because the table of
// moves decides, and so can fields that reports may not set and the caller may.
func editable(k *kind.Kind, may []string) *kind.Kind {
	out := *k
	out.Born = k.States()
	out.Fields = slices.Clone(k.Fields)
	for i := range out.Fields {
		f := &out.Fields[i]
		if slices.Contains(may, f.Name) || f.Name == k.Lifecycle {
			f.Server = false
		}
	}
	return &out
}

// apply makes the change, if the table of moves allows it.
func (e edit) apply(r *Record) error {
	before := r.State()
	was := r.Values
	r.Values = maps.Clone(was)
	for _, name := range e.cleared {
		delete(r.Values, name)
	}
	maps.Copy(r.Values, e.draft.Values)
	record.Join(was, r.Values)
	if r.Values.Size() > record.MaxSize && r.Values.Size() > was.Size() {
		return fault.Invalid("body", "", "length", "would make the record larger than 524288 bytes")
	}
	if after := r.State(); before != after {
		if err := r.Kind.Moves.Check(ErrTransition, before, after); err != nil {
			return err
		}
	}
	if special := hooked[r.Kind.Name].edit; special != nil {
		return special(was, r, e)
	}
	return nil
}

// lift lets what people have stopped go on only if a person says so: a connector that was blocked
// and a runtime that was suspended. Nobody believes a connector then as before, unless that person
// says how far. To retire one keeps it stopped.
func lift(ctx context.Context, before Record, after *Record, e edit) error {
	was, now := before.State(), after.State()
	if was == now || now == "retired" || was != "blocked" && was != "suspended" {
		return nil
	}
	if was == "blocked" && e.draft.Values[kind.FieldTrustLevel] == nil {
		after.Values[kind.FieldTrustLevel] = kind.TextValue("untrusted")
	}
	return principal.RequirePerson(ctx)
}

// updateTx changes a thing that lasts.
func (s *Service) updateTx(ctx context.Context, tx postgres.Tx, k *kind.Kind, id, expected int64, e edit) (Record, error) {
	return change.Update(change.Edit[Record]{
		Expected: expected, Conflict: ErrVersionConflict,
		Lock: func() (Record, error) {
			r, there, err := s.lockTx(ctx, tx, k, id)
			if err == nil && !there {
				err = ErrNotFound
			}
			return r, err
		},
		Apply: e.apply,
		Save: func(before Record, after *Record) error {
			if err := lift(ctx, before, after, e); err != nil {
				return err
			}
			return s.saveMoveTx(ctx, tx, before, after, e, principal.ActorOf(ctx))
		},
		Audit: func(before, after Record) error {
			return change.RecordTx(ctx, s.log, tx, happened(&before, &after), id, &before, &after)
		},
	})
}

// saveMoveTx stores a thing that was changed, with the failures that it shows.
func (s *things) saveMoveTx(ctx context.Context, tx postgres.Tx, before Record, after *Record, e edit, by principal.Actor) error {
	after.UpdatedAt, after.Version = s.now(), before.Version+1
	if move := hooked[after.Kind.Name].move; move != nil {
		if err := move(s, ctx, tx, &before, after, e); err != nil {
			return err
		}
	}
	if err := s.store.MoveTx(ctx, tx, before, *after, by); err != nil {
		return err
	}
	_, err := s.putTx(ctx, tx, failures(before.Values, after))
	return err
}

// updateStream changes a record of the stream. Others who add to it wait until the
// change is stored.
func (s *Service) updateStream(ctx context.Context, org principal.OrgID, k *kind.Kind, id, expected int64, e edit) (after Record, err error) {
	found, err := s.Find(ctx, org, k, id)
	if err != nil {
		return Record{}, err
	}
	held, err := s.leaseKeys(ctx, org, key{}, map[key]want{found.Key: {ID: id}}, func(map[key]claim) error { return nil })
	if err != nil {
		return Record{}, err
	}
	err = s.underLease(ctx, held, func(ctx context.Context) error {
		all, err := s.store.stream.Some(ctx, org, []kind.Name{k.Name}, []int64{id})
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return refused{ErrNotFound}
		}
		before := all[0]
		after = before
		if expected != 0 && expected != before.Version {
			return refused{ErrVersionConflict.With("currentVersion", before.Version)}
		}
		if err := e.apply(&after); err != nil {
			return refused{err}
		}
		if record.Same(before.Values, after.Values) {
			return nil
		}
		after.UpdatedAt, after.Version = s.now(), before.Version+1
		if err := s.store.stream.Append(ctx, org, []*Record{&after}, uint16(s.cfg.RetentionDays)); err != nil {
			return err
		}
		_, err = s.storeReports(ctx, org, failures(before.Values, &after), nil)
		return err
	})
	after.Number = found.Number // the trace of a record does not change
	return after, err
}

// edit cleans a change of a record.
func (c Cleaner) edit(e *edit) {
	clean.Draft(c.red, &e.draft, false)
	e.override = c.Text(e.override)
}
