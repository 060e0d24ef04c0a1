package evaluation_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/evaluation/artifact"
	"github.com/assayhq/assay/internal/test/testkit"
)

// hostile are texts that try to be more than text.
var hostile = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`</style><script src="https://evil.example/x.js"></script>`,
	`<svg onload=alert(1)><a href="javascript:alert(1)">x</a>`,
	`{{.Title}} </p></section></main><iframe srcdoc="<script>1</script>">`,
	"=HYPERLINK(\"https://evil.example\",\"x\")",
	"+1+cmd|' /C calc'!A0",
	"@SUM(1)", "-2+3", "\t=1", " =1", "＝1",
	"\u202etxet desrever\u202c and \u0007",
	strings.Repeat("A long text without end ", 40_000),
	strings.Repeat("x", 300_000),
}

var (
	tagForm  = regexp.MustCompile(`<[/!]?([a-zA-Z0-9-]*)([^<>]*)>?`)
	elements = strings.Fields("doctype html head meta title style body main header section article div p span small strong code bdi h1 h2 h3 h4 dl dt dd ul ol li i br figure figcaption svg rect circle line")
	outward  = regexp.MustCompile(`(?i)[\s"'/](on[a-z]+|style|src|srcset|srcdoc|href|xlink:href|action|data)\s*=`)
)

// harmless fails if a page has anything that could run, load or leave.
func harmless(t *testing.T, page string) {
	t.Helper()
	for _, tag := range tagForm.FindAllStringSubmatch(page, -1) {
		require.Contains(t, elements, tag[1], "%.100s", tag[0])
		require.False(t, outward.MatchString(tag[2]), "%.100s", tag[0])
	}
	require.NotContains(t, page, "@import")
	require.NotContains(t, page, "url(")
}

