package evidence

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/detect"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/review"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// record is the record that a report is the first about.
func (s *Service) record(ctx context.Context, r *report, id int64) Record {
	now := s.now()
	if r.sender != nil {
		ctx = principal.With(ctx, *r.sender)
	}
	out := Record{
		Kind: r.draft.Kind, ID: id, Links: r.links, Number: r.number, IdempotencyKey: r.name, Origin: r.origin, Actor: principal.ActorOf(ctx), Values: r.draft.Values,
		OccurredAt: r.occurred, CreatedAt: now, UpdatedAt: now, Version: 1, Key: r.Key,
	}
	if out.OccurredAt.IsZero() {
		out.OccurredAt = now
	}
	if k := out.Kind; k.Lifecycle != "" && out.State() == "" && k.Initial != "" {
		out.Values[k.Lifecycle] = kind.TextValue(k.Initial)
	}
	setPlatformFields(ctx, &out)
	return out
}

// setPlatformFields sets the fields of a new record that only the platform sets.
func setPlatformFields(ctx context.Context, r *Record) {
	v := r.Values
	switch r.Kind.Name {
	case "runtimes":
		v["first_seen_at"], v["last_seen_at"] = kind.TimeValue(r.CreatedAt), kind.TimeValue(r.CreatedAt)
	case "connectors":
		v["trust_level"] = kind.TextValue("untrusted")
		if v["tools"] != nil {
			v["tools"] = review.Classes(nil, v["tools"])
		}
	case "failures":
		v["occurrences"], v["regressed"] = kind.IntegerValue(1), jsontext.Value("false")
		v["first_seen_at"], v["last_seen_at"] = kind.TimeValue(r.OccurredAt), kind.TimeValue(r.OccurredAt)
	case "policy-decisions":
		v["allowed"] = jsontext.Value(strconv.FormatBool(v.Text("decision") == "allow"))
	case "approvals":
		settleApproval(ctx, r)
	case "raw-events":
		v["received_at"] = kind.TimeValue(r.CreatedAt)
	}
}

// putTx stores reports of things that last, with the failures that they show. One that is
// there already is refreshed. All callers lock in the same order: failures last, and
// otherwise by key.
func (s *Service) putTx(ctx context.Context, tx postgres.Tx, reports []*report) ([]Record, error) {
	out := make([]Record, len(reports))
	at := make(map[*report]int, len(reports))
	var first, last []*report
	for i, r := range reports {
		at[r] = i
		if r.draft.Kind.Name == "failures" {
			last = append(last, r)
		} else {
			first = append(first, r)
		}
	}
	made, found, err := s.putEachTx(ctx, tx, first)
	if err != nil {
		return nil, err
	}
	for r, p := range made {
		out[at[r]] = p
	}
	made, _, err = s.putEachTx(ctx, tx, append(last, found...))
	for r, p := range made {
		if i, asked := at[r]; asked {
			out[i] = p
		}
	}
	return out, err
}

