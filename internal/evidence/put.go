package evidence

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/evidence/internal/detect"
	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

// put is what became of a report.
type put struct {
	Record
	// New is false if the record was there before.
	New bool
}

// record is the record that a report is the first about.
func (s *Service) record(ctx context.Context, r *report, id int64) Record {
	now := s.now()
	out := Record{
		Kind: r.draft.Kind, ID: id, Links: r.links, IdempotencyKey: r.name, Origin: r.origin, Actor: principal.ActorOf(ctx), Values: r.draft.Values,
		OccurredAt: r.occurred, CreatedAt: now, UpdatedAt: now, Version: 1, key: r.key,
	}
	if out.OccurredAt.IsZero() {
		out.OccurredAt = now
	}
	if k := out.Kind; k.Lifecycle != "" && out.State() == "" && k.Initial != "" {
		out.Values[k.Lifecycle] = kind.TextValue(k.Initial)
	}
	settle(&out)
	return out
}

// settle sets the fields of a new record that only the platform sets.
func settle(r *Record) {
	v := r.Values
	switch r.Kind.Name {
	case "runtimes":
		v["first_seen_at"], v["last_seen_at"] = kind.TimeValue(r.CreatedAt), kind.TimeValue(r.CreatedAt)
	case "connectors":
		v["trust_level"] = kind.TextValue("untrusted")
	case "failures":
		v["occurrences"], v["regressed"] = kind.IntegerValue(1), jsontext.Value("false")
		v["first_seen_at"], v["last_seen_at"] = kind.TimeValue(r.OccurredAt), kind.TimeValue(r.OccurredAt)
	case "policy-decisions":
		v["allowed"] = jsontext.Value(strconv.FormatBool(v.Text("decision") == "allow"))
	case "raw-events":
		v["received_at"] = kind.TimeValue(r.CreatedAt)
	}
}

// putTx stores reports of things that last. One that is there already is refreshed.
func (s *Service) putTx(ctx context.Context, tx postgres.Tx, reports []*report) ([]put, error) {
	wanted := make(map[key][]byte, len(reports))
	for _, r := range reports {
		wanted[r.key] = r.content
		if r.once != (key{}) {
			wanted[r.once] = nil
		}
	}
	claims, err := s.store.claim(ctx, tx, tx.Org, wanted)
	if err != nil {
		return nil, err
	}
	out := make([]put, len(reports))
	made := map[key]bool{}
	for i, r := range reports {
		c := claims[r.key]
		if c.fresh && !made[r.key] {
			made[r.key] = true
			out[i] = put{Record: s.record(ctx, r, c.id), New: true}
			if err := s.store.insertTx(ctx, tx, out[i].Record); err != nil {
				return nil, err
			}
			if err := s.auditTx(ctx, tx, "created", nil, &out[i].Record); err != nil {
				return nil, err
			}
			continue
		}
		if r.reused = r.content != nil && !bytes.Equal(r.content, c.content); r.reused {
			continue
		}
		before, err := s.store.lockRecordTx(ctx, tx, r.draft.Kind, c.id)
		if err != nil {
			return nil, err
		}
		out[i].Record = before
		if r.stub || r.once != (key{}) && !claims[r.once].fresh {
			continue
		}
		out[i].Record, err = s.refreshTx(ctx, tx, before, r)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// auditTx records what was done to a thing that lasts.
func (s *Service) auditTx(ctx context.Context, tx postgres.Tx, did string, before, after *Record) error {
	r := after
	if r == nil {
		r = before
	}
	noun := "evidence_" + strings.ReplaceAll(r.Kind.One, " ", "_")
	e := change.Entry{Action: noun + "." + did, Resource: noun, ID: strconv.FormatInt(r.ID, 10)}
	if before != nil {
		e.Before = *before
	}
	if after != nil {
		e.After = *after
	}
	return s.log.AuditTx(ctx, tx, e)
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
		one := &report{draft: kind.Draft{Kind: kind.Must("failures"), Values: v}, origin: Platform, links: r.Links, occurred: r.OccurredAt}
		one.identity = identify(one.draft, one.links, "")
		one.once = hashed("found", strconv.FormatInt(r.ID, 10), f.Mode)
		out = append(out, one)
	}
	return out
}

// referring are the fields of a failure that name what it was found in.
var referring = map[kind.Name]string{
	"primitive-step-runs": "primitive_step_run_id", "tool-invocation-evidence": "tool_invocation_evidence_id",
	"policy-decisions": "policy_decision_id", "side-effect-ledger": "side_effect_ledger_id", "eval-explanations": "eval_explanation_id",
}
