package evidence

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/redact"
	"github.com/assayhq/assay/internal/span"
)

// errInvalid is what a caller sees of a report that its kind refuses.
var errInvalid = fault.New(fault.Validation, "invalid_request", "The request is invalid.")

// Post stores what a caller reports about one record, and says which of the fields were
// ignored because only the platform sets them. Reporting the same again has no effect.
func (s *Service) Post(ctx context.Context, org principal.OrgID, k *kind.Kind, body jsontext.Value, header string) (p Posted, err error) {
	if !k.Postable() {
		return Posted{}, ErrNotWritable.With("use", k.Use)
	}
	draft, fields := kind.Read(k, body, false)
	if fields = append(fields, demands(draft)...); len(fields) > 0 {
		return Posted{}, errInvalid.WithFields(fields...)
	}
	red, err := s.traces.Redactor(ctx, org)
	if err != nil {
		return Posted{}, err
	}
	clean(red, &draft)
	r := &report{draft: draft, origin: Reported, header: header}
	if err := s.link(ctx, org, []*report{r}); err != nil {
		return Posted{}, err
	}
	if len(r.fields) > 0 {
		return Posted{}, errInvalid.WithFields(r.fields...)
	}
	numbers, err := s.traces.Numbers(ctx, org, []span.TraceID{r.links.Trace})
	return Posted{report: r, Ignored: draft.Ignored, number: numbers[r.links.Trace]}, err
}

// Posted is a report that is ready to be stored.
type Posted struct {
	report  *report
	Ignored []string
	number  int64 // of the trace
}

// keepTx stores a report of a thing that lasts, with the failures that it shows.
func (s *Service) keepTx(ctx context.Context, tx postgres.Tx, p Posted) (put, error) {
	made, err := s.putTx(ctx, tx, []*report{p.report})
	if err != nil {
		return put{}, err
	}
	if p.report.reused {
		return put{}, ErrKeyReused
	}
	if made[0].New {
		if _, err := s.putTx(ctx, tx, failures(nil, &made[0].Record)); err != nil {
			return put{}, err
		}
	}
	return made[0], nil
}

// clean removes what the organization does not want to have stored, and notes where.
func clean(red *redact.Redactor, d *kind.Draft) {
	var where []map[string]string
	for _, name := range slices.Sorted(maps.Keys(d.Values)) {
		if f := d.Kind.Field(name); f != nil && (f.Type == kind.Enum || f.Type == kind.Time || f.Type == kind.Digest) || name == "otel_trace_id" || name == "trace_id" || name == "span_id" {
			continue
		}
		if out, changed := red.JSONText(nil, d.Values[name]); changed {
			d.Values[name] = bytes.Clone(out)
			where = append(where, map[string]string{"path": "/" + name})
		}
	}
	if len(where) == 0 {
		return
	}
	if text, err := json.Marshal(where, json.Deterministic(true)); err == nil {
		d.Values["redactions"] = text
	}
}

// demands are rules of a kind that one field alone cannot state.
func demands(d kind.Draft) (fields []fault.Field) {
	v := d.Values
	need := func(path, code, message string) {
		fields = append(fields, fault.Field{In: "body", Path: path, Code: code, Message: message})
	}
	switch d.Kind.Name {
	case "approvals":
		if v["input_digest"] == nil && v["policy_decision_id"] == nil {
			need("/input_digest", "one_of_required", "give the digest of the action, or policy_decision_id")
		}
		if n := v.Integer("min_approvals"); v["min_approvals"] != nil && (n < 1 || n > 5) {
			need("/min_approvals", "max", "must be from 1 to 5")
		}
	case "side-effect-ledger":
		if c := v.Text("side_effect_class"); v["effect_key"] == nil && c != "" && c != "none" && c != "read" && !d.Partial {
			need("/effect_key", "required", "is required, because the effect is more than reading")
		}
	}
	return fields
}

// keepStream stores reports of what happened. Reports of the same record are put
// together, also with what is stored already.
func (s *Service) keepStream(ctx context.Context, org principal.OrgID, reports []*report, claims map[key]claim) ([]put, error) {
	var keys []key
	for _, r := range reports {
		if !r.alone {
			keys = append(keys, r.key)
		}
	}
	if len(keys) == 0 {
		return s.appendAll(ctx, org, reports, claims, nil)
	}
	var out []put
	// The lock lasts until the records are stored: whoever else reports one of them
	// waits, and then reads what is stored here. So does the lock of a caller who hangs
	// up, whose rows are on their way.
	err := postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		shared, err := s.store.lockTx(ctx, tx, keys)
		if err != nil {
			return err
		}
		before, err := s.stored(ctx, org, reports, claims, shared)
		if err != nil {
			return err
		}
		out, err = s.appendAll(context.WithoutCancel(ctx), org, reports, claims, before)
		return err
	})
	return out, err
}

