package judge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// ErrKeyMissing is returned when a judge cannot ask its model.
var ErrKeyMissing = fault.New(fault.Conflict, "precondition_missing", "The judge cannot ask its model.")

// Result is a recorded verdict.
type Result struct {
	ID int64
	// Config is the judge's id, Key its key and Version the version that was asked.
	Config  int64
	Key     string
	Version int
	Subject score.Subject
	// Dataset and DatasetVersion are where the item of a run is from; zero for other
	// subjects.
	Dataset        int64
	DatasetVersion int
	Split          string // of the item
	Cluster        string // of items that the item belongs to
	// Input and Output are what was judged, where no run or trace has it.
	Input, Output jsontext.Value
	Verdict
	// Prompt is the digest of what the model was asked.
	Prompt string
	By     principal.Actor
	At     time.Time
	// RetentionDays is how long the result is kept; zero is as long as the
	// organization.
	RetentionDays uint16
}

// detail is what a score keeps of a result besides its value.
type detail struct {
	Status     VerdictStatus     `json:"status"`
	Passed     *bool             `json:"passed"`
	Raw        *float64          `json:"raw,omitzero"`
	Criteria   []criterionDetail `json:"criteria,omitzero"`
	Confidence float64           `json:"confidence,omitzero"`
	Agreement  float64           `json:"agreement,omitzero"`
	Opinions   int               `json:"opinions,omitzero"`
	Code       string            `json:"code,omitzero"`
	Message    string            `json:"message,omitzero"`
	Dataset    int64             `json:"dataset,omitzero"`
	DatasetVer int               `json:"dataset_version,omitzero"`
	Split      string            `json:"split,omitzero"`
	Cluster    string            `json:"cluster,omitzero"`
	Input      jsontext.Value    `json:"input,omitzero"`
	Output     jsontext.Value    `json:"output,omitzero"`
	Prompt     string            `json:"prompt,omitzero"`
	Model      string            `json:"model,omitzero"`
	ReplyID    string            `json:"reply_id,omitzero"`
	Calls      int               `json:"calls,omitzero"`
	InTokens   uint32            `json:"input_tokens,omitzero"`
	OutTokens  uint32            `json:"output_tokens,omitzero"`
	Cost       *uint64           `json:"cost_nano_usd,omitzero"`
	TookMicros int64             `json:"took_micros,omitzero"`
}

type criterionDetail struct {
	Key   string   `json:"key"`
	Raw   *float64 `json:"raw,omitzero"`
	Label string   `json:"label"`
	Score float64  `json:"score"`
}

// score is the result as it is stored.
func (r Result) score() (score.Score, error) {
	d := detail{
		Status: r.Status, Raw: r.Raw, Confidence: r.Confidence, Agreement: r.Agreement, Opinions: r.Opinions, Code: r.Code, Message: r.Message, Dataset: r.Dataset, DatasetVer: r.DatasetVersion, Split: r.Split, Cluster: r.Cluster, Input: r.Input, Output: r.Output,
		Prompt: r.Prompt, Model: r.Model, ReplyID: r.ReplyID, Calls: r.Calls, InTokens: r.Usage.Input, OutTokens: r.Usage.Output, Cost: r.CostNanoUSD, TookMicros: r.Took.Microseconds(),
	}
	for _, c := range r.Criteria {
		d.Criteria = append(d.Criteria, criterionDetail{c.Key, c.Raw, c.Label, c.Score})
	}
	out := score.Score{
		Subject: r.Subject, Metric: MetricPrefix + r.Key, Source: score.Source{Kind: score.SourceJudge, ID: strconv.FormatInt(r.Config, 10)}, Record: r.ID,
		Label: r.Label, Comment: r.Reasoning, ConfigVersion: int64(r.Version), By: r.By, At: r.At, RetentionDays: r.RetentionDays,
	}
	if r.Status == VerdictCompleted {
		out.Value, d.Passed = &r.Score, &r.Passed
	}
	text, err := json.Marshal(d, json.Deterministic(true))
	out.Detail = text
	if err != nil {
		return out, fmt.Errorf("encode the result of a judge: %w", err)
	}
	return out, nil
}

