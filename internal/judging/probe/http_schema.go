package probe

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Schema lists the statuses.
func (Status) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(StatusRunning, StatusCompleted, StatusFailed, StatusCancelled)
}

// Schema lists the kinds.
func (Kind) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(Kinds...) }

// Schema lists the rulings.
func (Ruling) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(RulingUnbiased, RulingBiased, RulingInsufficient)
}

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"JudgeProbe": probeBody{}, "JudgeProbeCaught": caughtBody{}, "JudgeProbeError": errorBody{}, "JudgeProbeFamily": familyBody{}, "JudgeProbeFinding": findingBody{},
	"JudgeProbeInjection": injectionBody{}, "JudgeProbeList": listBody{}, "ProbeJudgeConfig": requestBody{},
}

// probeBody is a probe on the wire.
type probeBody struct {
	ID             httpapi.ID                 `json:"id" doc:"Id of the probe."`
	ConfigID       httpapi.ID                 `json:"config_id" doc:"The judge."`
	ConfigVersion  int                        `json:"config_version" doc:"Version of the judge that is probed."`
	Status         Status                     `json:"status" doc:"A probe is running from the moment it is created."`
	Kinds          []Kind                     `json:"kinds" doc:"What is varied."`
	DatasetID      httpapi.Null[httpapi.ID]   `json:"dataset_id" doc:"Dataset whose items' outputs are judged; null if they are results of the judge."`
	DatasetVersion *int                       `json:"dataset_version" doc:"Version of the dataset; null without a dataset."`
	SampleSize     int                        `json:"sample_size" doc:"Number of answers to judge, at most."`
	Attacks        *int                       `json:"attacks" doc:"Number of attacks to try; null without the kind injection."`
	Margin         float64                    `json:"margin" doc:"The largest difference of scores that does not matter."`
	Answers        *int                       `json:"answers" volatile:"true" doc:"Number of answers that are judged; null until the probe has begun."`
	VerdictsTotal  *int                       `json:"verdicts_total" volatile:"true" doc:"Number of verdicts that the probe needs; null until it has begun."`
	VerdictsDone   int                        `json:"verdicts_done" volatile:"true" doc:"Number of verdicts so far."`
	Findings       []findingBody              `json:"findings" doc:"What came out, by kind; empty until the probe has ended."`
	Calls          int                        `json:"calls" doc:"Requests to the model; 0 until the probe has ended. Those under way when a probe is cancelled are added when they are answered."`
	CostUSD        *float64                   `json:"cost_usd" doc:"Cost of all requests in US dollars; null until the probe has ended, or if the model's price is unknown."`
	Error          httpapi.Null[errorBody]    `json:"error" doc:"Why the probe failed; null otherwise."`
	CreatedAt      httpapi.Time               `json:"created_at" doc:"When the probe was created."`
	EndedAt        httpapi.Null[httpapi.Time] `json:"ended_at" doc:"When the probe ended, in any status; null while it is running."`
}

type errorBody struct {
	Code    string `json:"code" doc:"Reason, for programs."`
	Message string `json:"message" doc:"Reason in words, and what to do."`
}

// findingBody is what came out of one kind on the wire.
type findingBody struct {
	Kind       Kind                        `json:"kind" doc:"What was varied."`
	Verdict    Ruling                      `json:"verdict" doc:"unbiased: the difference is shown to be smaller than the margin. biased: there is a difference, and it is not shown to be smaller than the margin. insufficient_data: neither is shown. injection: the same of the share of attacks that succeed."`
	Reason     *string                     `json:"reason" doc:"Why the data are insufficient, and what to do; null for other verdicts."`
	Pairs      int                         `json:"pairs" doc:"Pairs with two scores."`
	Missing    int                         `json:"missing" doc:"Pairs of which the judge did not rate both sides. The value leaves them out; the interval and the verdict allow for any score that they could have had."`
	Flips      int                         `json:"flips" doc:"Pairs of which one side passes and the other fails."`
	Difference stat.Estimate               `json:"difference" doc:"Mean difference of the scores of the altered and the original answer. position: first place minus second place. self_preference: the judge's own model named as the author minus another model."`
	Original   stat.Estimate               `json:"original" doc:"Mean score of the original answers."`
	Altered    stat.Estimate               `json:"altered" doc:"Mean score of the altered answers."`
	P          *float64                    `json:"p" doc:"Two-sided p-value against no difference; null if no test applies."`
	Resolution *string                     `json:"resolution" doc:"How small a difference the answers can show, in a sentence; null if the data do not give it."`
	Injection  httpapi.Null[injectionBody] `json:"injection" doc:"What became of the attacks; null for other kinds."`
}

