package policy

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/agent/approval"
	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Backtest selects recorded decisions, and says which policy they are to be made with again.
type Backtest struct {
	Policy  int64
	Version int64   // of the policy; zero means the current one
	Source  *string // a text in place of the policy's own; nil if there is none

	Since, Until             time.Time
	RuntimeKey, ConnectorKey string
	Limit                    int
}

// Backtested is what would have been decided.
type Backtested struct {
	Version      int64 // zero if a text was tested
	Since, Until time.Time
	Truncated    bool // there are more decisions than the limit

	Considered int
	Skipped    map[string]int // by reason
	Unchanged  int
	Changed    map[Shift]int
	// Drifted is how many decisions differ from the record even without the draft, because
	// other policies have changed since, or this one.
	Drifted  int
	Decided  map[engine.Decision]int // by the draft
	Examples []Changed               // the newest

	// FalseBlock is the share that the draft denies of what people found right, FalseAllow
	// the share that it allows, without asking anybody, of what they found wrong.
	FalseBlock, FalseAllow stat.Estimate
	Truth                  Truth
}

// Truth is what is known from people.
type Truth struct {
	// Approvals and Failures are how many verdicts came from each; Disputed is how many
	// decisions have verdicts that contradict each other, and count nowhere.
	Approvals, Failures, Disputed int
	// Skipped is how many decisions were judged and could not be made again, by reason.
	Skipped map[string]int
	// Truncated says that there are more verdicts than are read, so that there are no rates.
	Truncated bool
}

// Shift is a decision that changes.
type Shift struct{ From, To engine.Decision }

// Changed is one that did.
type Changed struct {
	Decision int64
	Shift
}

// Why a decision cannot be made again.
const (
	skipDryRun     = "dry_run"         // nobody acted on it
	skipStopped    = "stopped"         // no policy was asked
	skipRedacted   = "redacted"        // a part of the question was not stored
	skipIncomplete = "incomplete"      // the record does not have all of the question
	skipExpired    = "history_expired" // a fact that the draft asks for is no longer known
)

const maxExamples = 20

// backtest is a back-test under way.
type backtest struct {
	*Service
	org          principal.OrgID
	draft, today *engine.Set
	out          *Backtested
	// blocks and lets are the decisions that people found right and wrong, with 1 where the
	// draft is mistaken, and without a score where it could not be asked.
	blocks, lets []stat.Observation
}

// Backtest makes recorded decisions again with a draft of a policy. Nothing is recorded.
func (s *Service) Backtest(ctx context.Context, org principal.OrgID, b Backtest) (Backtested, error) {
	out := Backtested{Since: b.Since, Until: b.Until, Skipped: map[string]int{}, Changed: map[Shift]int{}, Decided: map[engine.Decision]int{}, Truth: Truth{Skipped: map[string]int{}}}
	t := &backtest{Service: s, org: org, out: &out}
	if err := t.compile(ctx, b); err != nil {
		return Backtested{}, err
	}
	l := b.decisions()
	for rest, more := b.Limit, true; more && rest > 0; {
		l.Limit = min(rest, backtestPage)
		var page []evidence.Record
		var err error
		if page, more, err = t.read(ctx, &l); err != nil {
			return Backtested{}, err
		}
		if err := t.page(ctx, page); err != nil {
			return Backtested{}, err
		}
		rest -= len(page)
		out.Truncated = more && rest == 0
	}
	var err error
	if out.FalseBlock, err = t.rate(t.blocks); err != nil {
		return Backtested{}, err
	}
	out.FalseAllow, err = t.rate(t.lets)
	return out, err
}

// compile makes the set with the draft in it, and the one without.
func (t *backtest) compile(ctx context.Context, b Backtest) error {
	if err := t.ensure(ctx, t.org); err != nil {
		return err
	}
	p, err := t.Find(ctx, t.org, b.Policy)
	if err != nil {
		return err
	}
	switch {
	case b.Source != nil:
		p.Source, p.Number = *b.Source, 0
		if err := t.acceptable(ctx, p.Spec); err != nil {
			return err
		}
	case b.Version != 0:
		found, _, err := t.store.versions(ctx, t.org, p.ID, postgres.Page{Below: b.Version + 1, Limit: 1})
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].Number != b.Version {
			return fault.Invalid("body", "/version", "unknown_reference", "the policy has no such version")
		}
		p.Spec, p.Number = found[0].Spec, b.Version
	}
	t.out.Version, p.Mode = p.Number, ModeEnforce
	revision, sources, err := t.store.active(ctx, t.db.Org(t.org), t.org)
	if err != nil {
		return err
	}
	drafted := append(slices.DeleteFunc(slices.Clone(sources), func(one engine.Source) bool { return one.Key == p.Key }), p.source())
	if engine.Fits(drafted) != nil {
		return ErrTooLarge
	}
	return admission.From(ctx).Work(ctx, func(func() error) error {
		today, err := t.sets.compile(t.org, revision, sources)
		if err != nil {
			return err
		}
		t.today = today.set
		t.draft, err = engine.Compile(drafted)
		return err
	})
}