// fromScore reads a stored result.
func fromScore(s score.Score) (Result, error) {
	var d detail
	if err := json.Unmarshal(s.Detail, &d); err != nil {
		return Result{}, fmt.Errorf("read result %d of a judge: %w", s.Record, err)
	}
	config, err := strconv.ParseInt(s.Source.ID, 10, 64)
	if err != nil {
		return Result{}, fmt.Errorf("read result %d of a judge: %w", s.Record, err)
	}
	r := Result{
		ID: s.Record, Config: config, Key: s.Metric[min(len(MetricPrefix), len(s.Metric)):], Version: int(s.ConfigVersion), Subject: s.Subject, Dataset: d.Dataset, DatasetVersion: d.DatasetVer, Split: d.Split, Cluster: d.Cluster, Input: d.Input, Output: d.Output,
		Prompt: d.Prompt, By: s.By, At: s.At, RetentionDays: s.RetentionDays,
		Verdict: Verdict{
			Status: d.Status, Rating: Rating{Raw: d.Raw, Label: s.Label}, Reasoning: s.Comment, Confidence: d.Confidence, Agreement: d.Agreement, Opinions: d.Opinions,
			Code: d.Code, Message: d.Message, Model: d.Model, ReplyID: d.ReplyID,
			Spent: Spent{Calls: d.Calls, CostNanoUSD: d.Cost, Took: time.Duration(d.TookMicros) * time.Microsecond},
		},
	}
	r.Usage.Input, r.Usage.Output = d.InTokens, d.OutTokens
	if s.Value != nil {
		r.Score = *s.Value
	}
	if d.Passed != nil {
		r.Passed = *d.Passed
	}
	for _, c := range d.Criteria {
		r.Criteria = append(r.Criteria, CriterionRating{c.Key, Rating{Raw: c.Raw, Label: c.Label, Score: c.Score}})
	}
	return r, nil
}

// Sent is a case that somebody sends to a judge.
type Sent struct {
	Config int64
	Case   Case
	// Subject is what the case is of; zero if it is stored nowhere else.
	Subject score.Subject
}

// Evaluate asks a judge about a case. All of it happens outside of transactions:
// models take their time. RecordTx makes the result one that lasts.
func (s *Service) Evaluate(ctx context.Context, org principal.OrgID, in Sent) (Result, error) {
	c, err := s.Find(ctx, org, in.Config)
	if err != nil {
		return Result{}, err
	}
	if c.Status == StatusRetired {
		return Result{}, transitions.In(ErrRetired, c.Status)
	}
	j, err := s.Prepare(ctx, org, c, c.Current, provider.NewPace(s.clock, ctx.Done()), func(*provider.Failure) {})
	var unusable *provider.Unusable
	if errors.As(err, &unusable) {
		return Result{}, fault.New(fault.Conflict, ErrKeyMissing.Reason, unusable.Message+" Change the judge's provider key.")
	}
	if err != nil {
		return Result{}, err
	}
	ids, err := s.store.resultIDs(ctx, org, 1)
	if err != nil {
		return Result{}, err
	}
	asking, cancel := early(ctx)
	defer cancel()
	v, err := j.Ask(asking, in.Case, fmt.Sprintf("assay-judge-%d", ids[0]))
	var f *provider.Failure
	switch {
	case err == nil || errors.As(err, &f):
	case asking.Err() != nil && ctx.Err() == nil:
		f = errLate
	default:
		return Result{}, err
	}
	if f != nil { // it failed for every case, and so for this one
		v.Status, v.Code, v.Message = VerdictFailed, f.Code, f.Message
	}
	r := j.Result(ids[0], in.Subject, v)
	r.Prompt = j.Prompt(in.Case)
	r.By, r.At = principal.ActorOf(ctx), s.now()
	if in.Subject == (score.Subject{}) {
		r.Subject, r.Input, r.Output = score.Verdict(r.ID), in.Case.Input, in.Case.Output
	}
	return r, nil
}

// errLate is the end of a case whose model takes longer than a request may.
var errLate = &provider.Failure{Code: provider.CodeTimeout, Message: "The model did not answer in the time that a request may take. Send it again, or judge with an evaluation, which waits longer."}

// spare is what is kept of a request's time to record its result.
const spare = 3 * time.Second

// early is a context that ends so long before a request does that its result can
// still be recorded: what a model took is not lost because it took too long.
func early(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-spare))
}

// Result is a verdict of the judge, ready to be recorded.
func (j *Judge) Result(id int64, of score.Subject, v Verdict) Result {
	return Result{ID: id, Config: j.config.ID, Key: j.config.Key, Version: j.Version.Number, Subject: of, Verdict: v}
}