// putEachTx stores reports in the order of their keys, and returns the failures that they
// show.
func (s *Service) putEachTx(ctx context.Context, tx postgres.Tx, reports []*report) (out map[*report]Record, found []*report, err error) {
	claims, err := s.claimsTx(ctx, tx, reports)
	if err != nil {
		return nil, nil, err
	}
	if err := s.effectsTx(ctx, tx, reports, claims); err != nil {
		return nil, nil, err
	}
	seen, err := s.occurrencesTx(ctx, tx, reports, claims)
	if err != nil {
		return nil, nil, err
	}
	reports = slices.Clone(reports)
	slices.SortStableFunc(reports, func(a, b *report) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	out, made, counted := make(map[*report]Record, len(reports)), make(map[int64]bool, len(reports)), map[key]bool{}
	for _, r := range reports {
		c := claims[r.Key]
		if r.reused = r.reuses(claims); r.reused {
			continue
		}
		before, there := seen.failures[c.ID]
		if !there && (!c.Fresh || made[c.ID]) {
			if before, there, err = s.lockTx(ctx, tx, r.draft.Kind, c.ID); err != nil {
				return nil, nil, err
			}
		}
		made[c.ID], r.known = true, there
		told := r.Once != (key{}) && (!claims[r.Once].Fresh || counted[r.Once])
		counted[r.Once] = true
		switch {
		case !there:
			first := s.record(ctx, r, c.ID)
			if err := s.insertTx(ctx, tx, &first); err != nil {
				return nil, nil, err
			}
			out[r], found = first, append(found, failures(nil, &first)...)
		case r.stub || told:
			out[r] = before
		default:
			after, shown, err := s.refreshTx(ctx, tx, before, r, seen)
			if err != nil {
				return nil, nil, err
			}
			out[r], found = after, append(found, shown...)
		}
		seen.keep(out[r])
	}
	return out, found, seen.writeTx(ctx, tx, s)
}

// claimsTx claims the keys of reports. A record that has none gets an id alone.
func (s *Service) claimsTx(ctx context.Context, tx postgres.Tx, reports []*report) (map[key]claim, error) {
	wanted := make(map[key]want, len(reports))
	var alone []key
	for _, r := range reports {
		if r.Alone {
			alone = append(alone, r.Key)
			continue
		}
		if _, twice := wanted[r.Key]; !twice {
			wanted[r.Key] = want{Content: r.Content, Lasts: true}
		}
		if _, twice := wanted[r.Once]; !twice && r.Once != (key{}) {
			wanted[r.Once] = want{Content: r.Said}
		}
	}
	claims, err := s.store.ClaimTx(ctx, tx, wanted, s.expiry())
	if err != nil {
		return nil, err
	}
	ids, err := s.store.IDs(ctx, tx, len(alone))
	if err != nil {
		return nil, err
	}
	if claims == nil {
		claims = make(map[key]claim, len(alone))
	}
	for i, k := range alone {
		claims[k] = claim{ID: ids[i], Fresh: true}
	}
	return claims, nil
}

// insertTx makes a record, and says so.
func (s *Service) insertTx(ctx context.Context, tx postgres.Tx, r *Record) error {
	if err := s.effectTx(ctx, tx, nil, r); err != nil {
		return err
	}
	if r.Kind.Name == Approvals {
		if err := s.completeTx(ctx, tx, r); err != nil {
			return err
		}
		if err := s.EndTx(ctx, tx, r.ID, r.Values.Time("expires_at")); err != nil {
			return err
		}
	}
	if err := s.store.InsertTx(ctx, tx, *r); err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, happened(nil, r), r.ID, nil, r)
}

// lockTx keeps a record from changing until the transaction ends, if it is there.
func (s *Service) lockTx(ctx context.Context, tx postgres.Tx, k *kind.Kind, id int64) (r Record, there bool, err error) {
	r, err = s.store.LockTx(ctx, tx, k, id)
	if errors.Is(err, ErrNotFound) {
		return Record{}, false, nil
	}
	if err != nil || r.Trace == (span.TraceID{}) {
		return r, true, err
	}
	numbers, err := s.traces.NumbersTx(ctx, tx, []span.TraceID{r.Trace})
	r.Number = numbers[r.Trace]
	return r, true, err
}

// Keys of failures that only the platform gives.
const (
	fingerprintPrefix = "fp_"
	driftPrefix       = "manifest_drift:"
)

// fingerprint is the key of a failure that was reported without one.
func fingerprint(v kind.Values, l Links) string {
	text := v.Text("description")
	if text == "" {
		text = v.Text("title")
	}
	return detect.Fingerprint(v.Text("failure_mode"), l.RuntimeKey, v.Text("tool_name"), text)
}

// failures are the reports of failures that a record shows and did not show before.
func failures(before kind.Values, r *Record) (out []*report) {
	for _, f := range detect.Failures(r.Kind, before, r.Values) {
		v := kind.Values{
			"failure_key": kind.TextValue(detect.Fingerprint(f.Mode, r.RuntimeKey, f.Tool, f.Message)), "failure_mode": kind.TextValue(f.Mode),
			"severity": kind.TextValue(f.Severity), "title": kind.TextValue(f.Title), "detected_by": kind.TextValue("rule"),
		}
		set := func(name, text string) {
			if text != "" {
				v[name] = kind.TextValue(text)
			}
		}
		set("description", f.Message)
		set("tool_name", f.Tool)
		set("invocation_id", r.Values.Text("invocation_id"))
		if ref := referring[r.Kind.Name]; ref != "" {
			v[ref] = kind.IntegerValue(r.ID)
		}
		one := newReport("failures", v, record.Platform, r.Links)
		one.number, one.occurred = r.Number, r.OccurredAt
		one.Once = record.Hashed("found", strconv.FormatInt(r.ID, 10), f.Mode)
		out = append(out, one)
	}
	return out
}

// referring are the fields of a failure that name what it was found in.
var referring = map[kind.Name]string{
	"primitive-step-runs": "primitive_step_run_id", "tool-invocation-evidence": "tool_invocation_evidence_id",
	"policy-decisions": "policy_decision_id", "side-effect-ledger": "side_effect_ledger_id", "eval-explanations": "eval_explanation_id",
}
