package annotation

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/annotation/internal/db"
	"github.com/assayhq/assay/internal/review/label"
)

func (s store) insertTx(ctx context.Context, tx postgres.Tx, a Annotation) (id, version int64, err error) {
	answer, err := json.Marshal(a.Answer, json.Deterministic(true))
	if err != nil {
		return 0, 0, fmt.Errorf("encode answer: %w", err)
	}
	p := db.InsertAnnotationParams{
		OrgID: tx.Org, TaskID: postgres.OrNull(a.Task), ItemID: postgres.OrNull(a.Item), EvaluationRunID: postgres.OrNull(a.Run), TestCaseID: postgres.OrNull(a.TestCase), SpanID: postgres.OrNull(a.Span),
		Person: a.Person, Asserted: a.Asserted, Status: string(a.Status), Answer: answer, DurationMs: a.DurationMS, Open: a.Open, Nonce: a.Nonce, CreatedAt: a.CreatedAt,
	}
	if a.Trace != nil {
		p.TraceID = a.Trace[:]
	}
	r, err := db.New(tx).InsertAnnotation(ctx, p)
	if postgres.Violates(err, "annotations_person") {
		return 0, 0, ErrAlreadyAnswered
	}
	return r.ID, r.Version, postgres.Wrap(err, "insert annotation")
}

func (s store) find(ctx context.Context, q db.DBTX, org principal.OrgID, reader *uuid.UUID, id int64) (Annotation, error) {
	r, err := db.New(q).FindAnnotation(ctx, db.FindAnnotationParams{OrgID: org, ID: id, Reader: reader})
	return foundAnnotation(r, err)
}

func (s store) lockAnnotationTx(ctx context.Context, tx postgres.Tx, reader *uuid.UUID, id int64) (Annotation, error) {
	r, err := db.New(tx).LockAnnotation(ctx, db.LockAnnotationParams{OrgID: tx.Org, ID: id, Reader: reader})
	return foundAnnotation(r, err)
}

func foundAnnotation(r db.Annotation, err error) (Annotation, error) {
	return postgres.DecodeOne(r, err, "find annotation", ErrNotFound, fromAnnotation)
}

// ownTx is what a person says about an item; nil if they say nothing.
func (s store) ownTx(ctx context.Context, tx postgres.Tx, item int64, person uuid.UUID) (*Annotation, error) {
	r, err := db.New(tx).OwnAnnotation(ctx, db.OwnAnnotationParams{OrgID: tx.Org, ItemID: item, Person: person})
	if postgres.NoRows(err) {
		return nil, nil
	}
	a, err := foundAnnotation(r, err)
	return &a, err
}

func (s store) submittedTx(ctx context.Context, tx postgres.Tx, item int64) ([]Annotation, error) {
	return s.submitted(ctx, tx, tx.Org, item)
}

func (s store) submitted(ctx context.Context, q db.DBTX, org principal.OrgID, item int64) ([]Annotation, error) {
	rows, err := db.New(q).Submitted(ctx, db.SubmittedParams{OrgID: org, ItemID: item})
	if err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	return fromAnnotations(rows)
}

func (s store) list(ctx context.Context, org principal.OrgID, f Filter) (all []Annotation, more bool, total int64, err error) {
	q := db.New(s.db.Org(org))
	count := db.CountAnnotationsParams{
		OrgID: org, Reader: f.Reader, EvaluationRunID: postgres.OrNull(f.Run), TestCaseID: postgres.OrNull(f.TestCase), TaskID: postgres.OrNull(f.Task), Person: f.Person,
	}
	if f.trace != nil {
		count.TraceID = f.trace[:]
	}
	rows, err := q.ListAnnotations(ctx, db.ListAnnotationsParams{
		OrgID: org, Reader: count.Reader, EvaluationRunID: count.EvaluationRunID, TestCaseID: count.TestCaseID, TaskID: count.TaskID, Person: count.Person, TraceID: count.TraceID,
		Below: f.Below, RowLimit: int32(f.Limit), OneMore: int32(f.Limit) + 1, RowOffset: int32(f.Offset), MaxBytes: PageBytes,
	})
	if err != nil {
		return nil, false, 0, fmt.Errorf("list annotations: %w", err)
	}
	all = make([]Annotation, len(rows))
	for i, r := range rows {
		more = r.More
		if all[i], err = fromAnnotation(r.Annotation); err != nil {
			return nil, false, 0, err
		}
	}
	if f.Count {
		if total, err = q.CountAnnotations(ctx, count); err != nil {
			return nil, false, 0, fmt.Errorf("count annotations: %w", err)
		}
	}
	return all, more, total, nil
}

