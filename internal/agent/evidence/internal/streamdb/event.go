package streamdb

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/core/principal"
)

// window is how many events are looked at in one question.
const window = 2_000

// EventsAfter returns events between two ids, the oldest first, and
// the last one that it looked at; zero if there are no others. Those that are outdated have
// not been read by a mapping of this release.
func (s DB) EventsAfter(ctx context.Context, org principal.OrgID, id, before int64, outdated bool, most int) (page []record.Record, last int64, err error) {
	const of = " FROM evidence WHERE org_id = ? AND kind = 'raw-events' AND origin = 'ingested' AND id > ? AND id < ?"
	err = s.each(ctx, org, func(rows driver.Rows) error { return rows.Scan(&last) },
		"SELECT max(id) FROM (SELECT id"+of+" ORDER BY id LIMIT 1 BY id LIMIT ?)", uuid.UUID(org), id, before, window)
	if err != nil || last == 0 {
		return nil, 0, err
	}
	which, args := "1", []any{uuid.UUID(org), id, before, last}
	if outdated {
		which = "JSONExtractString(body, 'normalizer_version') NOT IN (?)"
		args = append(args, normal.Versions())
	}
	err = s.each(ctx, org, func(rows driver.Rows) error {
		r, err := scanRecord(rows)
		page = append(page, r)
		return err
	}, "SELECT "+streamColumns+" FROM (SELECT "+streamColumns+of+" AND id <= ?"+newest+") WHERE "+which+" ORDER BY id LIMIT ?", append(args, most)...)
	if len(page) == most {
		last = page[most-1].ID
	}
	return page, last, err
}
