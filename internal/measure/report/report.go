package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/stat"
)

//go:embed page
var pageFiles embed.FS

// page is the report's template. Everything that tenants wrote reaches it as
// plain text and is escaped there; it has no script and refers to nothing
// outside itself.
var page = template.Must(template.ParseFS(pageFiles, "page/*"))

// pageView is what the page shows, in words and in per cent of drawings.
type pageView struct {
	Title, Status, Tone string
	Meta                []string
	Notice              string
	Dials               []dialView
	Outcomes            []segmentView
	Facts               []factView
	Resolution          []string
	Change              *changeView
	Metrics             []metricView
	Spreads             []spreadView
	Slices              []slicesView
	Worst               []itemView
	WorstNote           string
	Errors              []errorView
	Method              []factView
}

type factView struct{ Label, Value, Note string }

type dialView struct {
	Label, Value, Basis, Missing string
	Bar                          barView
	Low, High                    string
}

type segmentView struct {
	Label, Count, Share, Tone string
	X, Width                  float64
}

type metricView struct {
	Name, Summary, Direction, Value, Basis, Missing, Status string
	// Corrected says what people made of a judge's mean.
	Corrected string
	Bar       barView
	Low, High string
}

type errorView struct {
	Code, Count, Share, Example string
	Width                       float64
}

type slicesView struct {
	By, Note string
	Rows     []sliceView
}

type sliceView struct {
	Name, Value, Shrunken, Basis string
	Bar                          barView
}

type itemView struct {
	ID, Epoch, Status, Overall, Tone string
	Input, Expected, Output          excerpt
	Scores                           []itemScoreView
}

type itemScoreView struct{ Metric, Value, Text, Tone string }

// Write writes the report of a run: one file that needs nothing else. c is nil if
// the run has no baseline. rows returns the scores of a metric, for its
// quantiles; without it, quantiles are left out.
func Write(w io.Writer, r Run, f *Findings, c *Comparison, rows func(metric string) ([]stat.Observation, error)) error {
	o := &r.Outcome
	v := pageView{Title: r.Name, Status: r.Status, Tone: tones[r.Status], Meta: metaOf(r), Notice: r.Problem, Dials: dialsOf(o), Outcomes: outcomesOf(o), Facts: factsOf(r, f)}
	if r.Problem == "" && r.Status == statusCancelled {
		v.Notice = "The run was cancelled. Its figures are those of the items that came first in the random order, and nothing is decided by them."
	}
	v.Resolution = resolutionOf(o)
	for _, m := range r.Metrics {
		if e, ok := o.Statistics.Metrics[m.Name]; ok {
			one := metricOf(m, e)
			if c, ok := o.Statistics.Corrected[m.Name]; ok {
				one.Corrected = correctedText(scaleOf(m), c)
			}
			v.Metrics = append(v.Metrics, one)
		}
	}
	for _, one := range o.Statistics.Repeated {
		k := strconv.Itoa(one.K)
		v.Metrics = append(v.Metrics,
			metricOf(trials("pass@"+k, "At least one of "+k+" trials of an item passes."), one.Any),
			metricOf(trials("pass^"+k, "All of "+k+" trials of an item pass."), one.All))
	}
	var err error
	if v.Spreads, err = spreadsOf(f, rows); err != nil {
		return err
	}
	if v.Slices, err = slicesOf(f); err != nil {
		return err
	}
	if c != nil {
		v.Change = changeOf(f, c)
	}
	v.Worst, v.WorstNote = worstOf(r, f)
	v.Errors = errorsOf(f, o)
	v.Method = methodOf(r, f)
	return page.ExecuteTemplate(w, "report.html", v)
}

const statusCancelled = "cancelled"

var tones = map[string]string{"completed": "good", "failed": "bad", statusCancelled: "warn"}

