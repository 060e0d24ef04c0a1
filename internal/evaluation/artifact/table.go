package artifact

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/evaluation/result"
)

// Row is a row of a table of results: an outcome with what tables show of its
// item.
type Row struct {
	result.Outcome
	Split                 string
	Input, ExpectedOutput jsontext.Value
}

// scores are those of the metrics, in their order. One that the outcome does not
// have is empty.
func (r Row) scores(metrics []string) []result.Score {
	all := make([]result.Score, len(metrics))
	for i, name := range metrics {
		for _, score := range r.Scores {
			if score.Metric == name {
				all[i] = score
			}
		}
	}
	return all
}

// The columns of a table of results. The scores of its metrics stand between the
// first two; what follows only typed tables have, and then the metrics' reasons.
var (
	firstColumns = []string{"test_case_id", "epoch", "status", "overall"}
	lastColumns  = []string{"duration_ms", "cost_usd", "input_tokens", "output_tokens", "calls", "error_code", "error_message", "cluster", "split", "input", "expected_output", "output"}
	typedColumns = []string{"otel_trace_id"}
)

// metricColumns names the columns that have the scores of metrics, and those
// that say why there is none. A score's column is the metric's name unless
// another column has it already; many readers of tables do not tell names apart
// that differ only in case.
func metricColumns(metrics []string) (scores, reasons []string) {
	used := map[string]bool{}
	unused := func(name, more string) string {
		for used[strings.ToLower(name)] {
			name += more
		}
		used[strings.ToLower(name)] = true
		return name
	}
	for _, name := range slices.Concat(firstColumns, lastColumns, typedColumns) {
		unused(name, "")
	}
	for _, m := range metrics {
		scores = append(scores, unused(m, "_score"))
	}
	for _, m := range metrics {
		reasons = append(reasons, unused(m+"_reason", "_"))
	}
	return scores, reasons
}
