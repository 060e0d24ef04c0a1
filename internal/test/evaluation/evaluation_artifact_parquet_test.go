package evaluation_test

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

// typed reads a Parquet file: the names of its columns, and its rows, in which
// null is nil.
func typed(t *testing.T, content []byte) (names []string, rows []map[string]any) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	for _, path := range f.Schema().Columns() {
		require.Len(t, path, 1, "the table is flat")
		names = append(names, path[0])
	}
	reader := parquet.NewGenericReader[any](f)
	defer func() { _ = reader.Close() }()
	for buf := make([]parquet.Row, 10); len(rows) < int(f.NumRows()); {
		n, err := reader.ReadRows(buf)
		require.Positive(t, n, "%v", err)
		for _, values := range buf[:n] {
			row := map[string]any{}
			for i, v := range values {
				switch {
				case v.IsNull():
					row[names[i]] = nil
				case v.Kind() == parquet.Int64:
					row[names[i]] = v.Int64()
				case v.Kind() == parquet.Double:
					row[names[i]] = v.Double()
				default:
					row[names[i]] = string(v.ByteArray())
				}
			}
			rows = append(rows, row)
		}
	}
	return names, rows
}

// document reads JSON of a Parquet file.
func document(t *testing.T, v any) (out any) {
	t.Helper()
	if v != nil {
		require.NoError(t, json.Unmarshal([]byte(v.(string)), &out))
	}
	return out
}

// shown is a value as a table for spreadsheets has it.
func shown(t *testing.T, column string, v any) string {
	t.Helper()
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		if column == "input" || column == "expected_output" || column == "output" {
			if text, ok := document(t, v).(string); ok {
				return text
			}
		}
		return v
	}
	return ""
}

func TestAllFilesOfResultsSayTheSame(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Working(t)
	c := k.Org(t)
	d := c.Dataset(t, testkit.NewDataset{})
	split := "test"
	added, err := c.AddItems(ctx, d.ID, []testkit.Item{
		{Input: "one", ExpectedOutput: map[string]any{"is": []any{1, nil, "ä"}}, Labels: map[string]any{"topic": "numbers"}, Split: &split},
		{Input: map[string]any{"no": "expectation"}},
		{Input: "three", ExpectedOutput: "3"},
		{Input: "four", ExpectedOutput: "4"},
		{Input: "five", ExpectedOutput: "5"},
	})
	require.NoError(t, err)
	id := func(i int) string { return added.Items[i].ID }
	metrics := []string{"exact_match", "similarity", "cost_usd"}
	e := c.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "client"}, "metrics": metrics})
	r := executing(t, c, started(t, c, e.ID, map[string]any{"clusterKey": "topic"}))
	require.NoError(t, c.PutResults(ctx, e.ID, r.RunID, []map[string]any{
		{"testCaseId": id(0), "output": map[string]any{"is": []any{1, nil, "ä"}}, "durationMs": 1500.25, "costUsd": 0.29, "usage": map[string]any{"inputTokens": 4294967295, "output_tokens": 4}, "otelTraceId": "5b8efff798038103d269b633813fc60c"},
		{"testCaseId": id(1), "output": "something"},
		{"testCaseId": id(2), "error": map[string]any{"code": "crashed", "message": "It fell over."}},
		{"testCaseId": id(3), "skipped": true},
		{"testCaseId": id(4), "output": nil},
	}, true))
	r = c.Ended(t, r)
	require.Equal(t, "completed", r.Status)
	files := c.Artifacts(t, r)
	require.Equal(t, "application/vnd.apache.parquet", files["results.parquet"].ContentType)
	names, rows := typed(t, c.Content(t, files["results.parquet"]).Body)
	require.Len(t, rows, 5)

	t.Run("a sheet has the first columns, and the same cells", func(t *testing.T) {
		t.Parallel()
		sheet, err := csv.NewReader(bytes.NewReader(c.Content(t, files["results.csv"]).Body)).ReadAll()
		require.NoError(t, err)
		header := sheet[0]
		require.Equal(t, header, names[:len(header)])
		require.Equal(t, []string{"overall", "exact_match", "similarity", "cost_usd_score", "duration_ms", "cost_usd"}, header[3:9], "no two columns have one name")
		require.Equal(t, []string{"otel_trace_id", "exact_match_reason", "similarity_reason", "cost_usd_reason"}, names[len(header):])
		require.Len(t, sheet, 1+len(rows))
		for i, row := range rows {
			var cells []string
			for _, name := range header {
				cells = append(cells, shown(t, name, row[name]))
			}
			require.Equal(t, sheet[1+i], cells)
		}
	})

	t.Run("lines have the same values, and what is missing in them is null", func(t *testing.T) {
		t.Parallel()
		lines := bytes.Split(bytes.TrimSpace(c.Content(t, files["results.jsonl"]).Body), []byte("\n"))
		require.Len(t, lines, len(rows))
		known := func(v *float64) any {
			if v == nil {
				return nil
			}
			return *v
		}
		for i, line := range lines {
			var one testkit.Result
			require.NoError(t, json.Unmarshal(line, &one))
			row := rows[i]
			require.Equal(t, one.TestCaseID, shown(t, "", row["test_case_id"]))
			require.Equal(t, []any{one.Epoch, one.Status, one.Calls}, []any{row["epoch"], row["status"], row["calls"]})
			require.Equal(t, []any{known(one.Overall), known(one.DurationMs), known(one.CostUSD)}, []any{row["overall"], row["duration_ms"], row["cost_usd"]})
			require.Equal(t, []any{one.Input, one.ExpectedOutput, one.Output}, []any{document(t, row["input"]), document(t, row["expected_output"]), document(t, row["output"])})
			require.Equal(t, api.Value(one.OTELTraceID), shown(t, "", row["otel_trace_id"]))
			if one.Error != nil {
				require.Equal(t, []any{api.Value(one.Error.Code), one.Error.Message}, []any{row["error_code"], row["error_message"]})
			} else {
				require.Equal(t, []any{nil, nil}, []any{row["error_code"], row["error_message"]})
			}
			reasons := map[string]any{}
			for _, x := range one.Explanations {
				if api.Value(x.Reason) != "" {
					reasons[x.Metric] = api.Value(x.Reason)
				}
			}
			for _, m := range metrics {
				score := row[strings.Replace(m, "cost_usd", "cost_usd_score", 1)]
				require.Equal(t, known(one.Scores[m]), score, m)
				require.Equal(t, reasons[m], row[m+"_reason"], m)
				require.NotEqual(t, score == nil, row[m+"_reason"] == nil, "%s: either a score or a reason", m)
			}
		}
		require.Equal(t, []any{1.0, 0.29, int64(4294967295), "numbers", "test"}, []any{rows[0]["exact_match"], rows[0]["cost_usd_score"], rows[0]["input_tokens"], rows[0]["cluster"], rows[0]["split"]})
		require.Equal(t, []any{nil, nil, nil}, []any{rows[1]["exact_match"], rows[1]["overall"], rows[1]["cost_usd_score"]}, "a metric that abstains says null, not zero")
		require.Nil(t, rows[2]["output"])
	})
}
