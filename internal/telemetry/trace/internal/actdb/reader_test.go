package actdb_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/actdb"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// insert writes rows with the columns that tell acts from other spans.
const insert = `INSERT INTO spans (org_id, trace_id, span_id, start_time, duration_us, state, status, primitive_type, name, service_name, retention_days, ingested_at, version)
SELECT ?, unhex(leftPad(hex(number % 60 + ?), 32, '0')), unhex(leftPad(hex(number + 1), 16, '0')), toDateTime64('2026-11-17 12:00:00', 6, 'UTC') + number % 300, 1, 'ended', ?, ?, 'n', 'agent', 400,
  now64(3), ? FROM numbers(?) SETTINGS distributed_foreground_insert = 1`

func TestEveryActIsReadOnce(t *testing.T) {
	t.Parallel()
	for kind, make := range map[string]func(testing.TB) clickhouse.Config{"single": clickhousetest.New, "cluster": clickhousetest.NewCluster} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ch, err := clickhouse.Open(make(t))
			require.NoError(t, err)
			t.Cleanup(func() { _ = ch.Close() })
			ctx := t.Context()
			us, them := principal.OrgID(uuid.New()), principal.OrgID(uuid.New())
			write := func(org principal.OrgID, first int, status, primitive string, version, rows int) {
				t.Helper()
				require.NoError(t, ch.Writer().Exec(ctx, insert, uuid.UUID(org), first, status, primitive, version, rows))
			}
			write(us, 1, "ok", "tool_call", 1, 1200)     // 60 traces of 20 calls
			write(us, 1, "error", "model_call", 2, 30)   // some of which were something else
			write(us, 1, "ok", "model_call", 3, 10)      // and did not fail after all
			write(us, 1001, "error", "", 1, 60)          // not those of agents
			write(us, 2001, "ok", "model_call", 1, 60)   // agents that did nothing
			write(them, 1, "ok", "tool_call", 1, 60)     // of others
			write(us, 3001, "error", "retrieval", 1, 60) // steps that failed

			var ids []span.TraceID
			for _, first := range []int{1, 1001, 2001, 3001} {
				for n := range 60 {
					id := span.TraceID{14: byte((first + n) >> 8), 15: byte(first + n)}
					ids = append(ids, id)
				}
			}
			reader := actdb.New(ch, spandb.New(ch, nil, nil, spandb.Config{InsertTimeout: time.Second}, time.Now)).Of(us, ids)
			read, by := map[span.TraceID]map[span.ID]bool{}, map[string]int{}
			for {
				page, err := reader.Next(ctx)
				require.NoError(t, err)
				if len(page) == 0 {
					break
				}
				for _, r := range page {
					require.False(t, read[r.TraceID][r.ID], "a span comes once")
					if read[r.TraceID] == nil {
						read[r.TraceID] = map[span.ID]bool{}
					}
					read[r.TraceID][r.ID] = true
					by[r.Primitive]++
					require.Equal(t, "agent", string(r.Service))
				}
			}
			require.Equal(t, map[string]int{"tool_call": 1170, "model_call": 20, "retrieval": 60}, by)
		})
	}
}
