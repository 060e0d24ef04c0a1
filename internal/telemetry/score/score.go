package score

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Kind says what kind of thing a score is about.
type Kind string

// The kinds of subjects.
const (
	KindTrace        Kind = "trace"
	KindSpan         Kind = "span"
	KindRunItem      Kind = "run_item"
	KindMatch        Kind = "match"
	KindConversation Kind = "conversation"
	// KindVerdict is an answer that was sent to a judge and is kept with the verdict
	// alone.
	KindVerdict Kind = "verdict"
)

// Subject is what a score is about.
type Subject struct {
	Kind Kind `json:"kind"`
	// ID names the trace, run, match or conversation, and Part the span or the
	// item within it.
	ID   string `json:"id"`
	Part string `json:"part,omitzero"`
}

// whole names the subject together with its parts: a trace with its spans, a run
// with its items.
func (s Subject) whole() string {
	switch s.Kind {
	case KindSpan:
		return "trace/" + s.ID
	case KindRunItem:
		return "run/" + s.ID
	default:
		return string(s.Kind) + "/" + s.ID
	}
}

// Trace is a whole trace.
func Trace(id span.TraceID) Subject { return Subject{Kind: KindTrace, ID: id.String()} }

// Span is a span of a trace.
func Span(trace span.TraceID, id span.ID) Subject {
	return Subject{Kind: KindSpan, ID: trace.String(), Part: id.String()}
}

// RunItem is an item of an evaluation run in one repetition.
func RunItem(run, item int64, epoch int) Subject {
	return Subject{Kind: KindRunItem, ID: strconv.FormatInt(run, 10), Part: strconv.FormatInt(item, 10) + "/" + strconv.Itoa(epoch)}
}

// Match is a match of the arena.
func Match(id int64) Subject { return Subject{Kind: KindMatch, ID: strconv.FormatInt(id, 10)} }

// Conversation is all traces of a conversation together.
func Conversation(id string) Subject { return Subject{Kind: KindConversation, ID: id} }

// Verdict is an answer that is kept with a judge's verdict about it.
func Verdict(id int64) Subject { return Subject{Kind: KindVerdict, ID: strconv.FormatInt(id, 10)} }

// SourceKind says what kind of source a score comes from.
type SourceKind string

// The kinds of sources.
const (
	SourceCode   SourceKind = "code"   // a metric that the platform computes
	SourceJudge  SourceKind = "judge"  // a model; its ID is the judge's
	SourcePerson SourceKind = "person" // a member; their ID is the user's
	SourceClient SourceKind = "client" // the organization's own program; its ID is the key's
	SourceUser   SourceKind = "user"   // a user of the application, as it names them
)

// Source is where a score comes from.
type Source struct {
	Kind SourceKind `json:"kind"`
	ID   string     `json:"id,omitzero"`
}

// Score is what one source says about a subject by one metric.
type Score struct {
	Subject Subject `json:"subject"`
	Metric  string  `json:"metric"`
	Source  Source  `json:"source"`
	// Record is the number of what the score was made from, such as feedback or
	// an annotation; zero if that has no number.
	Record int64 `json:"record,omitzero"`
	// Separate scores stand side by side, each under its record's number.
	Separate bool `json:"separate,omitzero"`
	// Value is nil if the source gave none.
	Value   *float64 `json:"value,omitzero"`
	Label   string   `json:"label,omitzero"`
	Comment string   `json:"comment,omitzero"`
	// Detail is whatever else the source said.
	Detail jsontext.Value `json:"detail,omitzero"`
	// ConfigVersion is the version of the judge or metric; zero if it has none.
	ConfigVersion int64 `json:"config_version,omitzero"`
	// By is who sent the score, which may be somebody else than its source.
	By principal.Actor `json:"-"`
	At time.Time       `json:"at"`
	// RetentionDays is how long the score is kept; zero is as long as its
	// organization.
	RetentionDays uint16 `json:"retention_days,omitzero"`
}

// Empty reports whether a score says nothing. Such a score is stored in place of one
// that was withdrawn, and is not read.
func (s *Score) Empty() bool {
	return s.Value == nil && s.Label == "" && s.Comment == "" && len(s.Detail) == 0
}

// Withdrawn is what is stored to take back a score.
func Withdrawn(one Score, at time.Time) Score {
	one.Value, one.Label, one.Comment, one.Detail, one.At = nil, "", "", nil, at
	return one
}

// LabelMetric is the metric of what people say under the key of a label.
func LabelMetric(key string) string { return "annotation.label." + key }

// Filter selects scores of an organization.
type Filter struct {
	// Kinds and IDs say which subjects are meant, with all their parts unless some are
	// named.
	Kinds []Kind
	IDs   []string
	Parts []string
	// Metrics are the only ones wanted, or those that begin with Prefix.
	Metrics []string
	Prefix  string
}

// Page selects the scores of one kind of source, wherever their subjects are; an
// empty field matches everything.
type Page struct {
	Source Source
	Metric string
	// Subject is the one wanted, with all of its parts if Part is empty.
	Subject Subject
	// Prefix is how the parts that are wanted begin.
	Prefix string
	// ConfigVersion is that of the judge or metric.
	ConfigVersion int64
	Min, Max      *float64
	// Detail are members of the detail with the text that each must have.
	Detail map[string]string
	// Record is that of one score; Below continues under a record.
	Record int64
	Below  int64
	Limit  int
	Offset int
}
