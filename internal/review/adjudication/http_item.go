package adjudication

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// itemBody is an item on the wire.
type itemBody struct {
	ID                int64                       `json:"id" doc:"Id of the item."`
	Source            Source                      `json:"source" doc:"Why the item was opened."`
	Status            Status                      `json:"status" doc:"Where the item stands."`
	Priority          Priority                    `json:"priority" doc:"How urgent the item is."`
	PriorityScore     float64                     `json:"priority_score" volatile:"true" doc:"Place in the queue, from 0 to 100: 10, 30, 50 or 70 for the priority, up to 20 for the disagreement, and 1 for each day since the item was opened."`
	Disagreement      float64                     `json:"disagreement" doc:"How far apart the candidates are, from 0 to 1."`
	Subject           subjectBody                 `json:"subject" doc:"What the item is about."`
	Title             *string                     `json:"title" doc:"Title."`
	Question          *string                     `json:"question" doc:"What has to be decided."`
	Context           httpapi.Object              `json:"context" doc:"Anything else that helps to decide."`
	Candidates        []candidateBody             `json:"candidates" doc:"The positions in conflict, as they were when the item was opened."`
	Content           httpapi.Null[contentBody]   `json:"content" volatile:"true" doc:"The answer and what it answers, as they were when the item was opened; null in lists."`
	ContentDigest     string                      `json:"content_digest" doc:"SHA-256 of the canonical JSON (RFC 8785) of input and output: what was assessed."`
	FailureMode       *string                     `json:"failure_mode" doc:"How the answer fails, as the decision says."`
	AssigneeID        *string                     `json:"assignee_id" doc:"Member who is to decide."`
	AssignedBy        httpapi.Null[httpapi.Actor] `json:"assigned_by" volatile:"true" doc:"Who assigned the item."`
	AssignedAt        httpapi.Null[httpapi.Time]  `json:"assigned_at" doc:"When the item was assigned."`
	DueAt             httpapi.Null[httpapi.Time]  `json:"due_at" doc:"When the decision is due."`
	Tags              []string                    `json:"tags" doc:"Tags."`
	Notes             *string                     `json:"notes" doc:"Notes."`
	Reason            *string                     `json:"reason" doc:"Why the item was last dismissed, reopened or closed without ground truth."`
	Decision          httpapi.Null[decisionBody]  `json:"decision" doc:"The decision that stands."`
	DecisionHistory   []decisionBody              `json:"decision_history" doc:"Superseded decisions, newest first."`
	GroundTruthID     *int64                      `json:"ground_truth_id" doc:"The active ground truth."`
	GoldenItemID      httpapi.Null[httpapi.ID]    `json:"golden_item_id" doc:"Item of a golden dataset that rests on the ground truth; the newest if there are several."`
	CalibrationItemID httpapi.Null[httpapi.ID]    `json:"calibration_item_id" doc:"Item of a calibration dataset that rests on the ground truth; the newest if there are several."`
	Entries           []entryBody                 `json:"entries" doc:"Items of datasets that rest on the ground truth, in the order in which they were added."`
	CreatedBy         httpapi.Actor               `json:"created_by" volatile:"true" doc:"Who opened the item; the system if it was opened automatically."`
	CreatedAt         httpapi.Time                `json:"created_at" doc:"When the item was opened."`
	UpdatedAt         httpapi.Time                `json:"updated_at" doc:"When the item last changed."`
	Version           int64                       `json:"version" doc:"Counts changes of the item; see If-Match."`
}

// Noun is what documents call it.
func (itemBody) Noun() string { return "item" }

type subjectBody struct {
	EvaluationRunID httpapi.Null[httpapi.ID] `json:"evaluation_run_id" doc:"Run that the answer is from."`
	TestCaseID      httpapi.Null[httpapi.ID] `json:"test_case_id" doc:"Item of the dataset that the answer is to."`
	Epoch           *int                     `json:"epoch" doc:"Repetition of the item in the run, from 0; null if the answer is not from a run."`
	TraceID         *string                  `json:"trace_id" doc:"Trace."`
	SpanID          *string                  `json:"span_id" doc:"Span of the trace; null for the whole trace."`
	JudgeResultIDs  []httpapi.ID             `json:"judge_result_ids" doc:"Results of judges that the item was opened for."`
	AnnotationItem  *int64                   `json:"annotation_item_id" doc:"Item of an annotation task."`
	PolicyDecision  *int64                   `json:"policy_decision_id" doc:"Policy decision; null, because there are none yet."`
}

type candidateBody struct {
	Origin    string   `json:"origin" doc:"Whose position it is: judge:<key> for a judge, user/<id> for a member, or any other name."`
	Label     *string  `json:"label" doc:"Label."`
	Score     *float64 `json:"score" doc:"Score from 0 to 1."`
	Rationale *string  `json:"rationale" doc:"Why."`
}

