package tenancy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

func (s store) insertCertificateTx(ctx context.Context, tx postgres.Tx, by string, at time.Time) error {
	if err := db.New(tx).InsertCertificate(ctx, db.InsertCertificateParams{OrgID: tx.Org, RequestedAt: at, RequestedBy: by}); err != nil {
		return fmt.Errorf("insert certificate: %w", err)
	}
	return nil
}

func (s store) certificate(ctx context.Context, org principal.OrgID) (Certificate, error) {
	return findCertificate(ctx, s.db.Org(org), org)
}

func findCertificate(ctx context.Context, q db.DBTX, org principal.OrgID) (Certificate, error) {
	r, err := db.New(q).FindCertificate(ctx, org)
	if postgres.NoRows(err) {
		return Certificate{}, ErrCertificateNotFound
	}
	if err != nil {
		return Certificate{}, fmt.Errorf("find certificate: %w", err)
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

// countErasedTx adds erased rows to the certificate, in the transaction that
// erases them.
func countErasedTx(ctx context.Context, tx postgres.Tx, table string, n int64) error {
	return editCertificateTx(ctx, tx, "postgres", table, func(counted int64) int64 { return counted + n })
}

// countEventsTx writes how many events there are to erase, before they are
// erased: ClickHouse takes part in no transaction. A run that finds fewer than
// an earlier one finishes what that one began.
func countEventsTx(ctx context.Context, tx postgres.Tx, table string, n int64) error {
	return editCertificateTx(ctx, tx, "clickhouse", table, func(counted int64) int64 { return max(counted, n) })
}

// countFiles adds erased files to the certificate. The last activity may begin
// again after it has written the certificate's end; there are no files then.
func (s store) countFiles(ctx context.Context, org principal.OrgID, n int64) error {
	if n == 0 {
		return nil
	}
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		return editCertificateTx(ctx, tx, "files", "objects", func(counted int64) int64 { return counted + n })
	})
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
	if err := db.New(tx).SetCertificateContents(ctx, db.SetCertificateContentsParams{OrgID: tx.Org, Contents: text}); err != nil {
		return fmt.Errorf("write certificate: %w", err)
	}
	return nil
}

// eraseEvents erases the organization from every table of ClickHouse that has
// organizations in it.
func (s store) eraseEvents(ctx context.Context, org principal.OrgID, beat func(string)) error {
	if s.ch.Cluster() != "" {
		// A certificate must not say more than was done.
		return fmt.Errorf("erasure on the cluster %q is not built: its shards are not all reached from one node", s.ch.Cluster())
	}
	tables, err := s.eventTables(ctx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		beat(table)
		var n uint64
		if err := s.ch.Writer().QueryRow(ctx, "SELECT count() FROM "+table+" WHERE org_id = ?", uuid.UUID(org)).Scan(&n); err != nil {
			return fmt.Errorf("count %s: %w", table, err)
		}
		if n == 0 {
			continue
		}
		err := postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error { return countEventsTx(ctx, tx, table, int64(n)) })
		if err != nil {
			return err
		}
		if err := s.ch.Writer().Exec(ctx, "ALTER TABLE "+table+" DELETE WHERE org_id = ? SETTINGS mutations_sync = 2", uuid.UUID(org)); err != nil {
			return fmt.Errorf("erase from %s: %w", table, err)
		}
	}
	return nil
}

// eventTables lists the tables that store rows of organizations.
func (s store) eventTables(ctx context.Context) ([]string, error) {
	rows, err := s.ch.Writer().Query(ctx, `
		SELECT t.name FROM system.tables t
		WHERE t.database = currentDatabase() AND t.engine LIKE '%MergeTree'
		  AND (t.database, t.name) IN (SELECT database, table FROM system.columns WHERE name = 'org_id')
		ORDER BY t.name`)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("list tables: %w", err)
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

const eraseBatch = 5000

// eraseRows erases the organization from every table of PostgreSQL, those that
// refer to others first, and completes the certificate with the last one.
func (s store) eraseRows(ctx context.Context, org principal.OrgID, now func() time.Time, beat func(string)) error {
	tables, err := s.rowTables(ctx, org)
	if err != nil {
		return err
	}
	for _, table := range tables {
		for {
			beat(table)
			n, err := s.eraseSome(ctx, org, table)
			if err != nil {
				return fmt.Errorf("erase from %s: %w", table, err)
			}
			if n < eraseBatch {
				break
			}
		}
	}
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		tag, err := tx.Exec(ctx, "DELETE FROM organizations WHERE id = $1", org)
		if err != nil {
			return fmt.Errorf("erase organization: %w", err)
		}
		if err := countErasedTx(ctx, tx, "organizations", tag.RowsAffected()); err != nil {
			return err
		}
		return completeCertificateTx(ctx, tx, now())
	})
}

func (s store) eraseSome(ctx context.Context, org principal.OrgID, table string) (n int64, err error) {
	err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		// The audit log lets go of an entry only under this claim.
		if _, err := tx.Exec(ctx, "SELECT set_config('app.erase', $1, true)", org.String()); err != nil {
			return err
		}
		quoted := pgx.Identifier{table}.Sanitize()
		tag, err := tx.Exec(ctx, "DELETE FROM "+quoted+" WHERE org_id = $1 AND ctid = ANY (ARRAY(SELECT ctid FROM "+quoted+" WHERE org_id = $1 LIMIT $2))", org, eraseBatch)
		if err != nil {
			return err
		}
		n = tag.RowsAffected()
		if n == 0 {
			return nil
		}
		return countErasedTx(ctx, tx, table, n)
	})
	return n, err
}

// rowTables lists the tables of organizations' rows, referring ones before
// those that they refer to. The certificate stays.
func (s store) rowTables(ctx context.Context, org principal.OrgID) ([]string, error) {
	rows, err := s.db.Org(org).Query(ctx, `
		WITH RECURSIVE tenant AS (
		  SELECT c.oid, c.relname FROM pg_class c
		  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
		  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id' AND NOT a.attisdropped
		  WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'deletion_certificates'
		), depth AS (
		  SELECT t.oid, 0 AS d FROM tenant t
		  UNION
		  SELECT f.confrelid, depth.d + 1 FROM depth
		  JOIN pg_constraint f ON f.conrelid = depth.oid AND f.contype = 'f' AND f.confrelid <> f.conrelid
		  WHERE f.confrelid IN (SELECT oid FROM tenant) AND depth.d < 50
		)
		SELECT t.relname FROM tenant t JOIN depth USING (oid)
		GROUP BY t.relname ORDER BY max(depth.d), t.relname`)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
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
	if err != nil {
		return fmt.Errorf("complete certificate: %w", err)
	}
	return nil
}