func TestArtifactsOfARunWithHostileTexts(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	var items []testkit.Item
	for _, text := range hostile {
		items = append(items, testkit.Item{Input: text, ExpectedOutput: "right " + text, Output: text, Labels: map[string]any{"topic": text[:min(40, len(text))]}})
	}
	d := filled(t, c, items)
	e := c.Evaluation(t, d.ID, map[string]any{"name": hostile[0] + hostile[1], "metrics": []string{"exact_match", "similarity"}})
	first, err := c.StartRun(t.Context(), e.ID, map[string]any{"clusterKey": "topic"})
	require.NoError(t, err)
	first = c.Ended(t, first)
	r, err := c.StartRun(t.Context(), e.ID, map[string]any{"clusterKey": "topic", "baselineRunId": first.RunID, "releaseId": "rel-2026.03"})
	require.NoError(t, err)
	r = c.Ended(t, r)
	files := c.Artifacts(t, r)
	require.Len(t, files, 7)

	for name, a := range files {
		res := c.Content(t, a)
		sum := sha256.Sum256(res.Body)
		require.Equal(t, a.Sha256, hex.EncodeToString(sum[:]), name)
		require.Len(t, res.Body, int(a.SizeBytes), name)
		require.Equal(t, a.ContentType, res.Header.Get("Content-Type"))
		require.Contains(t, res.Header.Get("Content-Disposition"), "attachment")
		csp := res.Header.Get("Content-Security-Policy")
		require.Contains(t, csp, "default-src 'none'")
		require.Contains(t, csp, "sandbox")
		require.NotContains(t, csp, "script-src")
		require.NotContains(t, csp, "allow-")
		require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	}

	t.Run("the report shows texts as texts, and little of long ones", func(t *testing.T) {
		t.Parallel()
		page := string(c.Content(t, files["report.html"]).Body)
		harmless(t, page)
		require.Less(t, len(page), 150_000)
		require.Contains(t, page, "&lt;script&gt;alert(1)")
		require.NotContains(t, page, "\u202e", "a text cannot turn the page round")
		require.Contains(t, page, "Since the baseline")
		require.NotContains(t, page, "%!")
		require.NotContains(t, page, "NaN")
		require.NotContains(t, page, "ZgotmplZ")
	})

	t.Run("the table has no formulas", func(t *testing.T) {
		t.Parallel()
		rows, err := csv.NewReader(bytes.NewReader(c.Content(t, files["results.csv"]).Body)).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 1+len(hostile))
		output := len(rows[0]) - 1
		require.Equal(t, "output", rows[0][output])
		guarded := 0
		for _, row := range rows[1:] {
			for i, cell := range row {
				// Numbers of ours may begin with a sign.
				if rows[0][i] == "input" || rows[0][i] == "output" || rows[0][i] == "expected_output" || rows[0][i] == "cluster" {
					require.NotContains(t, "=+-@\t\r＝", strings.TrimLeft(cell, " ")[:1], "%.40q", cell)
				}
			}
			if strings.HasPrefix(row[output], "'") {
				guarded++
				require.Contains(t, hostile, row[output][1:], "the text itself is kept")
			}
		}
		require.Equal(t, 7, guarded)
	})

	t.Run("the table for programs has the texts as they are", func(t *testing.T) {
		t.Parallel()
		_, rows := typed(t, c.Content(t, files["results.parquet"]).Body)
		require.Len(t, rows, len(hostile))
		for _, row := range rows {
			text, ok := document(t, row["output"]).(string)
			require.True(t, ok)
			require.Contains(t, hostile, text)
			require.Equal(t, []any{text, "right " + text}, []any{document(t, row["input"]), document(t, row["expected_output"])})
			require.Equal(t, text[:min(40, len(text))], row["cluster"])
		}
	})

	t.Run("lines are the results as the interface gives them", func(t *testing.T) {
		t.Parallel()
		page, err := c.ListEvaluationRunResults(t.Context(), e.ID, r.RunID, "includeTotal=true&limit=100")
		require.NoError(t, err)
		lines := bytes.Split(bytes.TrimSpace(c.Content(t, files["results.jsonl"]).Body), []byte("\n"))
		require.Len(t, lines, len(hostile))
		for i, line := range lines {
			var one testkit.Result
			require.NoError(t, json.Unmarshal(line, &one))
			require.Equal(t, page.Results[i], one)
		}
	})

	t.Run("a small comparison is in the answer itself", func(t *testing.T) {
		t.Parallel()
		a, err := c.GetEvaluationArtifact(t.Context(), e.ID, files["comparison.json"].ArtifactID)
		require.NoError(t, err)
		content, _ := a.Content.(map[string]any)
		require.Equal(t, first.RunID, content["baseline_run_id"])
		a, err = c.GetEvaluationArtifact(t.Context(), e.ID, files["results.jsonl"].ArtifactID)
		require.NoError(t, err)
		require.Nil(t, a.Content)
	})

	t.Run("filters", func(t *testing.T) {
		t.Parallel()
		all, err := c.ListEvaluationArtifacts(t.Context(), e.ID, "includeTotal=true&kind=results&limit=1&runId="+r.RunID)
		require.NoError(t, err)
		require.Len(t, all.Artifacts, 1)
		require.EqualValues(t, 3, api.Value(all.Total))
		all, err = c.ListEvaluationArtifacts(t.Context(), e.ID, "includeTotal=true&runId=nothing")
		require.NoError(t, err)
		require.Empty(t, all.Artifacts)
	})

	t.Run("another organization's artifacts are not found", func(t *testing.T) {
		t.Parallel()
		stranger := k.Org(t)
		theirs := stranger.Evaluation(t, "1", nil)
		a := files["report.html"]
		_, err := stranger.GetEvaluationArtifact(t.Context(), e.ID, a.ArtifactID)
		require.ErrorIs(t, err, evaluation.ErrNotFound)
		_, err = stranger.GetEvaluationArtifact(t.Context(), theirs.ID, a.ArtifactID)
		require.ErrorIs(t, err, artifact.ErrNotFound)
		for _, path := range []string{a.DownloadPath, strings.Replace(a.DownloadPath, "/"+e.ID+"/", "/"+theirs.ID+"/", 1)} {
			res, err := stranger.Send(t.Context(), http.MethodGet, path, nil)
			require.NoError(t, err)
			require.Equal(t, http.StatusNotFound, res.Status)
		}
		other := c.Evaluation(t, d.ID, nil)
		_, err = c.GetEvaluationArtifact(t.Context(), other.ID, a.ArtifactID)
		require.ErrorIs(t, err, artifact.ErrNotFound)
	})
}

func TestARunThatNeverBeganLeavesAReport(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	e := c.Evaluation(t, "12345", nil)
	r, err := c.StartRun(t.Context(), e.ID, nil)
	require.NoError(t, err)
	require.Equal(t, "failed", c.Ended(t, r).Status)
	files := c.Artifacts(t, r)
	require.Len(t, files, 2)
	page := string(c.Content(t, files["report.html"]).Body)
	require.Contains(t, page, "The dataset 12345 does not exist.")
	require.NotContains(t, page, "NaN")
}
