package policy

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/stat"
)

func (s *Service) registerBacktest(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "backtestPolicy", Method: http.MethodPost, Path: path + "/{id}/backtest", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true, OptionalBody: true,
		Summary: "Test a policy on recorded decisions",
		Description: "Makes recorded decisions again with a version of the policy, or with a text that is not saved, in force together with the other active policies, and says what changes. Without a body, it is the policy as it is, on the newest 1,000 decisions of the last 7 days. Nothing is recorded. " +
			"Where people have decided on an approval, or confirmed a failure, the answer also says how often the draft is mistaken: `false_block` and `false_allow`, each with its interval.",
	}, s.postBacktest)
}

const (
	defaultBacktest = 7 * 24 * time.Hour
	maxBacktest     = 366 * 24 * time.Hour
)

type backtestInput struct {
	Path
	Body backtestBody
}

type backtestBody struct {
	Version      int64               `json:"version,omitzero" minimum:"1" maximum:"9007199254740991" doc:"Version of the policy to test; the current one if it is not sent."`
	Source       httpapi.Set[string] `json:"source,omitzero" minLength:"1" maxLength:"10240" doc:"Text to test in place of the policy's own. It applies to what the policy applies to."`
	Since        httpapi.Time        `json:"since,omitzero" doc:"Only decisions after this time; 7 days before until if it is not sent."`
	Until        httpapi.Time        `json:"until,omitzero" doc:"Only decisions before this time; now if it is not sent."`
	Limit        int                 `json:"limit,omitzero" minimum:"1" maximum:"10000" default:"1000" doc:"How many decisions to make again at most, the newest first."`
	RuntimeKey   string              `json:"runtimeKey,omitempty" maxLength:"256" doc:"Only decisions about this runtime."`
	ConnectorKey string              `json:"connectorKey,omitempty" maxLength:"256" doc:"Only decisions about this connector."`
}

// Check refuses what the schema cannot say.
func (b *backtestBody) Check(context.Context) error {
	if b.Version != 0 && b.Source.Sent {
		return fault.Invalid("body", "/version", "mutually_exclusive", "cannot be sent with source")
	}
	return nil
}

type backtestReport struct {
	PolicyID      httpapi.ID    `json:"policy_id" doc:"The policy."`
	PolicyVersion *int64        `json:"policy_version" doc:"Version that was tested; null if it was a text."`
	Since         httpapi.Time  `json:"since" doc:"Decisions after this time were considered."`
	Until         httpapi.Time  `json:"until" doc:"Decisions before this time were considered."`
	Truncated     bool          `json:"truncated" doc:"Whether there are more decisions than the limit."`
	Considered    int           `json:"considered" doc:"Decisions that were read: skipped, unchanged and changed."`
	Skipped       int           `json:"skipped" doc:"Decisions that could not be made again."`
	Skips         []skipBody    `json:"skips" doc:"Why not."`
	Unchanged     int           `json:"unchanged" doc:"Decisions that stay the same."`
	Changed       int           `json:"changed" doc:"Decisions that change."`
	Changes       []shiftBody   `json:"changes" doc:"How they change."`
	Drifted       int           `json:"drifted" doc:"Decisions that the policies in force now would make differently, even without the draft. That many of the changes may have another cause."`
	Decided       decidedBody   `json:"decided" doc:"What the draft decides."`
	Examples      []changeBody  `json:"examples" doc:"The newest decisions that change, at most 20."`
	Truth         truthBody     `json:"truth" doc:"What is known from people about the decisions."`
	FalseBlock    stat.Estimate `json:"false_block" doc:"Share that the draft denies of the actions that people found right. Value and interval are absent without any such action."`
	FalseAllow    stat.Estimate `json:"false_allow" doc:"Share that the draft allows, without asking for an approval, of the actions that people found wrong."`
	Assumptions   []string      `json:"assumptions" doc:"What the numbers rest on."`
}

type skipBody struct {
	Reason string `json:"reason" enum:"dry_run,stopped,redacted,incomplete,history_expired" doc:"dry_run: the decision was not acted on; stopped: the runtime was suspended or the connector blocked, and no policy was asked; redacted: a part of the question was not stored; incomplete: the record lacks a part of the question; history_expired: a fact that the draft asks for has been forgotten."`
	Count  int    `json:"count" doc:"How many decisions."`
}

type shiftBody struct {
	From  decision `json:"from" doc:"The recorded decision."`
	To    decision `json:"to" doc:"That of the draft."`
	Count int      `json:"count" doc:"How many decisions."`
}

type changeBody struct {
	PolicyDecisionID int64    `json:"policy_decision_id" doc:"The recorded decision."`
	From             decision `json:"from" doc:"What was decided."`
	To               decision `json:"to" doc:"What the draft decides."`
}

