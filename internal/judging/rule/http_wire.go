package rule

import (
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// Schema lists the statuses.
func (Status) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(StatusActive, StatusPaused) }

// Schema lists the periods.
func (Period) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(PeriodMonth, PeriodTotal) }

// Schema lists the statuses of back-fills.
func (BackfillStatus) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(BackfillRunning, BackfillCompleted, BackfillStopped, BackfillCancelled)
}

// endedStatus is the status of a trace that has ended.
type endedStatus trace.Status

// Schema lists the statuses.
func (endedStatus) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(trace.StatusCompleted, trace.StatusFailed)
}

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"CreateJudgeRule":    createBody{},
	"JudgeRule":          ruleBody{},
	"JudgeRuleList":      listBody{},
	"JudgeRuleFilter":    filterInput{},
	"JudgeRuleFilterSet": filterBody{},
	"JudgeRuleCounts":    countsBody{},
	"JudgeRuleReason":    reasonBody{},
	"JudgeRuleBlocked":   blockedBody{},
	"UpdateJudgeRule":    updateBody{},

	"PreviewJudgeRule": previewInputBody{},
	"JudgeRulePreview": previewBody{},
	"JudgeRuleCost":    costBody{},

	"JudgeBackfill":      backfillBody{},
	"JudgeBackfillList":  listBackfillsBody{},
	"StartJudgeBackfill": startBody{},
}

// filterInput is a filter on the wire.
type filterInput struct {
	Status []endedStatus `json:"status,omitempty" maxItems:"2" doc:"Only traces with one of these statuses; a trace that is running is never judged."`
	trace.FilterFields
}

// filterBody is a filter in a response.
type filterBody struct {
	Status []endedStatus `json:"status" doc:"Statuses of traces that are meant; empty means any."`
	trace.FilterBody
}

func (f filterInput) filter() trace.Filter {
	out := f.FilterFields.Filter()
	for _, s := range f.Status {
		out.Status = append(out.Status, trace.Status(s))
	}
	return out
}

func toFilterBody(f trace.Filter) filterBody {
	out := filterBody{[]endedStatus{}, trace.ToFilterBody(f)}
	for _, s := range f.Status {
		out.Status = append(out.Status, endedStatus(s))
	}
	return out
}

// ruleBody is a rule on the wire.
type ruleBody struct {
	ID          httpapi.ID                `json:"id" doc:"Id of the rule."`
	Key         string                    `json:"key" doc:"Name for programs."`
	Name        string                    `json:"name" doc:"Name for people."`
	Description *string                   `json:"description" doc:"What the rule is for."`
	ConfigID    httpapi.ID                `json:"config_id" doc:"The judge."`
	Filter      filterBody                `json:"filter" doc:"Which traces are meant."`
	SampleRate  float64                   `json:"sample_rate" doc:"Share of the matching traces that is judged."`
	SamplingKey string                    `json:"sampling_key" doc:"Text that decides, with the trace id, which traces are chosen."`
	Status      Status                    `json:"status" doc:"An active rule judges traces that arrive; a paused one does nothing."`
	SpendCapUSD *float64                  `json:"spend_cap_usd" doc:"What the rule may cost in each period, in US dollars; null without a limit."`
	CapPeriod   Period                    `json:"cap_period" doc:"Period of the cap."`
	Counts      countsBody                `json:"counts" volatile:"true" doc:"What became of the traces that were chosen since the rule was created."`
	Blocked     httpapi.Null[blockedBody] `json:"blocked" volatile:"true" doc:"Why the judge could not be asked about the last traces; they were skipped. Null if it could."`
	CreatedAt   httpapi.Time              `json:"created_at" doc:"When the rule was created."`
	UpdatedAt   httpapi.Time              `json:"updated_at" doc:"When the rule last changed."`
	Version     int64                     `json:"version" doc:"Counts changes of the rule; see If-Match."`
}

// Noun is what documents call it.
func (ruleBody) Noun() string { return "rule" }

