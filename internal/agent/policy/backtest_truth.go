package policy

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// verdicts are how often people found an action right or wrong, and from what that is known.
type verdicts struct {
	right, wrong        int
	approvals, failures int
}

// wrongful are ways to fail that say that the action should not have been taken.
var wrongful = map[string]bool{
	"policy_violation": true, "approval_bypass": true, "irreversible_without_approval": true, "scope_creep": true, "prompt_injection": true, "data_leak": true,
}

// wrongRefusal says that the action should have been.
const wrongRefusal = "wrong_refusal"

// adjudicated are the states of failures that somebody has looked at and found to be true.
var adjudicated = []string{"triaged", "fixed", "verified"}

// truths are what people said about decisions, by their ids.
func (t *backtest) truths(ctx context.Context, all []again) (map[int64]verdicts, error) {
	if len(all) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(all))
	for i, one := range all {
		ids[i] = one.record.ID
	}
	out := map[int64]verdicts{}
	if err := t.approvals(ctx, ids, out); err != nil {
		return nil, err
	}
	return out, t.failures(ctx, ids, out)
}

// approvals adds what people decided on approvals, which only people can. One speaks about the
// decision that asked for it, once, however many others waited for it too.
func (t *backtest) approvals(ctx context.Context, ids []int64, out map[int64]verdicts) error {
	l := evidence.ListOf(kind.Approvals)
	l.Restrict("policyDecisionId", ids)
	l.Restrict("decision", []string{"approved", "rejected"})
	more, err := t.about(ctx, l, func(r *evidence.Record) {
		id := r.Values.PolicyDecisionID()
		v := out[id]
		switch {
		case r.State() == "revoked":
			return // somebody changed their mind
		case r.Values.Decision() == "approved" && lessened(r):
			return // a smaller action was right, which says nothing about this one
		case r.Values.Decision() == "approved":
			v.right++
		default:
			v.wrong++
		}
		v.approvals++
		out[id] = v
	})
	t.out.Truth.Truncated = t.out.Truth.Truncated || more
	return err
}

// lessened reports whether people approved less than what was asked for.
func lessened(r *evidence.Record) bool {
	limit, narrowed := evidence.Amount(r.Values.Constraints().MaxAmount())
	asked, ok := evidence.Amount(r.Values.Text(kind.FieldAmount))
	return narrowed && (!ok || limit.Cmp(asked) < 0)
}

// failures adds failures that a person found to be true. What a program has triaged is its own
// opinion.
func (t *backtest) failures(ctx context.Context, ids []int64, out map[int64]verdicts) error {
	type finding struct {
		decision int64
		right    bool
	}
	found := map[int64]finding{}
	l := evidence.ListOf(kind.Failures)
	l.Restrict("policyDecisionId", ids)
	l.Restrict("state", adjudicated)
	l.Restrict("failureMode", append(slices.Sorted(maps.Keys(wrongful)), wrongRefusal))
	more, err := t.about(ctx, l, func(r *evidence.Record) {
		found[r.ID] = finding{r.Values.PolicyDecisionID(), r.Values.FailureMode() == wrongRefusal}
	})
	if t.out.Truth.Truncated = t.out.Truth.Truncated || more; err != nil || len(found) == 0 {
		return err
	}
	byPeople, err := t.evidence.MovedByPeople(ctx, t.org, slices.Collect(maps.Keys(found)), adjudicated)
	for _, id := range byPeople {
		one := found[id]
		v := out[one.decision]
		if one.right {
			v.right++
		} else {
			v.wrong++
		}
		v.failures++
		out[one.decision] = v
	}
	return err
}

// judge compares what the draft decides by itself, without an approval that was given, with
// what people found. Asking somebody is never a mistake. Of a decision that cannot be made again
// it is not known whether the draft is mistaken, unless no policy was to be asked.
func (t *backtest) judge(ctx context.Context, one *again, found verdicts) error {
	truth := &t.out.Truth
	if found.right+found.wrong == 0 {
		return nil
	}
	if found.right > 0 && found.wrong > 0 {
		truth.Disputed++
		return nil
	}
	row := stat.Observation{Item: strconv.FormatInt(one.record.ID, 10), Cluster: clusterOf(one.record), Provenance: stat.Provenance{Source: stat.SourceHuman}}
	if one.skipped != "" {
		truth.Skipped[one.skipped]++
		if one.skipped == skipDryRun || one.skipped == skipStopped {
			return nil
		}
		row.Missing = stat.CauseSystem
	}
	truth.Approvals += found.approvals
	truth.Failures += found.failures
	list, mistake := &t.blocks, engine.Deny
	if found.wrong > 0 {
		list, mistake = &t.lets, engine.Allow
	}
	if one.skipped == "" {
		alone, err := one.by(ctx, t.draft, false)
		if err != nil {
			return err
		}
		if alone == mistake {
			row.Score = 1
		}
	}
	*list = append(*list, row)
	return nil
}

// clusterOf names the decisions that one depends on: those of its trace, or, without a trace, those
// about the same action of the same runtime.
func clusterOf(r *evidence.Record) string {
	if r.Trace != (span.TraceID{}) {
		return "trace/" + r.Trace.String()
	}
	return "action/" + r.RuntimeKey + "/" + r.Values.FrameDigest()
}

// rate is the share of mistakes. A policy is put into force because of it, so that its
// interval is one that covers at least what it says, whatever the missing ones were.
func (t *backtest) rate(rows []stat.Observation) (stat.Estimate, error) {
	clusters := map[string]bool{}
	for _, r := range rows {
		clusters[r.Cluster] = true
	}
	if len(clusters) == len(rows) { // each stands for itself
		for i := range rows {
			rows[i].Cluster = ""
		}
	}
	e, err := stat.PassRate(rows, stat.Options{Policy: stat.PolicyGate, Missing: stat.MissingBounds})
	e.FailingClusters = nil // of a rate of mistakes, they would be those without one
	if t.out.Truth.Truncated {
		e.Value = nil
		e.Abstain(stat.StatusInsufficient, "there are more verdicts than are read; choose fewer decisions")
	}
	return e, err
}