// stored reads what is there of records that others have reported too.
func (s *Service) stored(ctx context.Context, org principal.OrgID, reports []*report, claims map[key]claim, shared map[key]bool) (map[int64]Record, error) {
	ids, kinds := map[int64]bool{}, map[kind.Name]bool{}
	for _, r := range reports {
		if c := claims[r.key]; shared[r.key] || !c.fresh {
			ids[c.id], kinds[r.draft.Kind.Name] = true, true
		}
	}
	all, err := s.store.some(ctx, org, slices.Collect(maps.Keys(kinds)), slices.Collect(maps.Keys(ids)))
	if err != nil {
		return nil, err
	}
	out := make(map[int64]Record, len(all))
	for _, r := range all {
		out[r.ID] = r
	}
	return out, nil
}

// appendAll stores reports, each put together with what is there before it.
func (s *Service) appendAll(ctx context.Context, org principal.OrgID, reports []*report, claims map[key]claim, before map[int64]Record) ([]put, error) {
	out := make([]put, len(reports))
	last := map[int64]*Record{}
	var order []int64
	for i, r := range reports {
		c := claims[r.key]
		was, there := before[c.id]
		if p := last[c.id]; p != nil {
			was, there = *p, true
		}
		switch {
		case !there:
			out[i] = put{Record: s.record(ctx, r, c.id), New: true}
		case r.content != nil:
			if !bytes.Equal(r.content, c.content) && !c.fresh {
				return nil, ErrKeyReused
			}
			out[i] = put{Record: was}
			continue
		default:
			out[i] = put{Record: merge(was, s.record(ctx, r, c.id))}
		}
		if last[c.id] == nil {
			order = append(order, c.id)
		}
		last[c.id] = &out[i].Record
	}
	rows := make([]*Record, len(order))
	for i, id := range order {
		rows[i] = last[id]
	}
	return out, s.store.append(ctx, org, rows, uint16(s.cfg.RetentionDays))
}

// merge adds a later report to a record: what it says replaces what was there, but a
// state that is final stays.
func merge(before, report Record) Record {
	after := before
	after.Values = maps.Clone(before.Values)
	for name, value := range report.Values {
		if name == before.Kind.Lifecycle {
			if was := before.State(); was != "" && before.Kind.Terminal(was) {
				continue
			}
		}
		if name == "started_at" && before.Values[name] != nil {
			continue // each report of something that runs has one
		}
		after.Values[name] = value
	}
	fill := func(to *int64, from int64) {
		if *to == 0 {
			*to = from
		}
	}
	fill(&after.RuntimeID, report.RuntimeID)
	fill(&after.ConnectorID, report.ConnectorID)
	fill(&after.EvaluationRunID, report.EvaluationRunID)
	fill(&after.RawEventID, report.RawEventID)
	if after.RuntimeKey == "" {
		after.RuntimeKey = report.RuntimeKey
	}
	if after.ConnectorKey == "" {
		after.ConnectorKey = report.ConnectorKey
	}
	if after.Trace == (Links{}).Trace {
		after.Trace = report.Trace
	}
	if report.OccurredAt.Before(after.OccurredAt) {
		after.OccurredAt = report.OccurredAt
	}
	after.UpdatedAt, after.Version = report.UpdatedAt, before.Version+1
	return after
}

// keepOne stores a report of what happened, with the failures that it shows.
func (s *Service) keepOne(ctx context.Context, org principal.OrgID, p Posted) (Record, error) {
	r := p.report
	var claims map[key]claim
	err := postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) (err error) {
		claims, err = s.store.claim(ctx, tx, org, map[key][]byte{r.key: r.content})
		return err
	})
	if err != nil {
		return Record{}, err
	}
	made, err := s.keepStream(ctx, org, []*report{r}, claims)
	if err != nil {
		return Record{}, err
	}
	if found := failures(nil, &made[0].Record); len(found) > 0 {
		err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
			_, err := s.putTx(ctx, tx, found)
			return err
		})
	}
	return made[0].Record, err
}
