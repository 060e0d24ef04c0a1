package annotation

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/annotation/internal/db"
	"github.com/assayhq/assay/internal/review/label"
)

type store struct{ db *postgres.DB }

func (s store) insertTaskTx(ctx context.Context, tx postgres.Tx, t Task) (id, version int64, err error) {
	schema, err := json.Marshal(t.Schema)
	if err != nil {
		return 0, 0, fmt.Errorf("encode label schema: %w", err)
	}
	r, err := db.New(tx).InsertTask(ctx, db.InsertTaskParams{
		OrgID: tx.Org, Name: t.Name, Type: string(t.Type), Status: string(t.Status), LabelSchema: schema, Guidelines: t.Guidelines, Description: t.Description, DueAt: t.DueAt, Tags: t.Tags,
		AnnotatorsPerItem: int32(t.Annotators), AgreementThreshold: t.Threshold, Blind: t.Blind, AssigneeIds: t.Assignees, Source: t.Source, CreatedBy: t.CreatedBy.String(), CreatedAt: t.CreatedAt,
	})
	return r.ID, r.Version, postgres.Wrap(err, "insert task")
}

func (s store) findTask(ctx context.Context, q db.DBTX, org principal.OrgID, id int64) (Task, error) {
	r, err := db.New(q).FindTask(ctx, db.FindTaskParams{OrgID: org, ID: id})
	return foundTask(r, err)
}

func (s store) lockTaskTx(ctx context.Context, tx postgres.Tx, id int64) (Task, error) {
	r, err := db.New(tx).LockTask(ctx, db.LockTaskParams{OrgID: tx.Org, ID: id})
	return foundTask(r, err)
}

// keepTx is a task whose settings do not change until the transaction ends.
func (s store) keepTx(ctx context.Context, tx postgres.Tx, id int64) (Task, error) {
	r, err := db.New(tx).KeepTask(ctx, db.KeepTaskParams{OrgID: tx.Org, ID: id})
	return foundTask(r, err)
}

func foundTask(r db.AnnotationTask, err error) (Task, error) {
	return postgres.DecodeOne(r, err, "find task", ErrTaskNotFound, fromTask)
}

func (s store) listTasks(ctx context.Context, org principal.OrgID, f TaskFilter) ([]Task, int64, error) {
	q := db.New(s.db.Org(org))
	count := db.CountTasksParams{OrgID: org, OnlyID: postgres.OrNull(f.ID), Status: postgres.OrNull(string(f.Status)), Search: postgres.OrNull(f.Search)}
	rows, err := q.ListTasks(ctx, db.ListTasksParams{
		OrgID: org, OnlyID: count.OnlyID, Status: count.Status, Search: count.Search, Below: f.Below, RowLimit: f.Rows(), RowOffset: f.Skip(),
	})
	return postgres.DecodeListed(rows, err, "tasks", fromTask, f.Count, func() (int64, error) { return q.CountTasks(ctx, count) })
}

// updateTaskTx writes after over before, if before is still what is stored.
func (s store) updateTaskTx(ctx context.Context, tx postgres.Tx, before, after Task) error {
	schema, err := json.Marshal(after.Schema)
	if err != nil {
		return fmt.Errorf("encode label schema: %w", err)
	}
	n, err := db.New(tx).UpdateTask(ctx, db.UpdateTaskParams{
		OrgID: tx.Org, ID: before.ID, ExpectedVersion: before.Version, ExpectedStatus: string(before.Status),
		Name: after.Name, Type: string(after.Type), Status: string(after.Status), LabelSchema: schema, Guidelines: after.Guidelines, Description: after.Description, DueAt: after.DueAt, Tags: after.Tags,
		AnnotatorsPerItem: int32(after.Annotators), AgreementThreshold: after.Threshold, Blind: after.Blind, AssigneeIds: after.Assignees, UpdatedAt: after.UpdatedAt,
	})
	return postgres.Changed(n, err, "update task", ErrVersionConflict)
}

func (s store) countTx(ctx context.Context, tx postgres.Tx, task, items, completed int64) (Task, error) {
	r, err := db.New(tx).CountInTask(ctx, db.CountInTaskParams{OrgID: tx.Org, ID: task, Items: items, Completed: completed})
	if err != nil {
		return Task{}, fmt.Errorf("count in task: %w", err)
	}
	return fromTask(r)
}

func (s store) deleteTaskTx(ctx context.Context, tx postgres.Tx, id int64, at time.Time) error {
	n, err := db.New(tx).DeleteTask(ctx, db.DeleteTaskParams{OrgID: tx.Org, ID: id, DeletedAt: &at})
	return postgres.Changed(n, err, "delete task", ErrInUse)
}

func (s store) answeredTx(ctx context.Context, tx postgres.Tx, task int64) (bool, error) {
	answered, err := db.New(tx).TaskAnswered(ctx, db.TaskAnsweredParams{OrgID: tx.Org, TaskID: task})
	return answered, postgres.Wrap(err, "look for answers")
}

func fromTask(r db.AnnotationTask) (Task, error) {
	t := Task{
		ID: r.ID, Name: r.Name, Type: label.Type(r.Type), Status: TaskStatus(r.Status), Guidelines: r.Guidelines, Description: r.Description, DueAt: r.DueAt, Tags: r.Tags,
		Annotators: int(r.AnnotatorsPerItem), Threshold: r.AgreementThreshold, Blind: r.Blind, Assignees: r.AssigneeIds, Source: r.Source, Total: r.TotalItems, Completed: r.CompletedItems,
		CreatedBy: principal.ParseActor(r.CreatedBy), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
	}
	if err := json.Unmarshal(r.LabelSchema, &t.Schema); err != nil {
		return t, fmt.Errorf("label schema of task %d: %w", r.ID, err)
	}
	return t, nil
}
