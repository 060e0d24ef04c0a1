package report_test

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/report"
	"github.com/assayhq/assay/internal/measure/stat"
)

const evil = `</style><script>alert(1)</script>"><img src=x onerror=alert(1)> javascript:alert(1)` + "\u202e"

// aligned is a judge that people have labelled n answers of, every fifth of them
// wrong.
func aligned(t *testing.T, n int) report.Alignment {
	t.Helper()
	var pairs []agreement.Pair
	var points []correction.Point
	var chances []correction.Chance
	var items []correction.Item
	var trials []correction.Trial
	for i := range 4 * n {
		human, judge := float64(i%3/2), float64(i%3/2)
		if i%5 == 0 {
			judge = 1 - judge
		}
		item := correction.Item{Judge: judge, Probability: 0.25}
		if i < n {
			item.Human = &human
			words := map[float64]string{0: "fail", 1: "pass"}
			pairs = append(pairs, agreement.Pair{Item: strconv.Itoa(i), Human: words[human], Judge: words[judge], Probability: 0.25})
			score := 0.1*float64(i%4) + 0.6*judge
			points = append(points, correction.Point{Score: score, Good: human == 1})
			chances = append(chances, correction.Chance{Probability: score, Good: human == 1})
			trials = append(trials, correction.Trial{Confidence: 0.5 + 0.1*float64(i%5), Wrong: i%5 == 0})
		}
		items = append(items, item)
	}
	o := stat.Options{Range: stat.Unit()}
	a := report.Alignment{Name: evil, Key: "quality", Model: evil, Version: 2, LabelKey: evil, Split: "test", Judged: 4 * n, Labelled: n, MinSamples: 30, Outcome: agreement.OutcomeInsufficient}
	var err error
	a.Passes, err = agreement.Align(pairs, agreement.Scale{Labels: []string{"fail", "pass"}, Positive: "pass"}, agreement.AlignmentOptions{})
	require.NoError(t, err)
	a.Corrected, err = correction.Correct(items, o)
	require.NoError(t, err)
	a.PassRate = a.Corrected
	a.Calibration, err = correction.Calibrate(points, stat.Options{})
	require.NoError(t, err)
	a.Route, err = correction.Learn(trials, correction.Grid(), 0.1, 0.9)
	require.NoError(t, err)
	if n > 0 {
		check, err := correction.CheckChances(chances, stat.Options{})
		require.NoError(t, err)
		a.Curve = check.Reliability
		a.Rulings = []report.Ruling{{On: "tpr", Estimate: a.Passes.Rates.TPR, Verdict: agreement.Decide(a.Passes.Rates.TPR, "tpr", 0.9)}}
		a.Disagreements = []report.Disagreement{{Item: "item 17 of run 41", People: evil, Judge: "pass", Reasoning: evil, Input: quoted(t, evil), Output: jsontext.Value(`{"answer": 1}`)}}
	}
	return a
}

func quoted(t *testing.T, text string) jsontext.Value {
	t.Helper()
	v, err := jsontext.AppendQuote(nil, text)
	require.NoError(t, err)
	return v
}

// has requires that a page has a text, without printing the page.
func has(t *testing.T, page, text string) {
	t.Helper()
	require.Contains(t, page, text, text)
}

func alignmentPage(t *testing.T, a report.Alignment) string {
	t.Helper()
	var b, again bytes.Buffer
	require.NoError(t, report.WriteAlignment(&b, a))
	require.NoError(t, report.WriteAlignment(&again, a))
	require.Equal(t, b.String(), again.String(), "the same values give the same bytes")
	for _, never := range []string{"<script", "<img", "ZgotmplZ", "NaN", "Inf%", "\u202e", "href=", "url(", "<no value>"} {
		require.NotContains(t, b.String(), never, never)
	}
	has(t, b.String(), `http-equiv="Content-Security-Policy" content="default-src 'none'`)
	return b.String()
}

func TestThePageOfAnAlignmentShowsWhatIsKnown(t *testing.T) {
	t.Parallel()
	more := 85
	a := aligned(t, 200)
	a.MoreLabels = &more
	page := alignmentPage(t, a)
	for _, want := range []string{
		"About 85 more would probably settle the verdict", "too few labels", "True positive rate", "needs 90%", "Gwet’s AC1", "What a score means", `class="point"`, "As people would give it", "The labels alone",
		"The judge’s own mean", "no interval: judge opinion, not measured quality", "What people need to look at", "item 17 of run 41", "{&#34;answer&#34;: 1}", "how well people agree with each other is not known",
		"chosen in a way that is not known",
	} {
		has(t, page, want)
	}
	cells := regexp.MustCompile(`<td class="tone-(good|bad) heat-\d+" title="[^"]*"><strong>(\d+)</strong>`).FindAllStringSubmatch(page, -1)
	require.Len(t, cells, 4)
	for i, c := range cells {
		require.Equal(t, strconv.Itoa(a.Passes.Confusion[i/2][i%2]), c[2])
		require.Equal(t, i/2 == i%2, c[1] == "good", "what lies on the diagonal agrees")
	}

	a.Outcome, a.MoreLabels, a.Random = agreement.OutcomeAligned, nil, true
	page = alignmentPage(t, a)
	has(t, page, "The judge agrees with people well enough.")
	has(t, page, "a random sample")
	a.Outcome, a.Rulings[0].Outcome, a.Truncated = agreement.OutcomeMisaligned, agreement.OutcomeMisaligned, true
	page = alignmentPage(t, a)
	has(t, page, "The whole interval of true positive rate lies below its threshold.")
	has(t, page, "more results than are compared at once")
}

func TestThePageOfAnAlignmentSaysWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	none := alignmentPage(t, aligned(t, 0))
	has(t, none, "has rated nothing")
	unlabelled := aligned(t, 0)
	unlabelled.Judged = 12
	page := alignmentPage(t, unlabelled)
	has(t, page, "Nothing is known about this judge.")
	has(t, page, "Pass rate, in the judge’s opinion")
	require.NotContains(t, page, "confusion matrix")
	for _, n := range []int{1, 2, 5, 20} {
		alignmentPage(t, aligned(t, n))
	}
}

func TestThePageOfAnAlignmentShowsThePeople(t *testing.T) {
	t.Parallel()
	a := aligned(t, 100)
	value := 0.7
	a.Ceiling = &agreement.Raters{Raters: 3, Shared: 50, Fleiss: stat.Estimate{Value: &value, N: 50, Status: stat.StatusOK}}
	a.Replace = &agreement.Replacement{Reason: "fewer than 30 items"}
	has(t, alignmentPage(t, a), "cannot be said: fewer than 30 items")
	a.Replace = &agreement.Replacement{Winning: &value, May: true}
	has(t, alignmentPage(t, a), "may take the place of one")
	a.Replace.May = false
	page := alignmentPage(t, a)
	has(t, page, "may not replace a person")
	has(t, page, "3 people labelled 50 answers together.")
}
