package trace

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// FeedbackType says what a piece of feedback is.
type FeedbackType string

// The types of feedback.
const (
	FeedbackThumbs     FeedbackType = "thumbs"
	FeedbackRating     FeedbackType = "rating"
	FeedbackComment    FeedbackType = "comment"
	FeedbackCorrection FeedbackType = "correction"
	FeedbackScore      FeedbackType = "score"
)

// maxScore is what no metric measures more than.
const maxScore = 1e15

// Feedback is what somebody said about a trace or one of its spans.
type Feedback struct {
	ID    int64
	Trace span.TraceID
	Span  span.ID // zero if it is about the whole trace
	Type  FeedbackType
	Name  string // of the metric that a score is of
	// Value is true or false of thumbs, a number from 0 to 1 of a rating, any
	// number of a score, what would have been right of a correction, and nil if
	// there is none.
	Value   jsontext.Value
	Comment string
	// UserID is the user of the application, not a member of the organization.
	UserID    string
	CreatedBy principal.Actor
	CreatedAt time.Time

	retention uint16
}

// check holds feedback against what its type needs and brings thumbs to their
// one form.
func (f *Feedback) check() error {
	invalid := func(path, code, message string) error { return fault.Invalid("body", path, code, message) }
	if (f.Type == FeedbackScore) != (f.Name != "") {
		return invalid("/name", "required", "is required for a score, which is of a metric, and for nothing else")
	}
	switch f.Type {
	case FeedbackThumbs:
		switch string(f.Value) {
		case "true", `"up"`:
			f.Value = jsontext.Value("true")
		case "false", `"down"`:
			f.Value = jsontext.Value("false")
		case "":
			return invalid("/value", "required", `is required: send true or "up", false or "down"`)
		default:
			return invalid("/value", "enum", `must be true or "up", false or "down"`)
		}
	case FeedbackRating:
		if len(f.Value) == 0 {
			return invalid("/value", "required", "is required: send a number from 0 to 1")
		}
		if f.Value.Kind() != '0' {
			return invalid("/value", "type", "must be a number from 0 to 1")
		}
		n, err := strconv.ParseFloat(string(f.Value), 64)
		switch {
		case err != nil || n < 0:
			return invalid("/value", "min", "must be at least 0")
		case n > 1:
			return invalid("/value", "max", "must be at most 1")
		}
	case FeedbackScore:
		if len(f.Value) == 0 {
			return invalid("/value", "required", "is required: send a number")
		}
		if n, err := strconv.ParseFloat(string(f.Value), 64); f.Value.Kind() != '0' || err != nil || math.Abs(n) > maxScore {
			return invalid("/value", "type", "must be a number of at most 1e15")
		}
	case FeedbackComment:
		if f.Comment == "" {
			return invalid("/comment", "required", "is required")
		}
	case FeedbackCorrection:
		if len(f.Value) == 0 {
			return invalid("/value", "required", "is required: send what would have been right")
		}
	}
	return nil
}

// prepareFeedback removes secrets from what was said, as from telemetry, and
// keeps it for as long as a trace.
func (s *Service) prepareFeedback(ctx context.Context, org principal.OrgID, f *Feedback) error {
	settings, err := s.settings.get(ctx, org)
	if err != nil {
		return err
	}
	for _, text := range []*string{&f.Comment, &f.UserID} {
		if clean, changed := settings.redactor.Text(nil, []byte(*text)); changed {
			*text = string(clean)
		}
	}
	if text, changed := settings.redactor.JSONText(nil, f.Value); changed {
		f.Value = text
	}
	f.retention = settings.retention
	return nil
}

// AddFeedbackTx promises to keep what somebody said about a trace that exists.
// KeepFeedback makes it readable after the commit.
func (s *Service) AddFeedbackTx(ctx context.Context, tx postgres.Tx, f Feedback) (Feedback, error) {
	if err := f.check(); err != nil {
		return Feedback{}, err
	}
	f.CreatedBy, f.CreatedAt = principal.ActorOf(ctx), s.now()
	var err error
	if f.ID, err = s.store.nextFeedbackTx(ctx, tx); err != nil {
		return Feedback{}, err
	}
	if err := s.scores.PromiseTx(ctx, tx, f.score()); err != nil {
		return Feedback{}, err
	}
	return f, change.RecordTx(ctx, s.log, tx, EventFeedback, f.ID, nil, &f)
}

// KeepFeedback stores feedback that was promised. It reports false if that has
// to wait until ClickHouse is back.
func (s *Service) KeepFeedback(ctx context.Context, org principal.OrgID, f Feedback) bool {
	return s.scores.Keep(ctx, org, f.score())
}

// shown is the present as the interface shows it, so that a time that is
// stored is the time that is shown.
func (s *Service) shown() time.Time { return s.now().Truncate(time.Millisecond) }
