package artifact

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/evaluation/result"
)

// tabled writes results that have an output of some size, and returns the file
// and how many rows its groups have.
func tabled(t *testing.T, metrics []string, results, size int) (content []byte, f *parquet.File, groups []int64) {
	t.Helper()
	var out bytes.Buffer
	table := NewParquet(&out, metrics)
	output := jsontext.Value(`"` + strings.Repeat("x", size) + `"`)
	for i := range results {
		v := float64(i)
		r := Row{Outcome: result.Outcome{Key: result.Key{Item: int64(i)}, Status: result.StatusPassed, Output: output}}
		for _, name := range metrics {
			r.Scores = append(r.Scores, result.Score{Metric: name, Value: &v})
		}
		require.NoError(t, table.Write(r))
	}
	require.NoError(t, table.Close())
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	for _, g := range f.RowGroups() {
		groups = append(groups, g.NumRows())
	}
	return out.Bytes(), f, groups
}

func TestRowsAreInGroupsThatAreBounded(t *testing.T) {
	t.Parallel()
	content, _, groups := tabled(t, []string{"similarity"}, groupRows+1, 10)
	require.Equal(t, []int64{groupRows, 1}, groups)
	again, _, _ := tabled(t, []string{"similarity"}, groupRows+1, 10)
	require.True(t, bytes.Equal(content, again), "the same results are the same file")

	content, f, groups := tabled(t, nil, 9, groupBytes/4)
	require.Equal(t, []int64{4, 4, 1}, groups)
	require.Less(t, len(content), 50_000, "texts are nowhere but in compressed pages")
	column, ok := f.Schema().Lookup("output")
	require.True(t, ok)
	index, err := f.RowGroups()[0].ColumnChunks()[column.ColumnIndex].ColumnIndex()
	require.NoError(t, err)
	require.Positive(t, index.NumPages())
	for page := range index.NumPages() {
		require.False(t, index.NullPage(page))
		require.Less(t, index.MinValue(page).String(), `"x`)
		require.Greater(t, index.MaxValue(page).String(), `"x`, "a reader that looks for a text looks into the page")
	}

	_, _, groups = tabled(t, nil, 0, 0)
	require.Empty(t, groups, "a run without results has a table without rows")
}

func TestEveryColumnHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	metrics := []string{"cost_usd", "Output", "a.b:c-d", "x", "x_reason", "cost_usd_score", "otel_trace_id"}
	scores, reasons := metricColumns(metrics)
	require.Equal(t, []string{"cost_usd_score", "Output_score", "a.b:c-d", "x", "x_reason", "cost_usd_score_score", "otel_trace_id_score"}, scores)
	require.Equal(t, []string{"cost_usd_reason", "Output_reason", "a.b:c-d_reason", "x_reason_", "x_reason_reason", "cost_usd_score_reason", "otel_trace_id_reason"}, reasons)

	_, f, groups := tabled(t, metrics, 2, 1)
	require.Equal(t, []int64{2}, groups)
	column, ok := f.Schema().Lookup("a.b:c-d")
	require.True(t, ok)
	require.Equal(t, len(firstColumns)+2, column.ColumnIndex)
}
