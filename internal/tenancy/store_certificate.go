package tenancy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

func (s store) insertCertificateTx(ctx context.Context, tx postgres.Tx, by string, at time.Time) error {
	err := db.New(tx).InsertCertificate(ctx, db.InsertCertificateParams{OrgID: tx.Org, RequestedAt: at, RequestedBy: by})
	return postgres.Wrap(err, "insert certificate")
}

func (s store) certificate(ctx context.Context, org principal.OrgID) (Certificate, error) {
	return findCertificate(ctx, s.db.Org(org), org)
}

func findCertificate(ctx context.Context, q db.DBTX, org principal.OrgID) (Certificate, error) {
	r, err := db.New(q).FindCertificate(ctx, org)
	if err != nil {
		return Certificate{}, postgres.Missing(err, "find certificate", ErrCertificateNotFound)
	}
	c := Certificate{Org: r.OrgID, RequestedAt: r.RequestedAt.UTC(), RequestedBy: r.RequestedBy, Digest: r.Digest, Contents: map[string]map[string]int64{}}
	if r.CompletedAt != nil {
		at := r.CompletedAt.UTC()
		c.CompletedAt = &at
	}
	if err := json.Unmarshal(r.Contents, &c.Contents); err != nil {
		return Certificate{}, fmt.Errorf("read certificate: %w", err)
	}
	return c, nil
}

func editCertificateTx(ctx context.Context, tx postgres.Tx, database, table string, edit func(int64) int64) error {
	if err := db.New(tx).LockCertificate(ctx, tx.Org); err != nil {
		return fmt.Errorf("lock certificate: %w", err)
	}
	c, err := findCertificate(ctx, tx, tx.Org)
	if err != nil {
		return err
	}
	if c.Contents[database] == nil {
		c.Contents[database] = map[string]int64{}
	}
	c.Contents[database][table] = edit(c.Contents[database][table])
	text, err := json.Marshal(c.Contents, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode certificate: %w", err)
	}
	err = db.New(tx).SetCertificateContents(ctx, db.SetCertificateContentsParams{OrgID: tx.Org, Contents: text})
	return postgres.Wrap(err, "write certificate")
}

func (s store) eraseOrganizationTx(ctx context.Context, tx postgres.Tx) (int64, error) {
	tag, err := tx.Exec(ctx, "DELETE FROM organizations WHERE id = $1", tx.Org)
	if err != nil {
		return 0, fmt.Errorf("erase organization: %w", err)
	}
	return tag.RowsAffected(), nil
}

func completeCertificateTx(ctx context.Context, tx postgres.Tx, at time.Time) error {
	c, err := findCertificate(ctx, tx, tx.Org)
	if err != nil {
		return err
	}
	if c.CompletedAt != nil {
		return nil
	}
	at = at.UTC().Truncate(time.Microsecond)
	text, err := json.Marshal(map[string]any{
		"organization": tx.Org.String(), "requested_at": c.RequestedAt, "requested_by": c.RequestedBy, "completed_at": at, "erased": c.Contents,
	})
	if err != nil {
		return fmt.Errorf("encode certificate: %w", err)
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		return fmt.Errorf("encode certificate: %w", err)
	}
	contents, err := json.Marshal(c.Contents, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode certificate: %w", err)
	}
	sum := sha256.Sum256(canonical)
	_, err = db.New(tx).CompleteCertificate(ctx, db.CompleteCertificateParams{OrgID: tx.Org, CompletedAt: &at, Contents: contents, Digest: sum[:]})
	return postgres.Wrap(err, "complete certificate")
}
