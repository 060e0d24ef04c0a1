package gate

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/gate/internal/db"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/platform/postgres"
)

type store struct{ db *postgres.DB }

func (s store) insertTx(ctx context.Context, tx postgres.Tx, d Decision) (int64, error) {
	asked, err := json.Marshal(d.Asked, json.Deterministic(true))
	if err != nil {
		return 0, fmt.Errorf("encode what was asked: %w", err)
	}
	answers, err := json.Marshal(d.decided, json.Deterministic(true))
	if err != nil {
		return 0, fmt.Errorf("encode what was decided: %w", err)
	}
	id, err := db.New(tx).Insert(ctx, db.InsertParams{
		OrgID: tx.Org, EvaluationID: d.Evaluation, RunID: d.Run, BaselineRun: postgres.OrNull(d.Baseline), Verdict: string(d.Verdict),
		Asked: asked, Decided: answers, CreatedBy: d.CreatedBy.String(), CreatedAt: d.CreatedAt,
	})
	return id, postgres.Wrap(err, "insert decision")
}

func (s store) list(ctx context.Context, org principal.OrgID, run int64, p postgres.Page) ([]Decision, int64, error) {
	q := db.New(s.db.Org(org))
	rows, err := q.List(ctx, db.ListParams{OrgID: org, RunID: run, Below: p.Below, RowLimit: p.Rows(), RowOffset: p.Skip()})
	return postgres.DecodeListed(rows, err, "decisions", fromRow, p.Count, func() (int64, error) {
		return q.Count(ctx, db.CountParams{OrgID: org, RunID: run})
	})
}

func fromRow(r db.ListRow) (Decision, error) {
	d := Decision{
		ID: r.ID, Evaluation: r.EvaluationID, Run: r.RunID, Verdict: requirement.Verdict(r.Verdict), CreatedBy: principal.ParseActor(r.CreatedBy), CreatedAt: r.CreatedAt,
	}
	if r.BaselineRun != nil {
		d.Baseline = *r.BaselineRun
	}
	if err := json.Unmarshal(r.Asked, &d.Asked); err != nil {
		return d, fmt.Errorf("read what was asked: %w", err)
	}
	if err := json.Unmarshal(r.Decided, &d.decided); err != nil {
		return d, fmt.Errorf("read what was decided: %w", err)
	}
	return d, nil
}
