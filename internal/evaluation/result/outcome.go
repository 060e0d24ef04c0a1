package result

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
)

// Status is what became of an item in one repetition.
type Status string

// The statuses. An errored item has no scores and counts as failed; a skipped
// one counts as nothing.
const (
	StatusPassed  Status = "passed"
	StatusFailed  Status = "failed"
	StatusErrored Status = "errored"
	StatusSkipped Status = "skipped"
)

// Run is where results belong.
type Run struct {
	Org     principal.OrgID
	ID      int64
	Started time.Time
}

// Key names an outcome within its run.
type Key struct {
	Item  int64
	Epoch int
}

// Compare is the order of outcomes: by their items, then by their epochs.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Item, o.Item), cmp.Compare(k.Epoch, o.Epoch))
}

// Outcome is what came of one item in one repetition.
type Outcome struct {
	Key
	// Content is a digest of what the item said, Cluster the group of items
	// that it belongs to, if there is one.
	Content [16]byte
	Cluster string
	Weight  float64

	Status    Status
	Output    jsontext.Value
	ToolCalls jsontext.Value
	// Trace is zero if the work left none.
	Trace [16]byte
	// Duration and CostNanoUSD are nil when nobody knows.
	Duration                  *time.Duration
	CostNanoUSD               *uint64
	InputTokens, OutputTokens uint32
	// Calls is how often a model or an application was asked.
	Calls int
	// ScoringNanoUSD is what it cost to score the answer, as far as that is known.
	ScoringNanoUSD uint64
	// ErrorCode is empty unless the item errored.
	ErrorCode, ErrorMessage string
	// Attempts is a JSON list of what went wrong before the last attempt.
	Attempts jsontext.Value

	// Overall is the item's composite score, nil if a part of it is missing.
	Overall *float64
	Scores  []Score
}

// DurationMS is how long the item took in milliseconds, nil when nobody knows.
func (o *Outcome) DurationMS() *float64 {
	if o.Duration == nil {
		return nil
	}
	ms := float64(o.Duration.Microseconds()) / 1000
	return &ms
}

// CostUSD is what the item cost in US dollars, nil when nobody knows.
func (o *Outcome) CostUSD() *float64 {
	if o.CostNanoUSD == nil {
		return nil
	}
	usd := float64(*o.CostNanoUSD) / 1e9
	return &usd
}

// TraceID is the trace in hexadecimal digits, empty if the work left none.
func (o *Outcome) TraceID() string {
	if o.Trace == ([16]byte{}) {
		return ""
	}
	return hex.EncodeToString(o.Trace[:])
}

// Score is what one metric says about an outcome. A missing score has no value
// and a reason.
type Score struct {
	Metric      string
	Value       *float64
	Reason      string
	Explanation string
}

// Brief is an outcome without what only readers of the item need.
type Brief struct {
	Key
	Content                   [16]byte
	Cluster                   string
	Weight                    float64
	Status                    Status
	Overall                   *float64
	Unfit                     bool   // the item cannot be scored, whatever the answer
	Answered                  bool   // whether there is an answer, scored or not
	CostNanoUSD               uint64 // of the answer and of its scores
	ScoringNanoUSD            uint64 // of its scores alone
	InputTokens, OutputTokens uint32
	Calls                     int
}

// Errors of items that have an answer.
const (
	CodeUnfit   = "item_cannot_be_scored" // no answer could be scored
	CodeNoScore = "no_score"              // no metric could score the answer, or none has yet
)

// answered reports whether an outcome has an answer, scored or not.
func answered(s Status, code string) bool {
	return s == StatusPassed || s == StatusFailed || code == CodeUnfit || code == CodeNoScore
}

