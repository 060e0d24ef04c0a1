package artifact

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/artifact/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
)

type store struct{ db *postgres.DB }

func (s store) put(ctx context.Context, org principal.OrgID, a Artifact) error {
	_, err := db.New(s.db.Org(org)).Put(ctx, db.PutParams{
		OrgID: org, EvaluationID: a.Evaluation, RunID: a.Run, Kind: string(a.Kind), Name: a.Name, ContentType: a.ContentType,
		SizeBytes: a.Size, Sha256: a.Digest[:], Object: a.object, CreatedAt: a.CreatedAt,
	})
	if err != nil {
		return fmt.Errorf("put artifact: %w", err)
	}
	return nil
}

func (s store) find(ctx context.Context, org principal.OrgID, evaluation, id int64) (Artifact, error) {
	r, err := db.New(s.db.Org(org)).Find(ctx, db.FindParams{OrgID: org, EvaluationID: evaluation, ID: id})
	if postgres.NoRows(err) {
		return Artifact{}, ErrNotFound
	}
	if err != nil {
		return Artifact{}, fmt.Errorf("find artifact: %w", err)
	}
	return fromRow(r), nil
}

func (s store) list(ctx context.Context, org principal.OrgID, evaluation int64, f Filter) ([]Artifact, int64, error) {
	q := db.New(s.db.Org(org))
	p := db.ListParams{
		OrgID: org, EvaluationID: evaluation, RunID: postgres.OrNull(f.Run), Kind: postgres.OrNull(string(f.Kind)), CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
		Below: f.Below, RowLimit: int32(f.Limit) + 1, RowOffset: int32(f.Offset),
	}
	rows, err := q.List(ctx, p)
	if err != nil {
		return nil, 0, fmt.Errorf("list artifacts: %w", err)
	}
	all := make([]Artifact, len(rows))
	for i, r := range rows {
		all[i] = fromRow(db.FindRow(r))
	}
	if !f.Count {
		return all, 0, nil
	}
	total, err := q.Count(ctx, db.CountParams{
		OrgID: org, EvaluationID: evaluation, RunID: p.RunID, Kind: p.Kind, CreatedAfter: p.CreatedAfter, CreatedBefore: p.CreatedBefore,
	})
	if err != nil {
		return nil, 0, fmt.Errorf("count artifacts: %w", err)
	}
	return all, total, nil
}

func fromRow(r db.FindRow) Artifact {
	a := Artifact{
		ID: r.ID, Evaluation: r.EvaluationID, Run: r.RunID, Kind: Kind(r.Kind), Name: r.Name, ContentType: r.ContentType, Size: r.SizeBytes,
		CreatedAt: r.CreatedAt, object: r.Object,
	}
	copy(a.Digest[:], r.Sha256)
	return a
}
