package erasure

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Stores are the databases to erase from.
type Stores struct {
	Postgres   *postgres.DB
	ClickHouse *clickhouse.DB
}

// store finds what belongs to an organization in the catalogs of both
// databases, so that a new table is erased without being listed anywhere.
type store struct {
	db *postgres.DB
	ch *clickhouse.DB
}

// counter changes a count of the certificate.
type counter func(ctx context.Context, tx postgres.Tx, place, table string, count func(int64) int64) error

// gone reports whether the organization itself is erased.
func (s store) gone(ctx context.Context, org principal.OrgID) (gone bool, err error) {
	err = s.db.Org(org).QueryRow(ctx, "SELECT NOT EXISTS (SELECT 1 FROM organizations WHERE id = $1)", org).Scan(&gone)
	return gone, postgres.Wrap(err, "look for the organization")
}

// count adds to a count of the certificate.
func (s store) count(ctx context.Context, org principal.OrgID, count counter, place, table string, n int64) error {
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		return count(ctx, tx, place, table, func(counted int64) int64 { return counted + n })
	})
}

// eraseEvents erases the organization from every table of ClickHouse that has
// organizations in it, on every server.
func (s store) eraseEvents(ctx context.Context, org principal.OrgID, count counter, beat func(string)) (found int64, err error) {
	tables, err := s.eventTables(ctx)
	if err != nil {
		return 0, err
	}
	for _, table := range tables {
		beat(table)
		all := clickhouse.Doomed{Table: table, Where: "org_id = ?", Args: []any{uuid.UUID(org)}}
		n, err := s.ch.Eraser().Left(ctx, all)
		if err != nil {
			return found, fmt.Errorf("count %s: %w", table, err)
		}
		if n == 0 {
			continue
		}
		found += int64(n)
		// Counted before they are erased: ClickHouse takes part in no transaction.
		// A run that finds fewer than an earlier one finishes what that one began.
		err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
			return count(ctx, tx, "clickhouse", table, func(counted int64) int64 { return max(counted, int64(n)) })
		})
		if err != nil {
			return found, err
		}
		failpoint.Hit(Hiding)
		if err := s.ch.Eraser().Erase(ctx, all); err != nil {
			return found, fmt.Errorf("erase from %s: %w", table, err)
		}
	}
	return found, nil
}

// eventTables lists the tables that store rows of organizations, by the names
// that they have on a single node.
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
		if s.ch.Cluster() != "" {
			name = strings.TrimSuffix(name, "_local")
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

const eraseBatch = 5000

// eraseRows erases the organization from every table of PostgreSQL, those that
// refer to others first.
func (s store) eraseRows(ctx context.Context, org principal.OrgID, count counter, beat func(string)) (found int64, err error) {
	tables, err := s.rowTables(ctx, org)
	if err != nil {
		return 0, err
	}
	for _, table := range tables {
		for {
			beat(table)
			n, err := s.eraseSome(ctx, org, table, count)
			if err != nil {
				return found, fmt.Errorf("erase from %s: %w", table, err)
			}
			found += n
			if n < eraseBatch {
				break
			}
		}
	}
	return found, nil
}

func (s store) eraseSome(ctx context.Context, org principal.OrgID, table string, count counter) (n int64, err error) {
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
		return count(ctx, tx, "postgres", table, func(counted int64) int64 { return counted + n })
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
