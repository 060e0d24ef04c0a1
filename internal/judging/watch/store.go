package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/watch/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

type store struct{ db *postgres.DB }

func (s store) insertTx(ctx context.Context, tx postgres.Tx, w Watch) (int64, error) {
	id, err := db.New(tx).Insert(ctx, db.InsertParams{
		OrgID: tx.Org, ConfigID: w.Judge, ConfigVersion: int32(w.Version), DatasetID: w.Dataset, DatasetVersion: int32(w.DatasetVersion),
		EverySeconds: int32(w.Every / time.Second), Tolerance: w.Tolerance, Status: string(w.Status), Anchors: int32(w.Anchors), NextAt: w.NextAt,
		CreatedBy: w.CreatedBy.String(), CreatedAt: w.CreatedAt,
	})
	if postgres.Violates(err, "judge_watches_open") {
		return 0, ErrExists
	}
	return id, postgres.Wrap(err, "insert watch")
}

func (s store) find(ctx context.Context, org principal.OrgID, id int64) (Watch, error) {
	r, err := db.New(s.db.Org(org)).Find(ctx, db.FindParams{OrgID: org, ID: id})
	return found(r, err)
}

func (s store) lockTx(ctx context.Context, tx postgres.Tx, id int64) (Watch, error) {
	r, err := db.New(tx).Lock(ctx, db.LockParams{OrgID: tx.Org, ID: id})
	return found(r, err)
}

// openTx is the open watch of a judge, zero if it has none.
func (s store) openTx(ctx context.Context, tx postgres.Tx, of int64) (int64, error) {
	id, err := db.New(tx).Open(ctx, db.OpenParams{OrgID: tx.Org, ConfigID: of})
	if postgres.NoRows(err) {
		return 0, nil
	}
	return id, postgres.Wrap(err, "find open watch")
}

func found(r db.JudgeWatch, err error) (Watch, error) {
	return postgres.One(r, err, "find watch", ErrNotFound, fromRow)
}

func (s store) list(ctx context.Context, org principal.OrgID, of int64, p postgres.Page) ([]Watch, int64, error) {
	q := db.New(s.db.Org(org))
	rows, err := q.List(ctx, db.ListParams{OrgID: org, ConfigID: of, Below: p.Below, RowLimit: p.Rows(), RowOffset: p.Skip()})
	return postgres.Listed(rows, err, "watches", fromRow, p.Count, func() (int64, error) {
		return q.Count(ctx, db.CountParams{OrgID: org, ConfigID: of})
	})
}

// updateTx writes after over before, if before is still what is stored.
func (s store) updateTx(ctx context.Context, tx postgres.Tx, before, after Watch) error {
	n, err := db.New(tx).Update(ctx, db.UpdateParams{
		OrgID: tx.Org, ID: before.ID, ExpectedVersion: before.Changes, ExpectedStatus: string(before.Status), Status: string(after.Status), Problem: after.Problem,
		FlipLimit: after.FlipLimit, Evidence: after.Evidence, Checks: int32(after.Checks), NextAt: after.NextAt, UpdatedAt: after.UpdatedAt,
	})
	if err != nil {
		return fmt.Errorf("update watch: %w", err)
	}
	if n == 0 {
		return errChanged
	}
	return nil
}

// answer is what the judge said about an anchor.
type answer struct {
	Item       int64
	Repetition int
	// Passed is nil where the judge gave no verdict.
	Passed   *bool
	CostNano int64
}

func (s store) insertAnswer(ctx context.Context, org principal.OrgID, watch int64, number int, a answer) error {
	err := db.New(s.db.Org(org)).InsertAnswer(ctx, db.InsertAnswerParams{
		OrgID: org, WatchID: watch, Number: int32(number), ItemID: a.Item, Repetition: int16(a.Repetition), Passed: a.Passed, CostNano: a.CostNano,
	})
	return postgres.Wrap(err, "insert answer of a watched judge")
}

func (s store) answers(ctx context.Context, org principal.OrgID, watch int64, number int) ([]answer, error) {
	rows, err := db.New(s.db.Org(org)).Answers(ctx, db.AnswersParams{OrgID: org, WatchID: watch, Number: int32(number)})
	if err != nil {
		return nil, fmt.Errorf("read answers of a watched judge: %w", err)
	}
	all := make([]answer, len(rows))
	for i, r := range rows {
		all[i] = answer{r.ItemID, int(r.Repetition), r.Passed, r.CostNano}
	}
	return all, nil
}

func (s store) insertCheckTx(ctx context.Context, tx postgres.Tx, watch int64, c Check) error {
	text, err := json.Marshal(c.Found, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode check: %w", err)
	}
	q := db.New(tx)
	if _, err := q.InsertCheck(ctx, db.InsertCheckParams{OrgID: tx.Org, WatchID: watch, Number: int32(c.Number), Verdict: string(c.Verdict), Found: text, CreatedAt: c.At}); err != nil {
		return fmt.Errorf("insert check: %w", err)
	}
	err = q.ForgetAnswers(ctx, db.ForgetAnswersParams{OrgID: tx.Org, WatchID: watch, BeforeNumber: int32(c.Number)})
	return postgres.Wrap(err, "forget answers of a watched judge")
}

func (s store) checks(ctx context.Context, org principal.OrgID, watch int64, p postgres.Page) ([]Check, int64, error) {
	q := db.New(s.db.Org(org))
	rows, err := q.ListChecks(ctx, db.ListChecksParams{OrgID: org, WatchID: watch, Below: p.Below, RowLimit: p.Rows(), RowOffset: p.Skip()})
	return postgres.DecodeListed(rows, err, "checks", fromCheckRow, p.Count, func() (int64, error) {
		return q.CountChecks(ctx, db.CountChecksParams{OrgID: org, WatchID: watch})
	})
}

func fromCheckRow(r db.ListChecksRow) (Check, error) {
	c := Check{ID: r.ID, Number: int(r.Number), Verdict: Verdict(r.Verdict), At: r.CreatedAt}
	if err := json.Unmarshal(r.Found, &c.Found); err != nil {
		return Check{}, fmt.Errorf("read check %d: %w", r.ID, err)
	}
	return c, nil
}

func fromRow(r db.JudgeWatch) Watch {
	return Watch{
		ID: r.ID, Judge: r.ConfigID, Version: int(r.ConfigVersion), Dataset: r.DatasetID, DatasetVersion: int(r.DatasetVersion), Every: time.Duration(r.EverySeconds) * time.Second,
		Tolerance: r.Tolerance, Status: Status(r.Status), Problem: r.Problem, Anchors: int(r.Anchors), FlipLimit: r.FlipLimit, Evidence: r.Evidence, Checks: int(r.Checks),
		NextAt: r.NextAt, CreatedBy: principal.ParseActor(r.CreatedBy), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Changes: r.Version,
	}
}
