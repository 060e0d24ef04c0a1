package requirement_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/requirement"
)

func TestAFigureThatNoRunHas(t *testing.T) {
	t.Parallel()
	all := []string{"pass_rate", "overall", "exact_match", "latency_ms", "bleu"}
	require.NoError(t, parse(t, "exact_match>=0.5").CheckFigure(all))
	require.EqualError(t, parse(t, "passrate>=0.5").CheckFigure(all), `"passrate>=0.5": the evaluation has no metric "passrate": did you mean pass_rate?`)
	require.EqualError(t, parse(t, "charm:better").CheckFigure([]string{"bleu"}), `"charm:better": the evaluation has no metric "charm": use pass_rate, overall or bleu`)
}

func TestBaselineByWhatItMeasured(t *testing.T) {
	t.Parallel()
	for text, want := range map[requirement.Baseline][2]string{
		"branch:main": {"branch", "main"}, "branch:feature/a:b": {"branch", "feature/a:b"}, "tag:v1": {"tag", "v1"}, "release:rel-1": {"release", "rel-1"},
		"passed": {}, "branch:": {}, "commit:1": {}, ":x": {}, "": {},
	} {
		kind, name := text.Measured()
		require.Equal(t, want, [2]string{kind, name}, text)
	}
}
