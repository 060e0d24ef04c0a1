package shown_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/cli/shown"
	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
)

func ptr[T any](v T) *T { return &v }

func TestTheCorrectedFigureOfAJudgeComesFirst(t *testing.T) {
	t.Parallel()
	of := func(estimator string, labels int64) client.Statistics {
		headline := api.CorrectedEstimate{Value: ptr(0.81), CI: &api.Interval{Lower: ptr(0.72), Upper: ptr(0.88), Level: 0.95}, N: labels, Status: "ok"}
		return client.Statistics{
			Metrics: map[string]api.Estimate{"exact_match": {Value: ptr(0.5), Status: "ok"}, "judge:quality": {Value: headline.Value, CI: headline.CI, N: labels, Status: "ok"}},
			Corrected: map[string]api.CorrectedMean{"judge:quality": {
				Estimator: estimator, Labels: labels, Headline: headline, Judge: api.Estimate{Value: ptr(0.7), N: 200, Status: "uncalibrated", Warnings: []string{"judge opinion, not measured quality"}},
			}},
		}
	}
	var names []string
	all := shown.Estimates(of("ppi", 60))
	for _, e := range all {
		names = append(names, e.Name)
	}
	require.Equal(t, []string{"pass_rate", "overall", "exact_match", "judge:quality, by 60 labels", "└ the judge's own"}, names)
	require.Equal(t, "0.810 [0.720, 0.880]", all[3].Text())
	require.Equal(t, "0.700", all[4].Text(), "what a judge thinks has no interval")
	require.Len(t, shown.Estimates(of("judge", 0)), 4, "without labels there is the judge's opinion alone")
}

func TestADifferenceOfAJudgeSaysWhatItIsWorth(t *testing.T) {
	t.Parallel()
	of := func(estimator string, labels int64, attribution string) []string {
		return shown.Judged(client.Comparison{Comparison: api.Comparison{Metrics: []api.ComparedFigure{{Name: "exact_match"}, {
			Name: "judge:quality", Judge: &api.ComparedJudge{Estimator: estimator, Labels: labels, Attribution: attribution, Raw: api.Estimate{Value: ptr(0.1), Status: "ok"}},
		}}}})
	}
	require.Equal(t, []string{"judge:quality: what people would see, estimated from 60 labels; the judge's own difference is 0.100. A watch has seen the judge give the same verdicts since"}, of("ppi", 60, "system"))
	require.Equal(t, []string{"judge:quality: a difference in the judge's opinion; labels on answers of both runs would correct it"}, of("judge", 0, "unknown"))
	require.Contains(t, of("judge", 0, "judge_or_system")[0], "The judge itself may have made the difference")
}
