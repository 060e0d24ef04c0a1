package report_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/consensus"
	"github.com/assayhq/assay/internal/measure/report"
	"github.com/assayhq/assay/internal/measure/stat"
)

var update = flag.Bool("update", false, "write the pages that the tests compare with")

// annotated is a task that four people and a judge labelled; one of them is
// careless.
func annotated(t *testing.T, items int, name string) report.Task {
	t.Helper()
	scale := agreement.Scale{Labels: []string{"good", "fair", "bad"}, Ordered: true}
	people := []string{"Ada", "Ben", "Chloe", "Dan"}
	w := consensus.Work{Truth: consensus.Truth{}, Watched: []string{"judge:quality"}}
	said := map[string][]report.Said{}
	var ratings []agreement.Rating
	for i := range items {
		truth, item := i*7%11%3, fmt.Sprintf("item %03d", i)
		for j, who := range append(slices.Clone(people), "judge:quality") {
			label := truth
			if (i*7+i/9+5*j)%[]int{17, 13, 11, 3, 6}[j] == 0 {
				label = (truth + 1 + (i+j)%2) % 3
			}
			v := consensus.Vote{Item: item, Annotator: who, Label: scale.Labels[label], Millis: float64(4000 + 900*j + i*37%800)}
			w.Votes = append(w.Votes, v)
			if j < 4 {
				ratings = append(ratings, agreement.Rating{Item: item, Rater: who, Label: v.Label})
				said[item] = append(said[item], report.Said{Annotator: who, Label: v.Label})
			}
			if i%4 == 0 && j < 2 {
				again := v
				if i%12 == 0 && j == 1 {
					again.Label = scale.Labels[(label+1)%3]
				}
				w.Repeats = append(w.Repeats, again)
			}
		}
		if i%5 == 0 {
			w.Truth[item] = scale.Labels[truth]
		}
	}
	task := report.Task{Name: name, MeasuredAt: time.Date(2026, 11, 17, 9, 30, 0, 0, time.UTC), Required: .8}
	var err error
	task.Agreement, err = agreement.Among(ratings, scale, stat.SourceHuman, stat.Options{Replicates: 400})
	require.NoError(t, err)
	task.Overlap, err = agreement.Plan(task.Agreement.Overall.Alpha, .02)
	require.NoError(t, err)
	task.Consensus, err = consensus.Fit(w.Votes, scale, consensus.Options{Truth: w.Truth, Watched: w.Watched})
	require.NoError(t, err)
	task.Quality, err = consensus.Grade(w, scale, consensus.QualityOptions{Options: stat.Options{Replicates: 400}})
	require.NoError(t, err)
	unseen, err := consensus.Audit(items, items/4, items/60, 0)
	require.NoError(t, err)
	task.Unseen = &unseen
	for _, it := range task.Consensus.Items {
		var labels []string
		for _, s := range said[it.Item] {
			labels = append(labels, s.Label)
		}
		r, err := consensus.Route(consensus.Case{Organization: "acme", Task: "7", Consensus: it, Said: labels}, scale, consensus.Rules{})
		require.NoError(t, err)
		if !r.Adjudicate() {
			continue
		}
		task.Undecided++
		task.Hardest = append(task.Hardest, report.HardItem{
			Consensus: it, Reasons: r.Reasons, Said: said[it.Item], Input: quoted(t, "How do I return the shoes of order "+it.Item+"?"), Output: jsontext.Value(`{"answer": "Within 30 days, free of charge."}`),
		})
	}
	slices.SortStableFunc(task.Hardest, func(a, b report.HardItem) int {
		if *a.Consensus.Entropy > *b.Consensus.Entropy {
			return -1
		}
		return 1
	})
	if len(task.Hardest) > 4 {
		task.Hidden, task.Hardest = len(task.Hardest)-4, task.Hardest[:4]
	}
	return task
}

func taskPage(t *testing.T, task report.Task) string {
	t.Helper()
	var b, again bytes.Buffer
	require.NoError(t, report.WriteTask(&b, task))
	require.NoError(t, report.WriteTask(&again, task))
	require.Equal(t, b.String(), again.String(), "the same values give the same bytes")
	for _, never := range []string{"<script", "<img", "ZgotmplZ", "NaN", "Inf%", "\u202e", "href=", "url(", "<no value>"} {
		require.NotContains(t, b.String(), never, never)
	}
	has(t, b.String(), `http-equiv="Content-Security-Policy" content="default-src 'none'`)
	return b.String()
}

// The page of a task is the one that somebody looked at.
func TestThePageOfATask(t *testing.T) {
	t.Parallel()
	page := taskPage(t, annotated(t, 120, "Quality of answers about returns"))
	const golden = "testdata/task.html"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(page), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err, "run the test with -update and look at what it wrote")
	require.Equal(t, string(want), page, "the page differs from %s: run the test with -update and look at what it wrote", golden)
	for _, text := range []string{"Quality of answers about returns", "5 annotators", "120 items", "Who agrees with whom", "judge:quality", "watched", "Dawid–Skene, smoothed", "standard error of alpha", "Errors that nobody sees", "further items wait for a person"} {
		has(t, page, text)
	}
}

func TestThePageOfATaskSaysWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	page := taskPage(t, report.Task{Name: "New"})
	has(t, page, "Nobody has labelled anything.")
	for _, n := range []int{1, 2, 9, 21} {
		taskPage(t, annotated(t, n, "Few"))
	}
	task := annotated(t, 30, "Swapped")
	task.Consensus.Status = stat.StatusNotIdentified
	has(t, taskPage(t, task), "nobody can tell who is right")
	task = annotated(t, 30, "Alone")
	task.Agreement = agreement.Together{}
	has(t, taskPage(t, task), "Each item was labelled once")
}

// What people write is text, wherever it appears.
func TestThePageOfATaskKeepsTextText(t *testing.T) {
	t.Parallel()
	task := annotated(t, 60, evil)
	task.Consensus.Labels = []string{evil, evil, evil}
	for i := range task.Hardest {
		task.Hardest[i].Consensus.Item, task.Hardest[i].Consensus.Label = evil, evil
		task.Hardest[i].Said = []report.Said{{Annotator: evil, Label: evil}}
		task.Hardest[i].Input = quoted(t, evil)
	}
	for i := range task.Quality {
		task.Quality[i].Annotator, task.Consensus.Annotators[i].Annotator = evil, evil
	}
	task.Agreement.Labels[0].Label = evil
	taskPage(t, task)
}
