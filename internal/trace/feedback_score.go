package trace

import (
	"context"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/score"
	"github.com/assayhq/assay/internal/span"
)

// Feedback is kept as scores of the trace or the span that it is about. Each
// type is a metric, so that no other source's metric has its name.
const feedbackMetric = "feedback."

var feedbackMetrics = []string{
	feedbackMetric + string(FeedbackThumbs), feedbackMetric + string(FeedbackRating),
	feedbackMetric + string(FeedbackComment), feedbackMetric + string(FeedbackCorrection),
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
	f.Metrics = feedbackMetrics
	return f
}

// score is the feedback as it is stored.
//
// The same user's newer thumbs, rating or correction replaces the older one.
// Comments stand side by side, and so does feedback of nobody in particular,
// which a key may send for many users.
func (f *Feedback) score() score.Score {
	s := score.Score{
		Subject: score.Trace(f.Trace), Metric: feedbackMetric + string(f.Type), Source: f.source(),
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
// feedback.
func (f *Feedback) source() score.Source {
	if f.UserID == "" && f.CreatedBy.Type == principal.ActorUser && !f.CreatedBy.Asserted {
		return score.Source{Kind: score.SourcePerson, ID: f.CreatedBy.ID}
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
	case FeedbackRating:
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
		out[i].Span, _ = span.ParseID(one.Subject.Part)
		if one.Source.Kind == score.SourceUser {
			out[i].UserID = one.Source.ID
		}
	}
	return out, nil
}