// updateTx writes after over before, if before is still what is stored, and keeps what
// a submitted answer said.
func (s store) updateTx(ctx context.Context, tx postgres.Tx, before, after Annotation, at time.Time) error {
	answer, err := json.Marshal(after.Answer, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	n, err := db.New(tx).UpdateAnnotation(ctx, db.UpdateAnnotationParams{
		OrgID: tx.Org, ID: before.ID, ExpectedVersion: before.Version, ExpectedStatus: string(before.Status), Status: string(after.Status), Answer: answer, DurationMs: after.DurationMS,
		Open: after.Open, UpdatedAt: after.UpdatedAt,
	})
	if err != nil {
		return fmt.Errorf("update annotation: %w", err)
	}
	if n == 0 {
		return ErrVersionConflict
	}
	if before.Status != StatusSubmitted {
		return nil
	}
	former, err := json.Marshal(before.Answer, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	err = db.New(tx).InsertRevision(ctx, db.InsertRevisionParams{
		OrgID: tx.Org, AnnotationID: before.ID, Version: before.Version, Status: string(before.Status), Answer: former, DurationMs: before.DurationMS, ReplacedAt: at,
	})
	return postgres.Wrap(err, "keep revision")
}

func (s store) openAnswersTx(ctx context.Context, tx postgres.Tx, item int64, open bool) error {
	return postgres.Wrap(db.New(tx).OpenAnswers(ctx, db.OpenAnswersParams{OrgID: tx.Org, ItemID: item, Open: open}), "open answers")
}

func (s store) deleteTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time) error {
	n, err := db.New(tx).DeleteAnnotation(ctx, db.DeleteAnnotationParams{OrgID: tx.Org, ID: id, DeletedAt: &at})
	return postgres.Changed(n, err, "delete annotation", ErrNotFound)
}

func (s store) revisions(ctx context.Context, org principal.OrgID, id int64) ([]Earlier, error) {
	rows, err := db.New(s.db.Org(org)).Revisions(ctx, db.RevisionsParams{OrgID: org, AnnotationID: id})
	if err != nil {
		return nil, fmt.Errorf("read revisions: %w", err)
	}
	out := make([]Earlier, len(rows))
	for i, r := range rows {
		out[i] = Earlier{Version: r.Version, Status: Status(r.Status), DurationMS: r.DurationMs, ReplacedAt: r.ReplacedAt}
		if err := json.Unmarshal(r.Answer, &out[i].Answer); err != nil {
			return nil, fmt.Errorf("revision of annotation %d: %w", id, err)
		}
	}
	return out, nil
}

func fromAnnotations(rows []db.Annotation) ([]Annotation, error) {
	all := make([]Annotation, len(rows))
	for i, r := range rows {
		var err error
		if all[i], err = fromAnnotation(r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func fromAnnotation(r db.Annotation) (Annotation, error) {
	a := Annotation{
		ID: r.ID, Task: orZero(r.TaskID), Item: orZero(r.ItemID), Subject: fromSubject(r.EvaluationRunID, r.TestCaseID, r.TraceID, r.SpanID), Person: r.Person, Asserted: r.Asserted,
		Status: Status(r.Status), DurationMS: r.DurationMs, Open: r.Open, Nonce: r.Nonce, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
	}
	if err := json.Unmarshal(r.Answer, &a.Answer); err != nil {
		return a, fmt.Errorf("answer of annotation %d: %w", r.ID, err)
	}
	return a, nil
}

// scored are annotations with what decides about their scores.
func (s store) scored(ctx context.Context, org principal.OrgID, of scoring) ([]told, error) {
	rows, err := db.New(s.db.Org(org)).ScoredAnnotations(ctx, db.ScoredAnnotationsParams{OrgID: org, ID: postgres.OrNull(of.Annotation), ItemID: postgres.OrNull(of.Item)})
	if err != nil {
		return nil, fmt.Errorf("read annotations: %w", err)
	}
	all := make([]told, len(rows))
	for i, r := range rows {
		a, err := fromAnnotation(r.Annotation)
		if err != nil {
			return nil, err
		}
		all[i] = told{Annotation: a, counts: a.Status == StatusSubmitted && a.Open && r.Annotation.DeletedAt == nil}
		var schema label.Schema
		if r.LabelSchema == "" {
			continue
		}
		if err := json.Unmarshal([]byte(r.LabelSchema), &schema); err != nil {
			return nil, fmt.Errorf("label schema of task %d: %w", a.Task, err)
		}
		if main := schema.Main(); main != nil {
			all[i].main = main.Key
		}
	}
	return all, nil
}

// answerBatch is how many answers are read at once, and fewer if they are long: only
// the value of each is kept.
const answerBatch = 1000

// openAnswers are the values of the answers of a task that everybody may read, and
// how many answers have none. It stops above most answers.
func (s store) openAnswers(ctx context.Context, org principal.OrgID, t Task, most int) (votes []Vote, without int, err error) {
	q, above := db.New(s.db.Org(org)), int64(0)
	for len(votes)+without <= most {
		rows, err := q.OpenAnswersOfTask(ctx, db.OpenAnswersOfTaskParams{OrgID: org, TaskID: t.ID, Above: above, RowLimit: answerBatch, MaxBytes: PageBytes})
		if err != nil {
			return nil, 0, fmt.Errorf("read the answers of task %d: %w", t.ID, err)
		}
		for _, r := range rows {
			var a label.Answer
			if err := json.Unmarshal(r.Answer, &a); err != nil {
				return nil, 0, fmt.Errorf("answer of annotation %d: %w", r.ID, err)
			}
			above = r.ID
			v := Vote{Item: r.ItemID, Person: r.Person, Asserted: r.Asserted, Status: ItemStatus(r.ItemStatus), Agreement: r.Agreement, Millis: orZero(r.DurationMs)}
			if v.set(t, a) {
				votes = append(votes, v)
			} else {
				without++
			}
		}
		if len(rows) == 0 {
			break
		}
	}
	return votes, without, nil
}

// contents is what some items of a task show.
func (s store) contents(ctx context.Context, org principal.OrgID, task int64, items []int64) (map[int64]jsontext.Value, error) {
	rows, err := db.New(s.db.Org(org)).ContentOfItems(ctx, db.ContentOfItemsParams{OrgID: org, TaskID: task, Items: items})
	if err != nil {
		return nil, fmt.Errorf("read the items of task %d: %w", task, err)
	}
	out := make(map[int64]jsontext.Value, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Content
	}
	return out, nil
}