// countsBody is a tally on the wire.
type countsBody struct {
	Judged    int64        `json:"judged" doc:"Traces with a verdict."`
	Abstained int64        `json:"abstained" doc:"Traces about which the judge abstained."`
	Failed    int64        `json:"failed" doc:"Traces for which the judge failed; their results say why."`
	FailedBy  []reasonBody `json:"failed_by" doc:"Failed traces by reason."`
	Skipped   int64        `json:"skipped" doc:"Traces about which the judge was not asked."`
	SkippedBy []reasonBody `json:"skipped_by" doc:"Skipped traces by reason."`
	SpentUSD  float64      `json:"spent_usd" doc:"What the verdicts have cost, in US dollars, as far as prices are known."`
}

type reasonBody struct {
	Reason string `json:"reason" doc:"Reason, as the error code of results or of caps."`
	Traces int64  `json:"traces" doc:"Number of traces."`
}

type blockedBody struct {
	Code    string       `json:"code" doc:"Reason for programs, such as spend_cap_reached."`
	Message string       `json:"message" doc:"Reason for people."`
	At      httpapi.Time `json:"at" doc:"When that was found."`
}

func toCounts(t Tally) countsBody {
	list := func(by map[string]int64) []reasonBody {
		out := make([]reasonBody, 0, len(by))
		for _, reason := range slices.Sorted(maps.Keys(by)) {
			out = append(out, reasonBody{reason, by[reason]})
		}
		return out
	}
	return countsBody{
		Judged: t.Judged, Abstained: t.Abstained, Failed: sum(t.Failed), FailedBy: list(t.Failed), Skipped: sum(t.Skipped), SkippedBy: list(t.Skipped),
		SpentUSD: float64(t.SpentNanoUSD) / 1e9,
	}
}

func toBlocked(b *Blocked) httpapi.Null[blockedBody] {
	if b == nil {
		return httpapi.Null[blockedBody]{}
	}
	return httpapi.NullOf(&blockedBody{b.Code, b.Message, httpapi.Time(b.At)})
}

func toRuleBody(r Rule) ruleBody {
	b := ruleBody{
		ID: httpapi.ID(r.ID), Key: r.Key, Name: r.Name, Description: httpapi.OrNull(r.Description), ConfigID: httpapi.ID(r.Config), Filter: toFilterBody(r.Filter),
		SampleRate: r.SampleRate, SamplingKey: r.SamplingKey, Status: r.Status, SpendCapUSD: dollars(r.CapNanoUSD), CapPeriod: r.CapPeriod, Counts: toCounts(r.Tally),
		CreatedAt: httpapi.Time(r.CreatedAt), UpdatedAt: httpapi.Time(r.UpdatedAt), Version: r.Changes,
	}
	if r.Status == StatusActive {
		b.Blocked = toBlocked(r.cursor.blocked)
	}
	return b
}

// rule is the rule that a body asks for.
func (b createBody) rule() Rule {
	r := Rule{
		Key: b.Key, Name: b.Name, Description: b.Description, Config: int64(b.ConfigID), Filter: b.Filter.filter(), SamplingKey: b.SamplingKey, SampleRate: b.SampleRate,
		Status: b.Status, CapNanoUSD: nano(b.SpendCapUSD), CapPeriod: b.CapPeriod,
	}
	if r.Name == "" {
		r.Name = r.Key
	}
	if r.SamplingKey == "" {
		r.SamplingKey = r.Key
	}
	return r
}

// apply makes the sent changes.
func (b updateBody) apply(r *Rule) {
	b.Name.Apply(&r.Name)
	b.Description.Apply(&r.Description)
	b.SampleRate.Apply(&r.SampleRate)
	b.Status.Apply(&r.Status)
	b.CapPeriod.Apply(&r.CapPeriod)
	if b.ConfigID.Sent {
		r.Config = int64(b.ConfigID.Value)
	}
	if b.Filter.Sent {
		r.Filter = b.Filter.Value.filter()
	}
	if b.SpendCapUSD.Sent {
		r.CapNanoUSD = nano(b.SpendCapUSD.Pointer())
	}
}

// nano is an amount of US dollars in billionths, nil if there is none.
func nano(usd *float64) *int64 {
	if usd == nil {
		return nil
	}
	n := int64(provider.NanoUSD(*usd))
	return &n
}

// dollars is an amount of billionths in US dollars, nil if there is none.
func dollars(nano *int64) *float64 {
	if nano == nil {
		return nil
	}
	usd := float64(*nano) / 1e9
	return &usd
}