type contentBody struct {
	Input          httpapi.JSON `json:"input" doc:"What the application was given."`
	Output         httpapi.JSON `json:"output" doc:"The answer."`
	ExpectedOutput httpapi.JSON `json:"expected_output" doc:"What a good answer is, as the dataset says."`
	Context        httpapi.JSON `json:"context" doc:"Retrieved or given context."`
	Messages       httpapi.JSON `json:"messages" doc:"A conversation."`
	Tools          httpapi.JSON `json:"tools" doc:"Tools that the application could call."`
}

type decisionBody struct {
	ID                int64                       `json:"id" doc:"Id of the decision."`
	Decision          Verdict                     `json:"decision" doc:"What was decided."`
	Rationale         string                      `json:"rationale" doc:"Why."`
	Label             *string                     `json:"label" doc:"Label of the answer."`
	Score             *float64                    `json:"score" doc:"Score of the answer from 0 to 1."`
	ExpectedOutput    httpapi.JSON                `json:"expected_output" doc:"What would have been right."`
	FailureMode       *string                     `json:"failure_mode" doc:"How the answer fails."`
	Confidence        *float64                    `json:"confidence" doc:"How sure the decider is, from 0 to 1."`
	DecidedBy         httpapi.Actor               `json:"decided_by" volatile:"true" doc:"Who decided."`
	Independent       bool                        `json:"independent" doc:"False if the decider had assessed the answer before."`
	Override          bool                        `json:"override" doc:"Whether the item was assigned to another member."`
	Separation        string                      `json:"separation_of_duties" enum:"requester,key_owner,off" doc:"The organization's setting under which the decision was made."`
	OverturnsJudges   *bool                       `json:"overturns_judges" doc:"Whether the decision goes against what the judges among the candidates say; null if they say nothing together."`
	CreatedAt         httpapi.Time                `json:"created_at" doc:"When it was decided."`
	SupersededAt      httpapi.Null[httpapi.Time]  `json:"superseded_at" doc:"When the item was reopened; null while the decision stands."`
	SupersededBy      httpapi.Null[httpapi.Actor] `json:"superseded_by" volatile:"true" doc:"Who reopened the item."`
	SupersededReasons *string                     `json:"superseded_reason" doc:"Why the item was reopened."`
}

type entryBody struct {
	Purpose       dataset.Purpose          `json:"purpose" doc:"calibration or golden."`
	DatasetID     httpapi.ID               `json:"dataset_id" doc:"The dataset."`
	DatasetItemID httpapi.ID               `json:"dataset_item_id" doc:"Its item."`
	GroundTruthID int64                    `json:"ground_truth_id" doc:"Ground truth that the item rests on."`
	Split         *string                  `json:"split" enum:"train,dev,test" doc:"Split of the item when it was added; null in a golden dataset."`
	JudgeConfigID httpapi.Null[httpapi.ID] `json:"judge_config_id" doc:"Judge whose label the item has, if one was named."`
	Tags          []string                 `json:"tags" doc:"Tags of the promotion."`
	Justification *string                  `json:"justification" doc:"Why the item was promoted."`
	CreatedBy     httpapi.Actor            `json:"created_by" volatile:"true" doc:"Who added the item."`
	CreatedAt     httpapi.Time             `json:"created_at" doc:"When the item was added."`
}

// names looks up what actors are called, one query for all of them.
type names map[principal.Actor]httpapi.Actor

// actors are all who did something about items.
func actors(items []Item) (all []principal.Actor) {
	for _, i := range items {
		all = append(all, i.CreatedBy)
		if i.AssignedBy != nil {
			all = append(all, *i.AssignedBy)
		}
		for _, d := range i.Decisions {
			if all = append(all, d.By); d.Superseded != nil {
				all = append(all, d.Superseded.By)
			}
		}
		for _, e := range i.Entries {
			all = append(all, e.By)
		}
		if i.Truth != nil {
			all = append(all, i.Truth.DecidedBy, i.Truth.CreatedBy)
		}
	}
	return distinct(all)
}

// of is an actor as responses show it.
func (n names) of(a principal.Actor) httpapi.Actor {
	if known, ok := n[a]; ok {
		return known
	}
	return httpapi.ToActor(a, "")
}

func named(all []principal.Actor, shown []httpapi.Actor) names {
	n := make(names, len(all))
	for i, a := range all {
		n[a] = shown[i]
	}
	return n
}

// bodies are items on the wire.
func (s *Service) bodies(ctx context.Context, org principal.OrgID, items ...Item) ([]itemBody, error) {
	all := actors(items)
	shown, err := s.tenancy.Actors(ctx, org, all...)
	if err != nil {
		return nil, err
	}
	out, n := make([]itemBody, len(items)), named(all, shown)
	for k, i := range items {
		out[k] = toBody(i, n)
		out[k].PriorityScore = i.priorityScore(s.now())
	}
	return out, nil
}

// bodyTx is an item on the wire, for the response to a change.
func (s *Service) bodyTx(ctx context.Context, tx postgres.Tx, i Item) (itemBody, error) {
	all := actors([]Item{i})
	shown, err := s.tenancy.ActorsTx(ctx, tx, all...)
	if err != nil {
		return itemBody{}, err
	}
	b := toBody(i, named(all, shown))
	b.PriorityScore = i.priorityScore(s.now())
	return b, nil
}

