package client

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Comparison is how a candidate run differs from a baseline run.
type Comparison struct {
	BaselineRunID  string       `json:"baseline_run_id"`
	CandidateRunID string       `json:"candidate_run_id"`
	Confidence     float64      `json:"confidence"`
	Margin         *float64     `json:"margin"`
	Comparable     bool         `json:"comparable"`
	Reasons        []string     `json:"incomparable_reasons"`
	Overall        Compared     `json:"overall"`
	PassRate       Compared     `json:"pass_rate"`
	Metrics        []Compared   `json:"metrics"`
	Items          Changes      `json:"items"`
	Regressions    []Regression `json:"regressions"`

	// Raw is the comparison as the server wrote it.
	Raw jsontext.Value `json:"-"`
}

// Compared is one figure of both runs. Delta is candidate minus baseline.
type Compared struct {
	Name       string   `json:"name"`
	Better     string   `json:"better"` // higher or lower
	Baseline   *float64 `json:"baseline"`
	Candidate  *float64 `json:"candidate"`
	Delta      *float64 `json:"delta"`
	CILow      *float64 `json:"ci_low"`
	CIHigh     *float64 `json:"ci_high"`
	Verdict    string   `json:"verdict"` // improved, regressed, unchanged or inconclusive
	Statistics struct {
		Difference Estimate    `json:"difference"`
		Candidate  Estimate    `json:"candidate"`
		Matched    int         `json:"n_matched"`
		Comparable bool        `json:"comparable"`
		Reasons    []string    `json:"incomparable_reasons"`
		Verdict    Verdict     `json:"verdict"`
		Resolution *Resolution `json:"resolution"`
	} `json:"statistics"`
}

// Verdict holds an interval against zero and, if there is one, a margin. The
// last two answers are empty without a margin.
type Verdict struct {
	Superiority    string  `json:"superiority"`     // better, worse or unresolved
	NonInferiority string  `json:"non_inferiority"` // shown, refuted or unresolved
	Equivalence    string  `json:"equivalence"`     // shown or not_shown
	Margin         float64 `json:"margin"`          // in the units of the figure
}

// Changes counts items by what became of them.
type Changes struct {
	Improved      int `json:"improved"`
	Regressed     int `json:"regressed"`
	Unchanged     int `json:"unchanged"`
	Changed       int `json:"changed"`
	OnlyBaseline  int `json:"only_baseline"`
	OnlyCandidate int `json:"only_candidate"`
}

// Regression is an item that the candidate does worse.
type Regression struct {
	TestCaseID string     `json:"test_case_id"`
	By         string     `json:"by"` // overall or pass_rate
	Baseline   ItemScores `json:"baseline"`
	Candidate  ItemScores `json:"candidate"`
}

// ItemScores are what a run scored an item.
type ItemScores struct {
	Overall  *float64            `json:"overall"`
	PassRate float64             `json:"pass_rate"`
	Scores   map[string]*float64 `json:"scores"`
}

// By returns the figure that a regression is a difference of.
func (s ItemScores) By(by string) *float64 {
	if by == "pass_rate" {
		return &s.PassRate
	}
	return s.Overall
}

// Compare compares two runs of an evaluation that have ended. A margin of zero
// is that of the candidate's request, if it has one.
func (c *Client) Compare(ctx context.Context, evaluation, baseline, candidate string, margin float64) (Comparison, error) {
	q := url.Values{"baselineRunId": {baseline}, "candidateRunId": {candidate}}
	if margin > 0 {
		q.Set("margin", strconv.FormatFloat(margin, 'f', -1, 64))
	}
	var raw jsontext.Value
	if _, err := c.get(ctx, "/api/evaluations/"+url.PathEscape(evaluation)+"/runs/compare", q, &raw); err != nil {
		return Comparison{}, err
	}
	var out Comparison
	if err := json.Unmarshal(raw, &out); err != nil || out.CandidateRunID == "" {
		return Comparison{}, fmt.Errorf("%s: %w", c.base, errFormat)
	}
	out.Raw = raw
	return out, nil
}

// Figure returns the figure of a name: pass_rate, overall or a metric.
func (c Comparison) Figure(name string) (Compared, bool) {
	for _, f := range c.Figures() {
		if f.Name == name {
			return f, true
		}
	}
	return Compared{}, false
}

// Figures are the pass rate, overall and the metrics.
func (c Comparison) Figures() []Compared {
	return append([]Compared{c.PassRate, c.Overall}, c.Metrics...)
}