// Prompt names what the model is asked about a case: instructions, examples, case
// and model.
func (j *Judge) Prompt(c Case) string {
	h := sha256.New()
	h.Write(j.Version.Digest[:])
	if text, err := json.Marshal(c.data(single), json.Deterministic(true)); err == nil {
		h.Write(text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// RecordTx makes sure that a result is stored if the transaction commits. The caller
// calls Keep after the commit, so that the result can be read at once.
func (s *Service) RecordTx(ctx context.Context, tx postgres.Tx, r Result) error {
	one, err := r.score()
	if err != nil {
		return err
	}
	return s.scores.PromiseTx(ctx, tx, one)
}

// Keep stores a result that was recorded. It reports false if that has to wait.
func (s *Service) Keep(ctx context.Context, org principal.OrgID, r Result) bool {
	one, err := r.score()
	return err == nil && s.scores.Keep(ctx, org, one)
}

// Insert stores results in bulk. Whoever calls it repeats what failed.
func (s *Service) Insert(ctx context.Context, org principal.OrgID, results []Result) error {
	scores := make([]score.Score, len(results))
	for i, r := range results {
		var err error
		if scores[i], err = r.score(); err != nil {
			return err
		}
	}
	return s.scores.Insert(ctx, org, scores...)
}

// IDs takes numbers for results.
func (s *Service) IDs(ctx context.Context, org principal.OrgID, n int) ([]int64, error) {
	return s.store.resultIDs(ctx, org, n)
}

// ErrResultNotFound is returned when the organization has no such result.
var ErrResultNotFound = fault.New(fault.NotFound, "judge_result_not_found", "The result does not exist.")

// FindResult returns one result.
func (s *Service) FindResult(ctx context.Context, org principal.OrgID, id int64) (Result, error) {
	found, err := s.scores.Page(ctx, org, score.Page{Source: score.Source{Kind: score.SourceJudge}, Record: id, Below: 1 << 62, Limit: 1})
	if err != nil {
		return Result{}, err
	}
	if len(found) == 0 {
		return Result{}, ErrResultNotFound
	}
	return fromScore(found[0])
}

// ResultFilter selects results; an empty field matches everything.
type ResultFilter struct {
	Config  int64
	Version int
	Subject score.Subject
	// Trace is the id or the number of the trace that results are about, instead of Subject.
	Trace string
	// Item is one of a run's, in any repetition.
	Item     int64
	Status   VerdictStatus
	Passed   *bool
	Min, Max *float64
	// Below continues under a result's id.
	Below         int64
	Limit, Offset int
	// Count asks for the number of results on all pages.
	Count bool
}

// Results returns a page of results, newest first, with one more than the limit if
// there is a next page.
func (s *Service) Results(ctx context.Context, org principal.OrgID, f ResultFilter) ([]Result, int64, error) {
	if f.Trace != "" {
		id, err := s.traces.Resolve(ctx, org, f.Trace)
		if fault.IsNotFound(err) {
			return nil, 0, nil
		}
		if err != nil {
			return nil, 0, err
		}
		f.Subject = score.Subject{ID: score.Trace(id).ID}
	}
	p := score.Page{
		Source: score.Source{Kind: score.SourceJudge}, Subject: f.Subject, ConfigVersion: int64(f.Version), Min: f.Min, Max: f.Max, Detail: map[string]string{},
		Below: f.Below, Limit: f.Limit + 1, Offset: f.Offset,
	}
	if f.Item != 0 {
		p.Prefix = strconv.FormatInt(f.Item, 10) + "/"
	}
	if f.Config != 0 {
		p.Source.ID = strconv.FormatInt(f.Config, 10)
	}
	if f.Status != "" {
		p.Detail["status"] = strconv.Quote(string(f.Status))
	}
	if f.Passed != nil {
		p.Detail["passed"] = strconv.FormatBool(*f.Passed)
	}
	scores, err := s.scores.Page(ctx, org, p)
	if err != nil {
		return nil, 0, err
	}
	all := make([]Result, len(scores))
	for i, one := range scores {
		if all[i], err = fromScore(one); err != nil {
			return nil, 0, err
		}
	}
	if !f.Count {
		return all, 0, nil
	}
	p.Below = 1 << 62
	total, err := s.scores.Total(ctx, org, p)
	return all, total, err
}

// subject is a trace, or a span of it, as a caller names them.
func (s *Service) subject(ctx context.Context, org principal.OrgID, ofTrace, ofSpan string) (score.Subject, error) {
	id, err := s.traces.Resolve(ctx, org, ofTrace)
	if err != nil || ofSpan == "" {
		return score.Trace(id), err
	}
	of, ok := span.ParseID(ofSpan)
	if !ok {
		return score.Subject{}, fault.Invalid("body", "/spanId", "pattern", "must be 16 hexadecimal digits that are not all zero")
	}
	return score.Span(id, of), nil
}
