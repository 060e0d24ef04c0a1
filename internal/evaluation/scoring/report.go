package scoring

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/measure/report"
)

// Text says in words where outputs come from.
func (t Target) Text() string {
	switch t.Type {
	case TargetModel:
		return "model " + t.Model
	case TargetHTTP:
		return "application over HTTP"
	case TargetClient:
		return "results sent by a client"
	default:
		return "recorded outputs"
	}
}

// Reported is the rule as a report shows it.
func (r PassRule) Reported() report.Passing {
	out := report.Passing{MinOverall: DefaultMinOverall, Any: r.Mode == PassAny}
	if r.MinOverall != nil {
		out.MinOverall = *r.MinOverall
	}
	if r.Mode != PassWeighted {
		out.Thresholds = r.Thresholds
	}
	return out
}

// Reported is the result as a report shows it.
func (r Result) Reported() report.Result {
	out := report.Result{
		Item: r.Outcome.Item, Epoch: r.Epoch, Status: string(r.Status), Overall: r.Overall, Priced: r.CostNanoUSD != nil, Cluster: r.Cluster, Split: r.Item.Split, Labels: labels(r.Item.Content),
		Input: r.Item.Content.Input, Expected: r.Item.Content.ExpectedOutput, Output: r.Output, ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage,
		Scores: make([]report.Score, len(r.Scores)),
	}
	for i, sc := range r.Scores {
		out.Scores[i] = report.Score(sc)
	}
	return out
}

// labels are the labels of an item that can tell groups apart: texts, numbers and
// truth values.
func labels(c dataset.Content) map[string]string {
	var all map[string]jsontext.Value
	if c.Labels.Kind() != '{' || json.Unmarshal(c.Labels, &all) != nil {
		return nil
	}
	out := make(map[string]string, len(all))
	for name, v := range all {
		switch v.Kind() {
		case '"', '0', 't', 'f':
			out[name] = short(plain(v))
		}
	}
	return out
}
