package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSlices(t *testing.T) {
	t.Parallel()
	const artifacts = "/api/evaluations/7/artifacts"
	serve := func(t *testing.T, slices string) []string {
		t.Helper()
		return append((&evaluations{}).serve(t, map[string][]string{
			"GET " + run42:                    {wireRun("42", "completed", "")},
			"GET " + artifacts:                {`{"artifacts":[{"name":"slices.json","download_path":"` + artifacts + `/1/content"}]}`},
			"GET " + artifacts + "/1/content": {slices},
		}), "COLUMNS=80")
	}
	const slices = `[{"by":"hard","hidden":0,"slices":[{"name":"true","rate":{"value":0.5,"n":12,"ci":{"lower":0.25,"upper":0.75,"level":0.95}}}]},
		{"by":"topic","hidden":3,"slices":[{"name":"returns\u001b","rate":{"value":0,"n":11,"ci":{"lower":0,"upper":0.285,"level":0.95}}},{"name":"billing","shrunken":0.98,"rate":{"value":1,"n":12,"ci":{"lower":0.735,"upper":1,"level":0.95}}}]}]`

	got := run(serve(t, slices), "runs", "slices", "7", "42", "--by=topic")
	require.Zero(t, got.Code, got.Err)
	require.Regexp(t, `(?m)^VALUE +LABEL +PASSED +95% INTERVAL +SHRUNKEN +N$`, got.Out)
	require.Regexp(t, `(?m)^returns\S* +topic +0\.0% +0\.0% to 28\.5% +\S+ +11$`, got.Out)
	require.Regexp(t, `(?m)^billing +topic +100\.0% +73\.5% to 100\.0% +98\.0% +12$`, got.Out)
	require.Contains(t, got.Out, "topic: 3 slices with fewer than ten results are left out.")
	require.NotContains(t, got.Out, "hard")
	require.NotContains(t, got.Out, "\x1b")

	require.Contains(t, run(serve(t, slices), "runs", "slices", "7", "42").Out, "hard")
	got = run(serve(t, slices), "runs", "slices", "7", "42", "--by=topics")
	require.Equal(t, 2, got.Code)
	require.Contains(t, got.Err, `the run has no slices by "topics": its labels are hard, topic`)
	require.Contains(t, run(serve(t, "[]"), "runs", "slices", "7", "42").Out, "No label of the items has two values or more")
}
