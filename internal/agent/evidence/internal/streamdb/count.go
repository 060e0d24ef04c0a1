package streamdb

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// Count returns how many records of each kind of the stream there are. Those of a kind with
// many rows are about as many as the rows: some may be of the same record.
func (s DB) Count(ctx context.Context, org principal.OrgID, since time.Time) (map[kind.Name]record.Count, error) {
	rows, err := s.rows(ctx, org)
	if err != nil {
		return nil, err
	}
	out := map[kind.Name]record.Count{}
	var parts []string
	var args []any
	for _, k := range streamKinds {
		of := []any{uuid.UUID(org), string(k)}
		switch {
		case rows[k] == 0:
		case rows[k] <= record.MaxCounted:
			parts = append(parts, "SELECT ? AS name, toInt64(uniqExact(id)) AS records, toInt64(uniqExactIf(id, created_at > fromUnixTimestamp64Milli(?))) AS recent, max(created_at) AS latest FROM evidence WHERE org_id = ? AND kind = ?")
			args = slices.Concat(args, []any{string(k), since.UnixMilli()}, of)
		default:
			parts = append(parts, "SELECT ? AS name, toInt64(?) AS records, toInt64(uniqCombined64(id)) AS recent, (SELECT created_at FROM evidence WHERE org_id = ? AND kind = ? ORDER BY id DESC LIMIT 1) AS latest FROM evidence WHERE org_id = ? AND kind = ? AND created_at > fromUnixTimestamp64Milli(?)")
			args = slices.Concat(args, []any{string(k), rows[k]}, of, of, []any{since.UnixMilli()})
		}
	}
	if len(parts) == 0 {
		return out, nil
	}
	err = s.each(ctx, org, func(rows driver.Rows) error {
		var name string
		c := record.Count{Precision: record.Exact}
		err := rows.Scan(&name, &c.Records, &c.Recent, &c.Latest)
		if c.Records > record.MaxCounted {
			c.Precision = record.About
		}
		out[kind.Name(name)] = c
		return err
	}, "SELECT * FROM ("+strings.Join(parts, " UNION ALL ")+") WHERE latest > toDateTime64(0, 3)", args...)
	return out, err
}

// rows returns how many rows of each kind of the stream there are. The table knows them
// without reading.
func (s DB) rows(ctx context.Context, org principal.OrgID) (map[kind.Name]int64, error) {
	out := map[kind.Name]int64{}
	var parts []string
	var args []any
	for _, k := range streamKinds {
		parts, args = append(parts, "SELECT ? AS name, toInt64(count()) AS records FROM evidence WHERE org_id = ? AND kind = ?"), append(args, string(k), uuid.UUID(org), string(k))
	}
	err := s.each(ctx, org, func(rows driver.Rows) error {
		var name string
		var n int64
		err := rows.Scan(&name, &n)
		out[kind.Name(name)] = n
		return err
	}, "SELECT * FROM ("+strings.Join(parts, " UNION ALL ")+") WHERE records > 0", args...)
	return out, err
}

// Unmapped returns how many events were received that no normalizer understands. It looks
// at no more than record.MaxAttention.
func (s DB) Unmapped(ctx context.Context, org principal.OrgID) (n int64, err error) {
	err = s.each(ctx, org, func(rows driver.Rows) error { return rows.Scan(&n) },
		`SELECT toInt64(count()) FROM (
			SELECT id FROM evidence WHERE org_id = ? AND kind = 'raw-events' AND id IN (
				SELECT id FROM evidence WHERE org_id = ? AND kind = 'raw-events' AND state = 'unmapped' ORDER BY id DESC LIMIT 1 BY id LIMIT ?)
			GROUP BY id HAVING argMax(state, replaces) = 'unmapped')`, uuid.UUID(org), uuid.UUID(org), record.MaxAttention)
	return n, err
}
