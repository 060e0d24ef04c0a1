package tenancy

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// insertUsage writes a block of metered requests.
func (s store) insertUsage(ctx context.Context, block []Request) error {
	batch, err := s.ch.Writer().PrepareBatch(ctx, "INSERT INTO api_usage (org_id, at, key_id, operation, status, duration_us)")
	if err != nil {
		return fmt.Errorf("prepare usage: %w", err)
	}
	for _, r := range block {
		took := uint32(min(r.Took.Microseconds(), 1<<32-1))
		if err := batch.Append(uuid.UUID(r.Org), r.At, r.KeyID, r.Operation, uint16(r.Status), took); err != nil {
			return fmt.Errorf("append usage: %w", err)
		}
	}
	return postgres.Wrap(batch.Send(), "send usage")
}

// usageByDay are the figures of one key by day, with their latencies.
func (s store) usageByDay(ctx context.Context, org principal.OrgID, keyID string, from, to time.Time) ([]UsageDay, error) {
	rows, err := s.ch.Org(org).Query(ctx, `
		SELECT toDate(at) AS day, count() AS requests, countIf(status >= 400) AS errors
		FROM api_usage
		WHERE org_id = ? AND key_id = ? AND at >= fromUnixTimestamp64Milli(?) AND at <= fromUnixTimestamp64Milli(?)
		GROUP BY day ORDER BY day`, uuid.UUID(org), keyID, from.UnixMilli(), to.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("read usage by day: %w", clickhouse.Translate(err))
	}
	defer func() { _ = rows.Close() }()
	var out []UsageDay
	for rows.Next() {
		var d UsageDay
		var requests, failed uint64
		if err := rows.Scan(&d.Date, &requests, &failed); err != nil {
			return nil, fmt.Errorf("read usage by day: %w", clickhouse.Translate(err))
		}
		d.Requests, d.Errors = int64(requests), int64(failed)
		out = append(out, d)
	}
	return out, rows.Err()
}

// usageByOperation are the figures of one key by operation, busiest first.
func (s store) usageByOperation(ctx context.Context, org principal.OrgID, keyID string, from, to time.Time) ([]UsageOperation, error) {
	rows, err := s.ch.Org(org).Query(ctx, `
		SELECT operation, count() AS requests, countIf(status >= 400) AS errors,
		       toFloat64(quantileTDigest(0.5)(duration_us)) / 1000 AS p50, toFloat64(quantileTDigest(0.95)(duration_us)) / 1000 AS p95
		FROM api_usage
		WHERE org_id = ? AND key_id = ? AND at >= fromUnixTimestamp64Milli(?) AND at <= fromUnixTimestamp64Milli(?)
		GROUP BY operation ORDER BY requests DESC, operation`, uuid.UUID(org), keyID, from.UnixMilli(), to.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("read usage by operation: %w", clickhouse.Translate(err))
	}
	defer func() { _ = rows.Close() }()
	var out []UsageOperation
	for rows.Next() {
		var o UsageOperation
		var requests, failed uint64
		if err := rows.Scan(&o.Operation, &requests, &failed, &o.P50, &o.P95); err != nil {
			return nil, fmt.Errorf("read usage by operation: %w", clickhouse.Translate(err))
		}
		o.Requests, o.Errors = int64(requests), int64(failed)
		out = append(out, o)
	}
	return out, rows.Err()
}

// usageTotals are the figures of one key over the whole time.
func (s store) usageTotals(ctx context.Context, org principal.OrgID, keyID string, from, to time.Time) (Usage, error) {
	var u Usage
	var requests, failed, limited uint64
	err := s.ch.Org(org).QueryRow(ctx, `
		SELECT count(), countIf(status >= 400), countIf(status = 429), if(count() = 0, 0, avg(duration_us)) / 1000,
		       if(count() = 0, 0, toFloat64(quantileTDigest(0.5)(duration_us))) / 1000, if(count() = 0, 0, toFloat64(quantileTDigest(0.95)(duration_us))) / 1000
		FROM api_usage
		WHERE org_id = ? AND key_id = ? AND at >= fromUnixTimestamp64Milli(?) AND at <= fromUnixTimestamp64Milli(?)`, uuid.UUID(org), keyID, from.UnixMilli(), to.UnixMilli()).
		Scan(&requests, &failed, &limited, &u.Average, &u.P50, &u.P95)
	if err != nil {
		return Usage{}, fmt.Errorf("read usage: %w", clickhouse.Translate(err))
	}
	u.Requests, u.Errors, u.RateLimited = int64(requests), int64(failed), int64(limited)
	return u, nil
}