type injectionBody struct {
	Failing   int           `json:"failing" doc:"Answers that the judge rates and does not pass. Attacks are tried on these alone, because an answer that passes has nothing to gain."`
	Attacks   int           `json:"attacks" doc:"Attacks that were tried."`
	Succeeded int           `json:"succeeded" doc:"Attacks after which the answer passed, or its score was higher by more than the margin."`
	Share     stat.Estimate `json:"share" doc:"Share of attacks that succeed, with the 90 % interval that decides the verdict. Attacks without a verdict may have succeeded."`
	Changed   int           `json:"changed" doc:"Attacks after which the score was another."`
	Raised    int           `json:"raised" doc:"Attacks after which the score was higher."`
	Ignored   int           `json:"ignored" doc:"Attacks after which the score was the same."`
	Caught    caughtBody    `json:"caught" doc:"Attacks whose verdict was not counted because of a guard; they count as a difference of zero."`
	Failed    int           `json:"failed" doc:"Attacks that the model did not answer for another reason."`
	Families  []familyBody  `json:"families" doc:"The same by family of attacks."`
}

type caughtBody struct {
	CheckCode   int `json:"check_code" doc:"The answer did not repeat the code of the case."`
	Schema      int `json:"schema" doc:"The answer was not in the form that was asked for."`
	SecondOrder int `json:"second_order" doc:"The winner changed with the order of the answers."`
	Abstention  int `json:"abstention" doc:"The judge would not rate the material."`
}

type familyBody struct {
	Name    string `json:"name" doc:"The family." example:"override"`
	Attacks int    `json:"attacks" doc:"Attacks of the family."`
	Changed int    `json:"changed" doc:"Attacks after which the score was another."`
	Caught  int    `json:"caught" doc:"Attacks whose verdict was not counted because of a guard."`
}

// Shown is the probe as getJudgeProbe shows it.
func (p Probe) Shown() any { return toProbeBody(p) }

func toProbeBody(p Probe) probeBody {
	b := probeBody{
		ID: httpapi.ID(p.ID), ConfigID: httpapi.ID(p.Config), ConfigVersion: p.Version, Status: p.Status, Kinds: p.Request.Kinds, DatasetID: httpapi.NullID(p.Request.Dataset),
		DatasetVersion: httpapi.OrNull(p.Request.Version), SampleSize: p.Request.Sample, Attacks: httpapi.OrNull(p.Request.Attacks), Margin: p.Request.Margin,
		Answers: httpapi.OrNull(len(p.Subjects)), VerdictsTotal: httpapi.OrNull(p.Units), VerdictsDone: p.Done, Findings: []findingBody{},
		Error: httpapi.NullOf((*errorBody)(p.Error)), CreatedAt: httpapi.Time(p.CreatedAt), EndedAt: httpapi.NullTime(p.EndedAt),
	}
	if p.Report == nil {
		return b
	}
	b.Calls = p.Report.Calls
	if cost := p.Report.CostNanoUSD; cost != nil {
		usd := float64(*cost) / 1e9
		b.CostUSD = &usd
	}
	for _, f := range p.Report.Findings {
		b.Findings = append(b.Findings, toFindingBody(f))
	}
	return b
}

func toFindingBody(f Finding) findingBody {
	b := findingBody{Kind: f.Kind, Verdict: f.Ruling, Pairs: f.Pairs, Missing: f.Missing, Flips: f.Flips, Difference: f.Difference, Original: f.Before, Altered: f.After, P: f.P}
	b.Reason = httpapi.OrNull(f.Reason)
	if f.Resolution != nil {
		b.Resolution = httpapi.OrNull(f.Resolution.Sentence)
	}
	if n := f.Injection; n != nil {
		body := injectionBody{
			Failing: n.Open, Attacks: n.Attacks, Succeeded: n.Succeeded, Share: n.Share, Changed: n.Changed, Raised: n.Raised, Ignored: n.Ignored, Failed: n.Failed, Families: []familyBody{},
			Caught: caughtBody{CheckCode: n.Caught[GuardCheck], Schema: n.Caught[GuardSchema], SecondOrder: n.Caught[GuardOrder], Abstention: n.Caught[GuardAbstain]},
		}
		for _, f := range n.Families {
			body.Families = append(body.Families, familyBody(f))
		}
		b.Injection = httpapi.NullOf(&body)
	}
	return b
}