// Brief leaves out everything that only readers of the item need.
func (o *Outcome) Brief() Brief {
	b := Brief{
		Key: o.Key, Content: o.Content, Cluster: o.Cluster, Weight: o.Weight, Status: o.Status, Overall: o.Overall, Unfit: o.ErrorCode == CodeUnfit, Answered: answered(o.Status, o.ErrorCode),
		InputTokens: o.InputTokens, OutputTokens: o.OutputTokens, Calls: o.Calls,
	}
	b.CostNanoUSD, b.ScoringNanoUSD = o.ScoringNanoUSD, o.ScoringNanoUSD
	if o.CostNanoUSD != nil {
		b.CostNanoUSD += *o.CostNanoUSD
	}
	return b
}

// Service keeps results.
type Service struct {
	store store
}

// New makes the service.
func New(stores Stores, now func() time.Time) *Service {
	return &Service{store: store{Stores: stores, now: now}}
}

// Insert stores outcomes with their scores: all of them or none. They can be
// read when it returns. A caller that does not know what became of an insert
// repeats it.
func (s *Service) Insert(ctx context.Context, r Run, outcomes []Outcome) error {
	return s.store.insert(ctx, r, outcomes)
}

// Done returns what is stored of some items, in any order.
func (s *Service) Done(ctx context.Context, r Run, items []int64) ([]Brief, error) {
	return s.store.done(ctx, r, items)
}

// Missing returns which outcomes of some items lack the score of one of the metrics
// for a reason, in any order.
func (s *Service) Missing(ctx context.Context, r Run, items []int64, metrics []string, reason string) ([]Key, error) {
	return s.store.missing(ctx, r, items, metrics, reason)
}

// Filter selects outcomes of a run; an empty field matches everything.
type Filter struct {
	Statuses []Status // any of them
	// Items are the only items wanted, if there are any.
	Items []int64
	// Metric selects outcomes that it scored, between the bounds if there are any.
	Metric             string
	MinScore, MaxScore *float64
	// After is the outcome that a page begins after.
	After  Key
	Limit  int
	Offset int
}

// PageBytes is where a page of outcomes ends, however few there are.
const PageBytes = 8 << 20

// Page returns outcomes in the order of their items and epochs, with scores, and
// whether there are others after them. It has fewer than the limit if these have
// PageBytes.
func (s *Service) Page(ctx context.Context, r Run, f Filter) (page []Outcome, more bool, err error) {
	return s.store.page(ctx, r, f)
}

// Count returns how many outcomes match a filter, on all pages.
func (s *Service) Count(ctx context.Context, r Run, f Filter) (int, error) {
	return s.store.count(ctx, r, f)
}

// Briefs returns every outcome of a run, in the order of items and epochs.
func (s *Service) Briefs(ctx context.Context, r Run) ([]Brief, error) {
	return s.store.briefs(ctx, r)
}

// Traced is an outcome that names a trace.
type Traced struct {
	Key
	Trace    [16]byte
	Answered bool
}

// Traced returns every outcome of a run that names a trace, in the order of items and
// epochs.
func (s *Service) Traced(ctx context.Context, r Run) ([]Traced, error) {
	all, err := s.store.traced(ctx, r)
	return slices.DeleteFunc(all, func(t Traced) bool { return t.Trace == [16]byte{} }), err
}

// Measure is one score of an outcome, as statistics need it.
type Measure struct {
	Key
	Value  float64
	Scored bool
	Reason string // why there is no score
}

// Measures returns the scores of one metric, in the order of items and epochs.
func (s *Service) Measures(ctx context.Context, r Run, metric string) ([]Measure, error) {
	return s.store.measures(ctx, r, metric)
}

// Tally is what the outcomes of one status add up to.
type Tally struct {
	Status                    Status
	Outcomes                  int
	CostNanoUSD               int64
	InputTokens, OutputTokens int64
	Calls                     int64
}

// Tallies adds a run up, one tally for each status that it has.
func (s *Service) Tallies(ctx context.Context, r Run) ([]Tally, error) {
	return s.store.tallies(ctx, r)
}

// Erase removes the results of an organization's runs from the disks. It can be
// repeated: runs without results cost a look.
func (s *Service) Erase(ctx context.Context, org principal.OrgID, runs []int64) error {
	return s.store.erase(ctx, org, runs)
}
