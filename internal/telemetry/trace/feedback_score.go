package trace

import (
	"context"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Feedback is kept as scores of the trace or the span that it is about. Each type,
// and each name of a score, is a metric, so that no other source's metric has its
// name.
const (
	feedbackMetric = "feedback."
	scoreMetric    = feedbackMetric + string(FeedbackScore) + "."
)

// FeedbackMetric is the metric of feedback that says what an external metric wants to
// know: a score of its name or, if it is named like one, another type.
func FeedbackMetric(name string) string {
	if name == feedbackMetric+string(FeedbackThumbs) || name == feedbackMetric+string(FeedbackRating) {
		return name
	}
	return scoreMetric + name
}

// metric is the metric that the feedback is kept under.
func (f *Feedback) metric() string {
	if f.Type == FeedbackScore {
		return scoreMetric + f.Name
	}
	return feedbackMetric + string(f.Type)
}

// scoresOf are all scores of traces and of their spans.
func scoresOf(ids ...span.TraceID) score.Filter {
	f := score.Filter{Kinds: []score.Kind{score.KindTrace, score.KindSpan}}
	for _, id := range ids {
		f.IDs = append(f.IDs, id.String())
	}
	return f
}

// feedbackOf are the scores of traces and of their spans that are feedback.
func feedbackOf(ids ...span.TraceID) score.Filter {
	f := scoresOf(ids...)
	f.Prefix = feedbackMetric
	return f
}

// score is the feedback as it is stored.
//
// The same user's newer thumbs, rating or correction replaces the older one.
// Comments stand side by side, and so does feedback of nobody in particular,
// which a key may send for many users, unless it is a score.
func (f *Feedback) score() score.Score {
	s := score.Score{
		Subject: score.Trace(f.Trace), Metric: f.metric(), Source: f.source(),
		Record: f.ID, Comment: f.Comment, Detail: f.Value, By: f.CreatedBy, At: f.CreatedAt, RetentionDays: f.retention,
	}
	if f.Span != (span.ID{}) {
		s.Subject = score.Span(f.Trace, f.Span)
	}
	s.Separate = f.Type == FeedbackComment || s.Source.ID == ""
	s.Value, s.Label = f.measured()
	return s
}

// source is the user of the application, or the member whose own key sent the
// feedback. A score of nobody in particular is the key's, whose newer one replaces it.
func (f *Feedback) source() score.Source {
	if f.UserID == "" && f.CreatedBy.Type == principal.ActorUser && !f.CreatedBy.Asserted {
		return score.Source{Kind: score.SourcePerson, ID: f.CreatedBy.ID}
	}
	if f.UserID == "" && f.Type == FeedbackScore {
		return score.Source{Kind: score.SourceClient, ID: f.CreatedBy.ID}
	}
	return score.Source{Kind: score.SourceUser, ID: f.UserID}
}

// measured is the feedback as a number and as a word; only thumbs have both.
func (f *Feedback) measured() (*float64, string) {
	switch f.Type {
	case FeedbackThumbs:
		if string(f.Value) == "true" {
			return new(1.0), "up"
		}
		return new(0.0), "down"
	case FeedbackRating, FeedbackScore:
		if n, err := strconv.ParseFloat(string(f.Value), 64); err == nil {
			return &n, ""
		}
	}
	return nil, ""
}

// feedback returns what was said last about a trace, newest first.
func (s *Service) feedback(ctx context.Context, org principal.OrgID, trace span.TraceID) ([]Feedback, error) {
	scores, err := s.scores.List(ctx, org, feedbackOf(trace), maxFeedback)
	if err != nil {
		return nil, err
	}
	out := make([]Feedback, len(scores))
	for i, one := range scores {
		out[i] = Feedback{
			ID: one.Record, Trace: trace, Type: FeedbackType(strings.TrimPrefix(one.Metric, feedbackMetric)), Value: one.Detail,
			Comment: one.Comment, CreatedBy: one.By, CreatedAt: one.At,
		}
		if name, ok := strings.CutPrefix(one.Metric, scoreMetric); ok {
			out[i].Type, out[i].Name = FeedbackScore, name
		}
		out[i].Span, _ = span.ParseID(one.Subject.Part)
		if one.Source.Kind == score.SourceUser {
			out[i].UserID = one.Source.ID
		}
	}
	return out, nil
}
