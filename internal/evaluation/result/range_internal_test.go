package result

import (
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
)

func opened(t *testing.T) store {
	t.Helper()
	cfg := clickhousetest.New(t)
	ch, err := clickhouse.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	inserter, err := clickhouse.NewInserter(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = inserter.Close() })
	return store{Stores: Stores{ClickHouse: ch, Inserter: inserter}, now: time.Now}
}

func TestARunIsReadInRanges(t *testing.T) {
	t.Parallel()
	s := opened(t)
	r := Run{Org: principal.NewOrgID(), ID: 7, Started: time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)}
	var want []Key
	for round := range 2 { // each row is replaced once
		var all []Outcome
		for item := range int64(9) {
			for epoch := range 1 + int(item)%3 {
				value := float64(round)
				all = append(all, Outcome{Key: Key{item - 4, epoch}, Status: StatusPassed, Overall: &value})
				if round == 0 {
					want = append(want, Key{item - 4, epoch})
				}
			}
		}
		require.NoError(t, s.insert(t.Context(), r, all))
	}
	scan := func(row driver.Rows) (Brief, Key, error) {
		b, err := scanBrief(row)
		return b, b.Key, err
	}
	for rows := 7; rows < 40; rows++ {
		found, err := readRun(t.Context(), s, r, "", briefColumns, rows, scan)
		require.NoError(t, err)
		var keys []Key
		for _, b := range found {
			keys = append(keys, b.Key)
			require.InDelta(t, 1, *b.Overall, 0, "the last one counts")
		}
		require.Equal(t, want, keys, "%d rows at once", rows)
	}
	_, err := readRun(t.Context(), s, r, "", briefColumns, 3, scan)
	require.ErrorContains(t, err, "more than 3 rows of item", "an item is never cut in two")
}

// TestARunOfMoreThanAMillionResultsIsRead reads more rows than the server gives a
// reader in one answer.
func TestARunOfMoreThanAMillionResultsIsRead(t *testing.T) {
	t.Parallel()
	s := opened(t)
	const n = 1_050_000
	r := Run{Org: principal.NewOrgID(), ID: 7, Started: time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)}
	err := s.ClickHouse.Writer().Exec(t.Context(), `INSERT INTO run_results (org_id, run_id, run_started, metric, item_id, epoch, status, scored, value, version)
		SELECT ?, ?, fromUnixTimestamp(?), if(number % 2 = 0, '', 'exact_match'), intDiv(number, 2), 0, 'passed', true, 1, 1 FROM numbers(?)`,
		uuid.UUID(r.Org), r.ID, r.Started.Unix(), 2*n)
	require.NoError(t, err)

	briefs, err := s.briefs(t.Context(), r)

	require.NoError(t, err)
	require.Len(t, briefs, n)
	require.Equal(t, []int64{0, n - 1}, []int64{briefs[0].Item, briefs[n-1].Item})
	measures, err := s.measures(t.Context(), r, "exact_match")
	require.NoError(t, err)
	require.Len(t, measures, n)
	err = s.each(t.Context(), r.Org, func(driver.Rows) error { return nil }, "SELECT item_id"+of+" AND metric = ''", r.args()...)
	require.Error(t, err, "the server gives no such answer as a whole")
}
