package evaluation_test

import (
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestPassRatesAreSlicedByLabels(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	var items []testkit.Item
	for i := range 24 {
		topic, answer := "billing", "right"
		if i%2 == 0 {
			topic, answer = "<b>returns</b>", "wrong"
		}
		// A label that tells items apart, one that few have, and one that is a list.
		labels := map[string]any{"topic": topic, "id": strconv.Itoa(i), "list": []int{i}, "hard": i < 12}
		if i == 0 {
			labels["topic"] = "rare"
		}
		items = append(items, testkit.Item{Input: i, ExpectedOutput: "right", Output: answer, Labels: labels})
	}
	r := ran(t, c, c.Evaluation(t, filled(t, c, items).ID, nil).ID, nil)
	files := c.Artifacts(t, r)

	var all []struct {
		By     string `json:"by"`
		Hidden int    `json:"hidden"`
		Slices []struct {
			Name string        `json:"name"`
			Rate stat.Estimate `json:"rate"`
		} `json:"slices"`
	}
	require.NoError(t, json.Unmarshal(c.Content(t, files["slices.json"]).Body, &all))
	require.Len(t, all, 3)
	require.Equal(t, []string{"hard", "id", "topic"}, []string{all[0].By, all[1].By, all[2].By})
	require.Equal(t, []int{0, 24, 1}, []int{all[0].Hidden, all[1].Hidden, all[2].Hidden})
	require.Equal(t, []string{"<b>returns</b>", "billing"}, []string{all[2].Slices[0].Name, all[2].Slices[1].Name}, "the lowest first")
	require.Equal(t, []float64{0, 1}, []float64{*all[2].Slices[0].Rate.Value, *all[2].Slices[1].Rate.Value})
	require.NotNil(t, all[2].Slices[0].Rate.CI)
	page := string(c.Content(t, files["report.html"]).Body)
	require.Contains(t, page, "pass rate by <code>topic</code>")
	require.Contains(t, page, "&lt;b&gt;returns&lt;/b&gt;")
}