type decidedBody struct {
	Allow           int `json:"allow" doc:"Allowed."`
	Deny            int `json:"deny" doc:"Denied."`
	RequireApproval int `json:"require_approval" doc:"Brought before people."`
}

type truthBody struct {
	Approvals int        `json:"approvals" doc:"Approvals that people decided on."`
	Failures  int        `json:"failures" doc:"Failures that a person triaged and that say that the action was wrong, or wrongly refused."`
	Disputed  int        `json:"disputed" doc:"Decisions about which these contradict each other; they count nowhere."`
	Skipped   int        `json:"skipped" doc:"Decisions that people judged and that could not be made again. The intervals allow for both outcomes of each; those with the reason dry_run or stopped count nowhere."`
	Skips     []skipBody `json:"skips" doc:"Why not."`
	Truncated bool       `json:"truncated" doc:"Whether there are more verdicts about the decisions than are read. The rates then have neither value nor interval."`
}

// assumptions are what a back-test cannot know.
func assumptions() []string {
	return []string{
		"Only decisions that the platform made are considered, not those that clients report.",
		"The other policies are asked as they are now, not as they were when the decisions were made.",
		"Facts about the past count what was allowed at the time, not what the draft would have allowed.",
		"A decision that rested on an approval is made again with that approval.",
		"People judged the actions that were brought before them, which are not a random sample of all.",
		"An approval of less than the amount that was asked for does not say whether the action was right, and is left out.",
		"A failure counts only if a person triaged it with a personal key. Triage by a service key does not count, even on behalf of a member.",
		"Decisions of one trace are taken to depend on each other, and without a trace those of one runtime about the same action, whatever its amount; others are taken to be independent.",
		"Judged decisions that were skipped could have been mistakes or not: the intervals allow for both. Dry runs, and decisions for which no policy was asked, are left out.",
	}
}

func (s *Service) postBacktest(ctx context.Context, in *backtestInput) (*httpapi.Body[backtestReport], error) {
	id, err := in.number()
	if err != nil {
		return nil, err
	}
	b := Backtest{
		Policy: id, Version: in.Body.Version, Since: time.Time(in.Body.Since), Until: time.Time(in.Body.Until), Limit: cmp.Or(in.Body.Limit, 1000),
		RuntimeKey: in.Body.RuntimeKey, ConnectorKey: in.Body.ConnectorKey,
	}
	if in.Body.Source.Sent {
		b.Source = &in.Body.Source.Value
	}
	if b.Until.IsZero() {
		b.Until = s.now().Add(time.Millisecond)
	}
	if b.Since.IsZero() {
		b.Since = b.Until.Add(-defaultBacktest)
	}
	switch d := b.Until.Sub(b.Since); {
	case d <= 0:
		return nil, fault.Invalid("body", "/since", "max", "must be earlier than until, which is now if it is not sent")
	case d > maxBacktest:
		return nil, fault.Invalid("body", "/since", "min", "must be at most 366 days before until")
	}
	found, err := s.Backtest(ctx, principal.From(ctx).Org, b)
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(toBacktestReport(id, found)), nil
}

func toBacktestReport(id int64, b Backtested) backtestReport {
	out := backtestReport{
		PolicyID: httpapi.ID(id), PolicyVersion: httpapi.OrNull(b.Version), Since: httpapi.Time(b.Since), Until: httpapi.Time(b.Until), Truncated: b.Truncated,
		Considered: b.Considered, Unchanged: b.Unchanged, Changes: []shiftBody{}, Drifted: b.Drifted, Examples: []changeBody{},
		Decided:    decidedBody{b.Decided[engine.Allow], b.Decided[engine.Deny], b.Decided[engine.NeedsApproval]},
		Truth:      truthBody{Approvals: b.Truth.Approvals, Failures: b.Truth.Failures, Disputed: b.Truth.Disputed, Truncated: b.Truth.Truncated},
		FalseBlock: b.FalseBlock, FalseAllow: b.FalseAllow, Assumptions: assumptions(),
	}
	out.Skipped, out.Skips = toSkips(b.Skipped)
	out.Truth.Skipped, out.Truth.Skips = toSkips(b.Truth.Skipped)
	for shift, n := range b.Changed {
		out.Changed += n
		out.Changes = append(out.Changes, shiftBody{decision(shift.From), decision(shift.To), n})
	}
	slices.SortFunc(out.Changes, func(a, b shiftBody) int {
		return cmp.Or(strings.Compare(string(a.From), string(b.From)), strings.Compare(string(a.To), string(b.To)))
	})
	for _, one := range b.Examples {
		out.Examples = append(out.Examples, changeBody{one.Decision, decision(one.From), decision(one.To)})
	}
	return out
}

// toSkips are reasons with their numbers, and the sum of these.
func toSkips(counts map[string]int) (sum int, out []skipBody) {
	out = []skipBody{}
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		sum += counts[reason]
		out = append(out, skipBody{reason, counts[reason]})
	}
	return sum, out
}
