package artifact

import (
	"context"

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
	return postgres.Wrap(err, "put artifact")
}

func (s store) find(ctx context.Context, org principal.OrgID, evaluation, id int64) (Artifact, error) {
	r, err := db.New(s.db.Org(org)).Find(ctx, db.FindParams{OrgID: org, EvaluationID: evaluation, ID: id})
	return postgres.One(r, err, "find artifact", ErrNotFound, fromRow)
}

func (s store) list(ctx context.Context, org principal.OrgID, evaluation int64, f Filter) ([]Artifact, int64, error) {
	q := db.New(s.db.Org(org))
	p := db.ListParams{
		OrgID: org, EvaluationID: evaluation, RunID: postgres.OrNull(f.Run), Kind: postgres.OrNull(string(f.Kind)), CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
		Below: f.Below, RowLimit: f.Rows(), RowOffset: f.Skip(),
	}
	rows, err := q.List(ctx, p)
	return postgres.Listed(rows, err, "artifacts", func(r db.ListRow) Artifact { return fromRow(db.FindRow(r)) }, f.Count, func() (int64, error) {
		return q.Count(ctx, db.CountParams{
			OrgID: org, EvaluationID: evaluation, RunID: p.RunID, Kind: p.Kind, CreatedAfter: p.CreatedAfter, CreatedBefore: p.CreatedBefore,
		})
	})
}

func fromRow(r db.FindRow) Artifact {
	a := Artifact{
		ID: r.ID, Evaluation: r.EvaluationID, Run: r.RunID, Kind: Kind(r.Kind), Name: r.Name, ContentType: r.ContentType, Size: r.SizeBytes,
		CreatedAt: r.CreatedAt, object: r.Object,
	}
	copy(a.Digest[:], r.Sha256)
	return a
}