// Shown is the item as getAdjudicationItem shows it.
func (i Item) Shown() any { return toBody(i, nil) }

func toBody(i Item, n names) itemBody {
	b := itemBody{
		ID: i.ID, Source: i.Source, Status: i.Status, Priority: i.Priority, Disagreement: i.Disagreement, Subject: toSubject(i.Subject), Title: httpapi.OrNull(i.Title), Question: httpapi.OrNull(i.Question),
		Context: httpapi.Object(i.Context), Candidates: toCandidates(i.Candidates), Content: toContent(i.Content), ContentDigest: i.Digest.String(), FailureMode: httpapi.OrNull(i.FailureMode),
		AssignedAt: httpapi.NullTime(i.AssignedAt), DueAt: httpapi.NullTime(i.DueAt), Tags: httpapi.OrEmpty(i.Tags), Notes: httpapi.OrNull(i.Notes), Reason: httpapi.OrNull(i.Reason),
		DecisionHistory: []decisionBody{}, Entries: []entryBody{}, CreatedBy: n.of(i.CreatedBy), CreatedAt: httpapi.Time(i.CreatedAt), UpdatedAt: httpapi.Time(i.UpdatedAt), Version: i.Changes,
	}
	if i.Assignee != nil {
		b.AssigneeID = new(i.Assignee.String())
	}
	if i.AssignedBy != nil {
		b.AssignedBy = httpapi.NullOf(new(n.of(*i.AssignedBy)))
	}
	for _, d := range i.Decisions {
		if d.Superseded == nil {
			b.Decision = httpapi.NullOf(new(toDecision(d, n)))
		} else {
			b.DecisionHistory = append(b.DecisionHistory, toDecision(d, n))
		}
	}
	if i.Truth != nil {
		b.GroundTruthID = &i.Truth.ID
	}
	for _, e := range i.Entries {
		b.Entries = append(b.Entries, toEntry(e, n))
		if e.Purpose == dataset.PurposeGolden {
			b.GoldenItemID = httpapi.NullID(e.DatasetItem)
		} else {
			b.CalibrationItemID = httpapi.NullID(e.DatasetItem)
		}
	}
	return b
}

func toSubject(s Subject) subjectBody {
	b := subjectBody{
		EvaluationRunID: httpapi.NullID(s.Run), TestCaseID: httpapi.NullID(s.TestCase), TraceID: httpapi.OrNull(s.Trace), SpanID: httpapi.OrNull(s.Span), JudgeResultIDs: []httpapi.ID{},
		AnnotationItem: httpapi.OrNull(s.AnnotationItem),
	}
	if s.Run != 0 {
		b.Epoch = &s.Epoch
	}
	for _, id := range s.JudgeResults {
		b.JudgeResultIDs = append(b.JudgeResultIDs, httpapi.ID(id))
	}
	return b
}

func toCandidates(all []Candidate) []candidateBody {
	out := make([]candidateBody, len(all))
	for i, c := range all {
		out[i] = candidateBody{Origin: c.Origin, Label: httpapi.OrNull(c.Label), Score: c.Score, Rationale: httpapi.OrNull(c.Rationale)}
	}
	return out
}

func toContent(c *dataset.Content) httpapi.Null[contentBody] {
	if c == nil {
		return httpapi.Null[contentBody]{}
	}
	return httpapi.NullOf(&contentBody{
		Input: httpapi.JSON(c.Input), Output: httpapi.JSON(c.Output), ExpectedOutput: httpapi.JSON(c.ExpectedOutput), Context: httpapi.JSON(c.Context), Messages: httpapi.JSON(c.Messages), Tools: httpapi.JSON(c.Tools),
	})
}

func toDecision(d Decision, n names) decisionBody {
	b := decisionBody{
		ID: d.ID, Decision: d.Verdict, Rationale: d.Rationale, Label: httpapi.OrNull(d.Label), Score: d.Score, ExpectedOutput: httpapi.JSON(d.Expected), FailureMode: httpapi.OrNull(d.FailureMode),
		Confidence: d.Confidence, DecidedBy: n.of(d.By), Independent: d.Independent, Override: d.Override, Separation: d.Separation, OverturnsJudges: d.Overturned, CreatedAt: httpapi.Time(d.At),
	}
	if d.Superseded != nil {
		b.SupersededAt, b.SupersededBy = httpapi.NullTime(&d.Superseded.At), httpapi.NullOf(new(n.of(d.Superseded.By)))
		b.SupersededReasons = httpapi.OrNull(d.Superseded.Reason)
	}
	return b
}

func toEntry(e Entry, n names) entryBody {
	return entryBody{
		Purpose: e.Purpose, DatasetID: httpapi.ID(e.Dataset), DatasetItemID: httpapi.ID(e.DatasetItem), GroundTruthID: e.Truth, Split: httpapi.OrNull(e.Split), JudgeConfigID: httpapi.NullID(e.Judge),
		Tags: httpapi.OrEmpty(e.Tags), Justification: httpapi.OrNull(e.Justification), CreatedBy: n.of(e.By), CreatedAt: httpapi.Time(e.At),
	}
}