// acceptable refuses a text that could not be saved.
func (t *backtest) acceptable(ctx context.Context, spec Spec) error {
	if err := readable(ctx, spec.Source); err != nil {
		return err
	}
	tests, err := toCases(spec.Tests)
	if err != nil {
		return err
	}
	remarks, err := t.review(ctx, t.org, spec.Source, tests)
	if err != nil {
		return err
	}
	return refusalOf(remarks)
}

// again is a decision that is made again.
type again struct {
	record   *evidence.Record
	question engine.Question
	recalled *knowledge
	recorded engine.Decision
	skipped  string // why it cannot be
	approved bool   // an approval was used
}

// page makes the decisions of a page again.
func (t *backtest) page(ctx context.Context, page []evidence.Record) error {
	t.out.Considered += len(page)
	all := make([]again, len(page))
	for i := range page {
		all[i] = recall(&page[i])
	}
	if err := t.past(ctx, all); err != nil {
		return err
	}
	truths, err := t.truths(ctx, all)
	if err != nil {
		return err
	}
	return admission.From(ctx).Work(ctx, func(pause func() error) error {
		for i := range all {
			one := all[i] // a copy: what is read of its question goes with it
			if one.skipped != "" {
				t.out.Skipped[one.skipped]++
			} else if err := t.decide(ctx, &one); err != nil {
				return err
			}
			if err := t.judge(ctx, &one, truths[one.record.ID]); err != nil {
				return err
			}
			if err := pause(); err != nil {
				return err
			}
		}
		return nil
	})
}

// recall finds the question behind a decision.
func recall(r *evidence.Record) again {
	out := again{record: r, recorded: engine.Decision(r.Values.Decision())}
	var complete bool
	out.question, out.recalled, complete = recalled(r)
	out.approved = out.recorded == engine.Allow && r.Values.ApprovalID() != 0
	switch {
	case r.Values.Mode() != "enforce":
		out.skipped = skipDryRun
	case stopped(r):
		out.skipped = skipStopped
	case redacted(r):
		out.skipped = skipRedacted
	case !complete:
		out.skipped = skipIncomplete
	}
	return out
}

// decide compares what the draft decides with what was decided.
func (t *backtest) decide(ctx context.Context, one *again) error {
	_ = one.question.Check() // reads the question once; each set says what is wrong with it
	to, err := one.by(ctx, t.draft, one.approved)
	if err != nil {
		return err
	}
	t.out.Decided[to]++
	if to == one.recorded {
		t.out.Unchanged++
	} else {
		shift := Shift{one.recorded, to}
		t.out.Changed[shift]++
		if len(t.out.Examples) < maxExamples {
			t.out.Examples = append(t.out.Examples, Changed{one.record.ID, shift})
		}
	}
	today, err := one.by(ctx, t.today, one.approved)
	if err == nil && today != one.recorded {
		t.out.Drifted++
	}
	return err
}

// by is what a set decides, for a caller that can do as much as the one that asked.
func (one *again) by(ctx context.Context, set *engine.Set, approved bool) (engine.Decision, error) {
	a := asked{Request: Request{Supported: one.recalled.Supported}, question: one.question}
	if approved {
		a.Approval = one.record.Values.ApprovalID()
	}
	out, err := decide(ctx, set, &a, recordedWorld{one})
	return out.Decision, err
}

// recordedWorld is the world in which a decision was made, as far as the record has it.
type recordedWorld struct{ *again }

func (w recordedWorld) known(context.Context) (known, error) {
	q := &w.question
	return known{class: q.SideEffectClass, reversible: q.Reversibility, environment: q.Environment, connectorState: q.ConnectorState, connectorTrust: q.ConnectorTrust}, nil
}

// history has what was looked up at the time, or since: see past.
func (w recordedWorld) history(context.Context, []engine.Fact) (map[engine.Fact]engine.FactValue, error) {
	return w.question.History, nil
}

// use allows what was approved then.
func (recordedWorld) use(context.Context, int64, approval.Action) (approval.Refusal, error) {
	return approval.Refusal{}, nil
}

// stopped reports whether a decision was made without asking the policies.
func stopped(r *evidence.Record) bool {
	for _, reason := range r.Values.Reasons() {
		if code := reason.Code(); code == runtimeSuspended || code == connectorBlocked {
			return true
		}
	}
	return false
}

// redacted reports whether a part of the question was not stored.
func redacted(r *evidence.Record) bool {
	return slices.ContainsFunc(r.Values.Redactions(), func(one kind.Values) bool { return strings.HasPrefix(one.Path(), "/input") })
}
