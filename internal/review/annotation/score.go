package annotation

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// TopicScored is published when the scores of annotations may have changed.
const TopicScored = "annotation.scored"

// What people say is kept as scores of the answer that it is about. The names begin
// with a word of their own, so that no judge and no metric has them. Each annotation
// has its own scores: a revision replaces them, and others of the same person stay.
const (
	scoreRating     = "annotation.rating" // from 0 to 1, as far as it lies on its scale
	scoreLabel      = "annotation.label"
	scoreFeedback   = "annotation.feedback"
	scoreCorrection = "annotation.correction"
)

// maxScores is how many scores of an annotation are looked at.
const maxScores = 200_000

// scoring names annotations whose scores may have changed. It says nothing of what
// they say: messages can be read while a blind task is answered.
type scoring struct {
	Annotation int64     `json:"annotation,omitzero"`
	Item       int64     `json:"item,omitzero"` // all annotations of the item are meant
	At         time.Time `json:"at"`
}

// scoreTx has the scores of an annotation, or of all annotations of an item, follow
// what is true after the transaction.
func (s *Service) scoreTx(ctx context.Context, tx postgres.Tx, of scoring) error {
	of.At = s.now()
	subject := "annotation/" + strconv.FormatInt(of.Annotation, 10)
	if of.Item != 0 {
		subject = "item/" + strconv.FormatInt(of.Item, 10)
	}
	return s.log.PublishTx(ctx, tx, TopicScored, subject, of)
}

// storeScores brings the scores of annotations in line with what they say now, if
// everybody may read it. The time of a score is that of the change that led to it:
// whatever the order in which messages are handled, that of the last change counts.
func (s *Service) storeScores(ctx context.Context, m change.Message) error {
	var of scoring
	if err := json.Unmarshal(m.Payload, &of); err != nil {
		return fmt.Errorf("read scoring: %w", err)
	}
	all, err := s.store.scored(ctx, m.Org, of)
	if err != nil {
		return err
	}
	if len(all) == 0 && of.Annotation != 0 {
		return s.withdraw(ctx, m.Org, of)
	}
	for _, one := range all {
		if err := s.storeScoresOf(ctx, m.Org, one, of.At); err != nil {
			return err
		}
	}
	return nil
}

// withdraw takes back the scores of an annotation that was deleted and is already
// purged with its task.
func (s *Service) withdraw(ctx context.Context, org principal.OrgID, of scoring) error {
	before, err := s.scores.Page(ctx, org, score.Page{Source: score.Source{Kind: score.SourcePerson}, Record: of.Annotation, Below: 1 << 62, Limit: maxScores})
	if err != nil {
		return err
	}
	var gone []score.Score
	for _, one := range before {
		if strings.HasPrefix(one.Metric, "annotation.") { // feedback has numbers of its own
			gone = append(gone, score.Withdrawn(one, of.At))
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return s.scores.Insert(ctx, org, gone...)
}

// told is an annotation, whether it counts, and the label that its task takes as the
// only one; empty if there is none.
type told struct {
	Annotation
	counts bool
	main   string
}

func (s *Service) storeScoresOf(ctx context.Context, org principal.OrgID, a told, at time.Time) error {
	of, ok := a.scored()
	if !ok || a.Status == StatusDraft {
		return nil
	}
	next, err := a.scores(of, at)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for i, one := range next {
		kept[one.Metric] = true
		if !a.counts { // also where none is stored: one may be on its way
			next[i] = score.Withdrawn(one, at)
		}
	}
	before, err := s.scores.Page(ctx, org, score.Page{Source: a.source(), Subject: of, Record: a.ID, Below: 1 << 62, Limit: maxScores})
	if err != nil {
		return err
	}
	for _, one := range before {
		if strings.HasPrefix(one.Metric, "annotation.") && !kept[one.Metric] {
			next = append(next, score.Withdrawn(one, at))
		}
	}
	if len(next) == 0 {
		return nil
	}
	return s.scores.Insert(ctx, org, next...)
}

func (a Annotation) source() score.Source {
	return score.Source{Kind: score.SourcePerson, ID: a.Person.String()}
}

// scored is what the scores of an annotation are about: an item of a run in its first
// repetition, a span, or a trace. Content that only a task has has no scores.
func (a Annotation) scored() (score.Subject, bool) {
	switch {
	case a.Run != 0 && a.TestCase != 0:
		return score.RunItem(a.Run, a.TestCase, 0), true
	case a.Trace == nil:
		return score.Subject{}, false
	}
	if part, ok := span.ParseID(a.Span); ok {
		return score.Span(*a.Trace, part), true
	}
	return score.Trace(*a.Trace), true
}

// scores are what an annotation says, each part of it under its own name.
func (a told) scores(of score.Subject, at time.Time) (all []score.Score, err error) {
	add := func(metric string, fill func(*score.Score)) {
		one := score.Score{
			Subject: of, Metric: metric, Source: a.source(), Record: a.ID, Separate: true, Comment: a.Answer.Feedback,
			By: principal.UserActor(a.Person, a.Asserted), At: at,
		}
		fill(&one)
		all = append(all, one)
	}
	if r := a.Answer.Rating; r != nil && a.Answer.Scale.Max > a.Answer.Scale.Min {
		text, err := json.Marshal(map[string]any{"rating": *r, "rating_scale": a.Answer.Scale}, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("encode rating: %w", err)
		}
		share := (*r - a.Answer.Scale.Min) / (a.Answer.Scale.Max - a.Answer.Scale.Min)
		add(scoreRating, func(one *score.Score) { one.Value, one.Detail = &share, text })
	}
	if label := a.Answer.Label; label != "" {
		name := scoreLabel
		if a.main != "" {
			name = score.LabelMetric(a.main)
		}
		add(name, func(one *score.Score) { one.Label = label })
	}
	for key, value := range a.Answer.Labels {
		if key == a.main && a.Answer.Label != "" {
			continue
		}
		add(score.LabelMetric(key), func(one *score.Score) { fill(one, value) })
	}
	if v := a.Answer.CorrectedOutput; v != nil {
		add(scoreCorrection, func(one *score.Score) { one.Detail = v })
	}
	if len(all) == 0 && a.Answer.Feedback != "" {
		add(scoreFeedback, func(*score.Score) {})
	}
	return all, nil
}

// fill writes a label into a score: a word, a number, or whatever else it is.
func fill(one *score.Score, value jsontext.Value) {
	switch value.Kind() {
	case '"':
		var text string
		if json.Unmarshal(value, &text) == nil {
			one.Label = text
		}
	case '0':
		if n, err := strconv.ParseFloat(string(value), 64); err == nil {
			one.Value = &n
		}
	case 't', 'f':
		one.Label = string(value)
	default:
		one.Detail = value
	}
}