func metaOf(r Run) []string {
	meta := []string{fmt.Sprintf("Run %d", r.ID), moment(r.StartedAt)}
	if d := r.Data; d != nil {
		meta = append(meta, fmt.Sprintf("dataset %d, version %d", d.Dataset, d.Version))
	}
	meta = append(meta, r.target())
	if r.Resumes != 0 {
		meta = append(meta, fmt.Sprintf("resumes run %d and keeps its answers", r.Resumes))
	}
	if r.Environment != "" {
		meta = append(meta, r.Environment)
	}
	if r.ReleaseID != "" {
		meta = append(meta, "release "+shorten(r.ReleaseID, 60).Text)
	}
	return meta
}

// trials describes a chance of several trials.
func trials(name, summary string) Metric {
	return Metric{Definition: metric.Definition{Name: name, Summary: summary, Kind: metric.Binary, Better: metric.Higher}, Range: stat.Unit()}
}

func dialsOf(o *Outcome) []dialView {
	rate, whole := scale{percent: true}, scale{}
	dial := func(label string, s scale, e stat.Estimate, low, high string) dialView {
		d := dialView{Label: label, Value: "—", Basis: s.basis(e), Missing: s.missing(e), Bar: barOf(e, 0, 1), Low: low, High: high}
		if e.Value != nil {
			d.Value = s.text(*e.Value)
		}
		return d
	}
	return []dialView{
		dial("Pass rate", rate, o.Statistics.PassRate, "0%", "100%"),
		dial("Overall score", whole, o.Statistics.Overall, "0", "1"),
	}
}

func outcomesOf(o *Outcome) (all []segmentView) {
	total := o.Items + o.Skipped
	if total == 0 {
		return nil
	}
	x := 0.0
	for _, part := range []struct {
		label, tone string
		n           int
	}{{"passed", "good", o.Passed}, {"failed", "bad", o.Failed - o.Errored}, {"errored", "warn", o.Errored}, {"skipped", "mute", o.Skipped}} {
		if part.n == 0 {
			continue
		}
		share := 100 * float64(part.n) / float64(total)
		all = append(all, segmentView{Label: part.label, Count: grouped(part.n), Share: decimals(share, 1) + "%", Tone: part.tone, X: round(x), Width: round(share)})
		x += share
	}
	return all
}

func factsOf(r Run, f *Findings) []factView {
	o := &r.Outcome
	facts := []factView{{Label: "Results", Value: grouped(o.Items), Note: "one for each item"}}
	if o.Skipped > 0 {
		facts[0].Note = grouped(o.Skipped) + " more were skipped and do not count"
	}
	if n := r.Repetitions; n > 1 && r.Data != nil {
		facts[0].Note = fmt.Sprintf("%s items, %d times each", grouped(r.Data.Items), n)
	}
	cost := factView{Label: "Cost", Value: usd(o.CostNanoUSD), Note: fmt.Sprintf("known for %s of %s results", grouped(f.priced), grouped(f.results))}
	if f.priced == 0 {
		cost.Value, cost.Note = "—", "no result has a known cost"
	}
	facts = append(facts, cost)
	duration := factView{Label: "Duration", Value: "—", Note: "the run has no end"}
	if r.Completed != nil {
		duration.Value, duration.Note = took(r.Completed.Sub(r.StartedAt)), "from start to end, waiting included"
	}
	facts = append(facts, duration)
	tokens := factView{Label: "Tokens", Value: "—", Note: "none were counted: " + r.target()}
	if o.InputTokens+o.OutputTokens > 0 {
		tokens.Value, tokens.Note = grouped(o.InputTokens+o.OutputTokens), grouped(o.InputTokens)+" in, "+grouped(o.OutputTokens)+" out"
	}
	if o.Calls > 0 {
		tokens.Note += "; " + grouped(o.Calls) + " calls"
	}
	return append(facts, tokens)
}

// resolutionOf says what the run can show, in a headline and the rest.
func resolutionOf(o *Outcome) []string {
	if r := o.Statistics.Resolution; r != nil {
		first, rest, found := strings.Cut(strings.TrimSuffix(r.Sentence, "."), "; ")
		if !found {
			return []string{first + "."}
		}
		return []string{first + ".", strings.ToUpper(rest[:1]) + rest[1:] + "."}
	}
	return []string{"What differences this run can show is not known.", "Reason: " + why(o.Statistics.Overall) + "."}
}
