package adjudication

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/review/annotator"
)

// ofAnnotations reads what people answered about an item of a task. While they still
// answer it, nobody may read their answers, and there is nothing to decide.
func (s *Service) ofAnnotations(ctx context.Context, org principal.OrgID, of Subject) (f found, err error) {
	f.subject = of
	about, err := s.annotations.Item(ctx, org, of.AnnotationItem)
	if fault.IsNotFound(err) {
		return f, unknown("/annotationItemId", "names an annotation item that does not exist")
	}
	if err != nil {
		return f, err
	}
	if !about.Item.Status.Complete() {
		return f, unknown("/annotationItemId", "names an annotation item that people still answer")
	}
	if f.content, err = shown(about.Item.Content); err != nil {
		return f, err
	}
	for _, a := range about.Answers[:min(len(about.Answers), maxCandidates)] {
		one, err := answerOf(a)
		if err != nil {
			return f, err
		}
		f.candidates = append(f.candidates, one)
	}
	if together := about.Item.Agreement; together != nil {
		f.apart = 1 - *together
	}
	return f, nil
}

// shown is what people saw, as content that can enter a dataset. What has neither a
// question nor an answer is a question as a whole.
func shown(content jsontext.Value) (dataset.Content, error) {
	var parts struct {
		Input    jsontext.Value `json:"input"`
		Output   jsontext.Value `json:"output"`
		Expected jsontext.Value `json:"expected_output"`
		Context  jsontext.Value `json:"context"`
		Messages jsontext.Value `json:"messages"`
	}
	if content.Kind() != '{' {
		return assessable(dataset.Content{Input: content}), nil
	}
	if err := json.Unmarshal(content, &parts); err != nil {
		return dataset.Content{}, fmt.Errorf("read the content of an annotation item: %w", err)
	}
	if parts.Input == nil && parts.Output == nil {
		return assessable(dataset.Content{Input: content}), nil
	}
	return assessable(dataset.Content{Input: parts.Input, Output: parts.Output, ExpectedOutput: parts.Expected, Context: parts.Context, Messages: parts.Messages}), nil
}

// answerOf is the position of an annotator. A rating is a score on its scale.
func answerOf(a annotation.Annotation) (Candidate, error) {
	c := Candidate{Origin: personOrigin(a.Person.String()), Label: a.Answer.Label, Rationale: a.Answer.Feedback}
	if scale := a.Answer.Scale; a.Answer.Rating != nil && scale.Max > scale.Min {
		share := (*a.Answer.Rating - scale.Min) / (scale.Max - scale.Min)
		c.Score = within(&share)
	}
	if c.Label == "" && len(a.Answer.Labels) > 0 {
		text, err := json.Marshal(a.Answer.Labels, json.Deterministic(true))
		if err != nil {
			return c, fmt.Errorf("encode an answer: %w", err)
		}
		c.Label = string(text)
	}
	return c, nil
}

// answered reports whether a person is among the annotators of a subject, whatever
// positions its item shows.
func (s *Service) answered(ctx context.Context, org principal.OrgID, of Subject, person uuid.UUID) (bool, error) {
	if of.AnnotationItem == 0 {
		return false, nil
	}
	about, err := s.annotations.Item(ctx, org, of.AnnotationItem)
	if fault.IsNotFound(err) {
		return false, nil
	}
	return slices.ContainsFunc(about.Answers, func(a annotation.Annotation) bool { return a.Person == person }), err
}

// markTx tells the task of an annotation item that somebody has decided. A task that
// is deleted need not know, nor one whose people answer again or whose item another
// decision has settled.
func (s *Service) markTx(ctx context.Context, tx postgres.Tx, i Item, d Decision) error {
	if i.Subject.AnnotationItem == 0 {
		return nil
	}
	var v annotation.Verdict
	if d.Verdict.allowsTruth() {
		v = annotation.Verdict{Label: d.Label, Score: d.Score, Confirmed: new(d.Verdict == VerdictPass)}
	}
	err := s.annotations.MarkAdjudicatedTx(ctx, tx, i.Subject.AnnotationItem, i.ID, v)
	if fault.IsNotFound(err) || errors.Is(err, annotation.ErrItemTransition) {
		return nil
	}
	return err
}

// lookAtAgreed opens an item for answers that agree and were drawn for an audit.
func (s *Service) lookAtAgreed(ctx context.Context, org principal.OrgID, item int64) error {
	about, err := s.annotations.Item(ctx, org, item)
	if err != nil || about.Item.Status != annotation.ItemAnnotated || !annotator.Audited(about.Task) || !annotator.Drawn(org, about.Task.ID, item) {
		return err
	}
	return s.open(ctx, org, look{Source: SourceAudit, Subject: Subject{AnnotationItem: item}, Reasons: []string{reasonAudit}, Once: true})
}

// lookAtTask notes the items of a task whose labels are not certain, as a model of its
// annotators sees them. When an item is completed, only its own answers are compared;
// how far to trust each annotator shows in all answers of the task.
func (s *Service) lookAtTask(ctx context.Context, org principal.OrgID, task int64) error {
	doubts, err := s.panels.Doubts(ctx, org, task)
	if err != nil || len(doubts) == 0 {
		return err
	}
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		for _, d := range doubts[:min(len(doubts), maxOfTask)] {
			l := look{Source: SourceAnnotators, Subject: Subject{AnnotationItem: d.Item}, Once: true}
			for _, why := range d.Reasons {
				l.Reasons = append(l.Reasons, string(why))
			}
			if err := s.log.PublishTx(ctx, tx, TopicLook, string(l.Source)+"/"+l.Subject.key(), l); err != nil {
				return err
			}
		}
		return nil
	})
}

// unmarkTx tells the task of an annotation item that a decision no longer stands.
func (s *Service) unmarkTx(ctx context.Context, tx postgres.Tx, i Item) error {
	if i.Subject.AnnotationItem == 0 {
		return nil
	}
	err := s.annotations.UnmarkAdjudicatedTx(ctx, tx, i.Subject.AnnotationItem, i.ID)
	if fault.IsNotFound(err) {
		return nil
	}
	return err
}
