package evaluation

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/evaluation/internal/db"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

func (s store) putArtifact(ctx context.Context, org principal.OrgID, a Artifact) error {
	_, err := db.New(s.db.Org(org)).PutArtifact(ctx, db.PutArtifactParams{
		OrgID: org, EvaluationID: a.Evaluation, RunID: a.Run, Kind: string(a.Kind), Name: a.Name, ContentType: a.ContentType,
		SizeBytes: a.Size, Sha256: a.Digest[:], Object: a.object, CreatedAt: a.CreatedAt,
	})
	if err != nil {
		return fmt.Errorf("put artifact: %w", err)
	}
	return nil
}

func (s store) findArtifact(ctx context.Context, org principal.OrgID, evaluation, id int64) (Artifact, error) {
	r, err := db.New(s.db.Org(org)).FindArtifact(ctx, db.FindArtifactParams{OrgID: org, EvaluationID: evaluation, ID: id})
	if postgres.NoRows(err) {
		return Artifact{}, ErrArtifactNotFound
	}
	if err != nil {
		return Artifact{}, fmt.Errorf("find artifact: %w", err)
	}
	return fromArtifactRow(r), nil
}

func (s store) listArtifacts(ctx context.Context, org principal.OrgID, evaluation int64, f ArtifactFilter) ([]Artifact, int64, error) {
	q := db.New(s.db.Org(org))
	p := db.ListArtifactsParams{
		OrgID: org, EvaluationID: evaluation, RunID: orNull(f.Run), Kind: orNull(string(f.Kind)), CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore,
		RowLimit: int32(f.Limit), RowOffset: int32(f.Offset),
	}
	rows, err := q.ListArtifacts(ctx, p)
	if err != nil {
		return nil, 0, fmt.Errorf("list artifacts: %w", err)
	}
	total, err := q.CountArtifacts(ctx, db.CountArtifactsParams{
		OrgID: org, EvaluationID: evaluation, RunID: p.RunID, Kind: p.Kind, CreatedAfter: p.CreatedAfter, CreatedBefore: p.CreatedBefore,
	})
	if err != nil {
		return nil, 0, fmt.Errorf("count artifacts: %w", err)
	}
	all := make([]Artifact, len(rows))
	for i, r := range rows {
		all[i] = fromArtifactRow(db.FindArtifactRow(r))
	}
	return all, total, nil
}

func fromArtifactRow(r db.FindArtifactRow) Artifact {
	a := Artifact{
		ID: r.ID, Evaluation: r.EvaluationID, Run: r.RunID, Kind: ArtifactKind(r.Kind), Name: r.Name, ContentType: r.ContentType, Size: r.SizeBytes,
		CreatedAt: r.CreatedAt, object: r.Object,
	}
	copy(a.Digest[:], r.Sha256)
	return a
}
