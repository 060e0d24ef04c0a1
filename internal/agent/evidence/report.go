package evidence

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/effect"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
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
	if k.Name == Effects {
		if err := effect.Look(ctx, nil, draft.Values); err != nil {
			return Posted{}, err
		}
	}
	red, err := s.traces.Redactor(ctx, org)
	if err != nil {
		return Posted{}, err
	}
	sent := record.ContentOf(draft.Values)
	r := &report{draft: draft, origin: record.Reported, header: header}
	if err := s.check(ctx, org, red, []*report{r}); err != nil {
		return Posted{}, err
	}
	if r.blurred != "" {
		r.refuse("/"+r.blurred, "format", blurredName)
	}
	if len(r.fields) > 0 {
		return Posted{}, errInvalid.WithFields(r.fields...)
	}
	_, err = s.attach(ctx, org, []*report{r})
	return Posted{report: r, Ignored: draft.Ignored, sent: sent}, err
}

// Posted is a report that is ready to be stored.
type Posted struct {
	report  *report
	Ignored []string
	sent    []byte // digest of all that was sent
}

// keepTx stores a report of a thing that lasts. Refuse are the dispatches of side effects
// that the caller wants to have refused.
func (s *Service) keepTx(ctx context.Context, tx postgres.Tx, p Posted, refuse []string) (Record, error) {
	made, err := s.putTx(ctx, tx, []*report{p.report})
	switch {
	case err != nil:
		return Record{}, err
	case p.report.reused:
		return Record{}, ErrKeyReused
	case p.report.draft.Values.Text("state") == "dispatched":
		return made[0], effect.Refuse(&made[0], p.report.known, refuse)
	}
	return made[0], nil
}

// demands are rules of a kind that one field alone cannot state.
func demands(d kind.Draft) (fields []fault.Field) {
	v := d.Values
	need := func(path, code, message string) {
		fields = append(fields, fault.Field{In: "body", Path: path, Code: code, Message: message})
	}
	switch d.Kind.Name {
	case "failures":
		for _, prefix := range []string{fingerprintPrefix, driftPrefix} {
			if strings.HasPrefix(v.Text("failure_key"), prefix) {
				need("/failure_key", "pattern", "must not begin with "+prefix+": such keys are given by the platform. Leave it out to have one")
			}
		}
	case "approvals":
		if v["input_digest"] == nil && v["policy_decision_id"] == nil {
			need("/input_digest", "one_of_required", "give the digest of the action, or policy_decision_id")
		}
		if n := v.Integer("min_approvals"); v["min_approvals"] != nil && (n < 1 || n > 5) {
			need("/min_approvals", "max", "must be from 1 to 5")
		}
		if n := v.Integer("max_uses"); v["max_uses"] != nil && (n < 1 || n > maxUses) {
			need("/max_uses", "max", "must be from 1 to 1000")
		}
	case "side-effect-ledger":
		if c := v.Text("side_effect_class"); v["effect_key"] == nil && c != "" && c != "none" && c != "read" && !d.Partial {
			need("/effect_key", "required", "is required, because the effect is more than reading")
		}
	}
	return fields
}

// keepStream stores reports of what happened. Reports of the same record are put
// together, also with what is stored already: whoever calls it holds their keys. Reports
// that only add something come after those that make the records.
func (s *Service) keepStream(ctx context.Context, org principal.OrgID, reports []*report, claims map[key]claim) ([]Record, error) {
	ids, kinds := map[int64]bool{}, map[kind.Name]bool{}
	for _, r := range reports {
		if c := claims[r.Key]; !c.Fresh {
			ids[c.ID], kinds[r.draft.Kind.Name] = true, true
		}
	}
	all, err := s.store.stream.Some(ctx, org, slices.Collect(maps.Keys(kinds)), slices.Collect(maps.Keys(ids)))
	if err != nil {
		return nil, err
	}
	before := make(map[int64]Record, len(all))
	for _, r := range all {
		before[r.ID] = r
	}
	return s.appendAll(ctx, org, reports, claims, before)
}

// appendAll stores reports, each put together with what is there before it.
func (s *Service) appendAll(ctx context.Context, org principal.OrgID, reports []*report, claims map[key]claim, before map[int64]Record) ([]Record, error) {
	out := make([]Record, len(reports))
	last := map[int64]*Record{}
	var order []int64
	err := admission.From(ctx).Work(ctx, func(pause func() error) error {
		for i, r := range reports {
			if err := pause(); err != nil {
				return err
			}
			c := claims[r.Key]
			was, there := before[c.ID]
			if p := last[c.ID]; p != nil {
				was, there = *p, true
			}
			switch {
			case !there && r.adds:
				r.dropped = true
				continue
			case !there:
				out[i] = s.record(ctx, r, c.ID)
			case r.Content != nil:
				out[i] = was
				continue
			default:
				out[i] = record.Merge(was, s.record(ctx, r, c.ID), r.fills)
				if record.Same(was.Values, out[i].Values) && was.Links == out[i].Links {
					out[i] = was
					continue
				}
			}
			if last[c.ID] == nil {
				order = append(order, c.ID)
			}
			last[c.ID] = &out[i]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rows := make([]*Record, len(order))
	for i, id := range order {
		rows[i] = last[id]
	}
	return out, s.store.stream.Append(ctx, org, rows, uint16(s.cfg.RetentionDays))
}

// keepOne stores a report of what happened, with the failures that it shows.
func (s *Service) keepOne(ctx context.Context, org principal.OrgID, p Posted) (made Record, err error) {
	r := p.report
	h := hold{org: org}
	if r.Alone {
		ids, err := s.store.IDs(ctx, s.db.Org(org), 1)
		if err != nil {
			return Record{}, err
		}
		h.claims = map[key]claim{r.Key: {ID: ids[0], Fresh: true}}
	} else {
		h, err = s.hold(ctx, org, record.Hashed("request", string(r.Key[:]), string(p.sent)), map[key]want{r.Key: {Content: r.Content}}, func(claims map[key]claim) error {
			if !bytes.Equal(r.Content, claims[r.Key].Content) {
				return ErrKeyReused
			}
			return nil
		})
		if err != nil {
			return Record{}, err
		}
	}
	err = s.under(ctx, h, func(ctx context.Context) error {
		out, err := s.keepStream(ctx, org, []*report{r}, h.claims)
		if err != nil {
			return err
		}
		made = out[0]
		return s.keepFound(ctx, org, failures(nil, &made))
	})
	return made, err
}

// keepFound stores failures that records of the stream show.
func (s *Service) keepFound(ctx context.Context, org principal.OrgID, found []*report) error {
	if len(found) == 0 {
		return nil
	}
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		_, err := s.putTx(ctx, tx, found)
		return err
	})
}
