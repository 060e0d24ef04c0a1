package command_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// decide answers as the server does, with the figures of the run and the
// comparison that the routes have.
func (s *evaluations) decide(body []byte) string {
	var asked struct {
		Requirements            []string
		Baseline, BaselineRunID string
		MaxMissing              float64
	}
	var run struct {
		ID, Status string
		Error      *struct{ Message string }
		Statistics struct {
			Overall  stat.Estimate
			PassRate stat.Estimate `json:"pass_rate"`
			Metrics  map[string]stat.Estimate
		}
	}
	var list struct{ Runs []json.RawMessage }
	text := []byte(strings.Join(s.routes["GET "+run42], ""))
	if len(text) == 0 {
		_ = json.Unmarshal([]byte(s.routes["GET "+runs][0]), &list)
		text = list.Runs[0]
	}
	_, _ = json.Unmarshal(body, &asked), json.Unmarshal(text, &run)
	type ruling struct {
		Requirement string              `json:"requirement"`
		Figure      string              `json:"figure"`
		Verdict     requirement.Verdict `json:"verdict"`
		Reason      requirement.Reason  `json:"reason"`
		Alpha       float64             `json:"alpha"`
		Margin      *float64            `json:"margin"`
		Estimate    *stat.Estimate      `json:"estimate"`
		Matched     int                 `json:"n_matched"`
		Reasons     []string            `json:"reasons"`
		Reach       *float64            `json:"reach"`
		Resolution  *string             `json:"resolution"`
	}
	var out struct {
		Verdict  requirement.Verdict `json:"verdict"`
		Problem  *string             `json:"problem"`
		Baseline *string             `json:"baseline_run_id"`
		Rulings  []ruling            `json:"rulings"`
		Drift    []any               `json:"drift"`
	}
	var all []requirement.Verdict
	for _, text := range asked.Requirements {
		r, _ := requirement.Parse(text)
		var d requirement.Decision
		one := ruling{Requirement: text, Figure: r.Figure, Alpha: 0.025, Reasons: []string{}}
		switch {
		case run.Status != "completed":
			d = r.Skip(requirement.ReasonNotChecked)
		case r.Claim != "":
			baseline := "41"
			out.Baseline = &baseline
			d = s.claim(r, asked.MaxMissing, &one.Matched, &one.Reasons, &one.Resolution)
		default:
			figures := map[string]stat.Estimate{"overall": run.Statistics.Overall, "pass_rate": run.Statistics.PassRate}
			for name, e := range run.Statistics.Metrics {
				figures[name] = e
			}
			var f *requirement.Figure
			if e, ok := figures[r.Figure]; ok {
				f = &requirement.Figure{Alone: e, Together: e}
			}
			d = r.Decide(f, asked.MaxMissing)
		}
		one.Verdict, one.Reason, one.Estimate, one.Margin = d.Verdict, d.Reason, d.Estimate, d.Margin
		if d.Reach > 0 {
			one.Reach = &d.Reach
		}
		all, out.Rulings = append(all, d.Verdict), append(out.Rulings, one)
	}
	if run.Status != "completed" {
		problem := "run 42 is " + run.Status + ", not completed"
		if run.Error != nil {
			problem += ": " + run.Error.Message
		}
		out.Problem = &problem
	}
	out.Verdict, _, _ = requirement.Sum(all)
	answer, _ := json.Marshal(out)
	return string(answer)
}

// claim decides on the comparison that the routes have.
func (s *evaluations) claim(r requirement.Requirement, maxMissing float64, matched *int, reasons *[]string, resolution **string) requirement.Decision {
	type compared struct {
		Name       string
		Statistics stat.Comparison
	}
	var c struct {
		PassRate, Overall compared
		Metrics           []compared
	}
	answer := s.routes["GET "+runs+"/compare"][0]
	_ = json.Unmarshal([]byte(strings.Replace(answer, `"pass_rate":{"name"`, `"PassRate":{"name"`, 1)), &c)
	figures := append(c.Metrics, c.PassRate, c.Overall)
	at := slices.IndexFunc(figures, func(f compared) bool { return f.Name == r.Figure })
	if at < 0 {
		return r.DecideClaim(nil, maxMissing)
	}
	found := figures[at].Statistics
	if found.Verdict.Margin != nil && *found.Verdict.Margin == 0 {
		found.Descriptive = true
	}
	*matched, *reasons = found.Matched, found.Reasons
	if found.Resolution != nil {
		*resolution = &found.Resolution.Sentence
	}
	return r.DecideClaim(&requirement.Difference{Alone: found, Together: found}, maxMissing)
}
