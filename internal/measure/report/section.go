package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/stat"
)

func metricOf(d Metric, e stat.Estimate) metricView {
	s := scaleOf(d)
	v := metricView{Name: d.Name, Summary: d.Summary, Direction: string(d.Better) + " is better", Value: "—", Basis: s.basis(e), Missing: s.missing(e)}
	if e.Status != stat.StatusOK {
		v.Status = strings.ReplaceAll(string(e.Status), "_", " ")
	}
	low, high := 0.0, 1.0
	if span := d.Range; span != nil {
		low, high = span.Lower, span.Upper
	} else {
		for _, x := range ends(e) {
			low, high = min(low, x), max(high, 1.15*x)
		}
		if s.unit != "" && e.Value != nil && *e.Value > 0 {
			high = 1.15 * slices.Max(ends(e))
		}
	}
	v.Bar, v.Low, v.High = barOf(e, low, high), s.text(low), s.text(high)
	if s.percent {
		v.Low, v.High = "0%", "100%"
	} else if s.unit == "" {
		v.Low, v.High = digits(low), digits(high)
	}
	if e.Value != nil {
		v.Value = s.text(*e.Value)
	}
	return v
}

// correctedText says what the figure of a judge rests on, and the judge's own mean.
func correctedText(s scale, c correction.Corrected) string {
	if c.Estimator == correction.EstimatorJudge {
		if c.Purposive > 0 {
			return fmt.Sprintf("The judge’s opinion. The %s labels correct nothing, because it is not known how their items were chosen.", grouped(c.Purposive))
		}
		return "The judge’s opinion. Labels of people on a random sample would correct it."
	}
	text := fmt.Sprintf("As people would give it, estimated from %s labels.", grouped(c.Labels))
	if v := c.Judge.Value; v != nil {
		text += " The judge’s own mean is " + s.text(*v) + "."
	}
	return text
}

func compareValues(a, b *float64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil || *a < *b:
		return -1
	case *a > *b:
		return 1
	}
	return 0
}

func worstOf(r Run, f *Findings) (all []itemView, note string) {
	for _, w := range f.worst {
		v := itemView{ID: strconv.FormatInt(w.item, 10), Status: w.status, Overall: "—", Input: w.input, Expected: w.expected, Output: w.output, Tone: "bad"}
		if w.passed {
			v.Tone = "good"
		}
		if r.Repetitions > 1 {
			v.Epoch = fmt.Sprintf("repetition %d", w.epoch+1)
		}
		if w.overall != nil {
			v.Overall = scale{}.text(*w.overall)
		}
		for _, d := range f.metrics {
			for _, sc := range w.scores {
				if sc.Metric == d.Name {
					v.Scores = append(v.Scores, itemScore(d, sc))
				}
			}
		}
		all = append(all, v)
	}
	switch {
	case len(all) == maxWorst:
		note = fmt.Sprintf("The %d lowest, failed ones first. All results are in results.jsonl, results.csv and results.parquet beside this report.", maxWorst)
	case len(all) == 0:
		note = "No scored result fell short."
	default:
		note = "Every scored result that fell short, the lowest first."
	}
	return all, note
}

func itemScore(d Metric, sc Score) itemScoreView {
	v := itemScoreView{Metric: sc.Metric, Value: "no score", Text: sc.Explanation}
	if sc.Value == nil {
		if v.Text == "" {
			v.Text = strings.ReplaceAll(sc.Reason, "_", " ")
		}
		return v
	}
	v.Value = scale{unit: d.Unit}.text(*sc.Value)
	if span := d.Range; span != nil && d.Better == metric.Higher && *sc.Value < (span.Lower+span.Upper)/2 {
		v.Tone = "bad"
	}
	return v
}

func errorsOf(f *Findings, o *Outcome) (all []errorView) {
	var groups []*errorGroup
	for _, g := range f.errors {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b *errorGroup) int {
		if a.count != b.count {
			return b.count - a.count
		}
		return strings.Compare(a.code, b.code)
	})
	for _, g := range groups[:min(len(groups), 12)] {
		share := 100 * float64(g.count) / float64(max(1, o.Items))
		all = append(all, errorView{
			Code: shorten(g.code, 64).Text, Count: grouped(g.count), Share: decimals(share, 1) + "% of results", Example: g.example,
			Width: round(100 * float64(g.count) / float64(groups[0].count)),
		})
	}
	return all
}

func methodOf(r Run, f *Findings) []factView {
	all := []factView{
		{Label: "Estimates", Value: "Means and pass rates over results, with intervals at the stated level.", Note: "Repetitions of an item are averaged first; items of a cluster are not taken for independent. A missing score is left out and never counts as zero; its bounds are shown."},
		{Label: "Passing", Value: passText(r.Passing), Note: "An errored result counts as failed; a skipped one counts as nothing."},
		{Label: "Statistics", Value: "version " + stat.AlgoVersion, Note: "The same results give the same digits under the same version."},
	}
	if d := r.Data; d != nil {
		order := "Items were executed in a random order that this seed repeats."
		if r.Sampled {
			order = fmt.Sprintf("The seed draws the sample of %s items and their order.", grouped(d.Items))
		}
		all = append(all, factView{Label: "Seed", Value: strconv.FormatInt(d.Seed, 10), Note: order},
			factView{Label: "Dataset", Value: fmt.Sprintf("%d, version %d", d.Dataset, d.Version), Note: d.VersionDigest},
			factView{Label: "Configuration", Value: d.ConfigDigest, Note: "Runs with equal digests treat an item alike."})
	}
	if key := r.ClusterKey; key != "" {
		all = append(all, factView{Label: "Clusters", Value: "by " + shorten(key, 80).Text, Note: "Intervals are computed over clusters."})
	}
	all = append(all, factView{Label: "Repetitions", Value: strconv.Itoa(r.Repetitions)}, factView{Label: "Target", Value: r.target()})
	if len(f.metrics) > 0 {
		names := make([]string, len(f.metrics))
		for i, d := range f.metrics {
			names[i] = d.Name
		}
		all = append(all, factView{Label: "Metrics", Value: strings.Join(names, ", ")})
	}
	return all
}

func passText(p Passing) string {
	if len(p.Thresholds) == 0 {
		return "The mean of an item’s scores reaches " + digits(p.MinOverall) + "."
	}
	var parts []string
	for name, least := range p.Thresholds {
		parts = append(parts, name+" "+digits(least))
	}
	slices.Sort(parts)
	word := "All thresholds hold: "
	if p.Any {
		word = "Any threshold holds: "
	}
	return word + strings.Join(parts, ", ") + "."
}
