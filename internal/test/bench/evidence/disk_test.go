package evidence_test

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/bench"
)

// sizeOf is what a partitioned table takes on disk, its indexes included.
const sizeOf = "SELECT sum(pg_total_relation_size(relid))::float8 FROM pg_partition_tree('%s')"

// shown is how many bytes of JSON a record of a kind has on average: what the API shows
// of it, without the fields that have no value.
func (w *world) shown(t testing.TB, kind string) float64 {
	t.Helper()
	sum, records := 0, w.page(t, "/api/agent-evidence/"+kind+"?limit=500").Records
	require.NotEmpty(t, records)
	for _, r := range records {
		for name, value := range r {
			if value.Kind() == 'n' {
				delete(r, name)
			}
		}
		text, err := json.Marshal(r)
		require.NoError(t, err)
		sum += len(text)
	}
	return float64(sum) / float64(len(records))
}

// streamBytes compares what events take on disk in ClickHouse, merged, with the JSON of
// their records.
func streamBytes(t testing.TB, s *sender) bench.Figure {
	t.Helper()
	w, events := s.world, float64(s.sent)
	w.stream(t, "OPTIMIZE TABLE evidence FINAL")
	const parts = " FROM system.parts WHERE active AND database = currentDatabase() AND table = 'evidence'"
	rows, disk := w.streamed(t, "SELECT sum(rows)"+parts), w.streamed(t, "SELECT sum(bytes_on_disk)"+parts)
	require.InDelta(t, 2*events, rows, 0)
	indexes := w.streamed(t, "SELECT sum(secondary_indices_compressed_bytes + secondary_indices_marks_bytes)"+parts)
	raw, call := w.shown(t, "raw-events"), w.shown(t, "tool-invocation-evidence")
	keys := w.number(t, fmt.Sprintf(sizeOf, "evidence_keys"))
	return bench.Figure{
		Name: "evidence-stream-bytes", Goal: 0.15, Bound: 0.2, Short: 2, Got: bench.Once(disk / events / (raw + call)),
		Says: fmt.Sprintf("an event of %d bytes, stored as two records of %.0f and %.0f bytes of JSON: %.0f bytes on disk in ClickHouse for both, %.0f of them indexes (and %.0f bytes of keys in PostgreSQL) ÷ the JSON",
			s.source.bytes/s.source.made, raw, call, disk/events, indexes/events, keys/events),
	}
}

// stateBytes compares what records that last take on disk in PostgreSQL, indexes
// included, with their JSON.
func stateBytes(t testing.TB, w *world) bench.Figure {
	t.Helper()
	n := float64(w.records)
	disk, heap := w.number(t, fmt.Sprintf(sizeOf, "evidence_records"))/n, w.number(t, "SELECT sum(pg_table_size(relid))::float8 FROM pg_partition_tree('evidence_records') WHERE isleaf")/n
	text := w.shown(t, "side-effect-ledger")
	return bench.Figure{
		Name: "evidence-state-bytes", Goal: 1.4, Bound: 1.7, Short: 4, Got: bench.Once(disk / text),
		Says: fmt.Sprintf("a side effect of %.0f bytes of JSON: %.0f bytes on disk in PostgreSQL, %.0f of them indexes ÷ the JSON", text, disk, disk-heap),
	}
}
