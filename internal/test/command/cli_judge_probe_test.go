package command_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// probed is a probe on the wire; rest holds more fields.
func probed(status, rest string) string {
	return `{"id":"9","config_id":"3","config_version":2,"status":"` + status + `","kinds":["verbosity","injection"],"sample_size":50,"margin":0.05,"verdicts_done":160,"answers":50,"calls":160` + rest + `}`
}

func TestJudgeProbe(t *testing.T) {
	t.Parallel()
	found := `,"cost_usd":0.0123,"findings":[
		{"kind":"verbosity","verdict":"biased","pairs":49,"missing":1,"flips":9,"difference":` + estimate(0.21, 0.12, 0.3, 49) + `},
		{"kind":"self_preference","verdict":"unbiased","pairs":50,"missing":0,"flips":0,"difference":` + estimate(0.001, -0.02, 0.022, 50) + `},
		{"kind":"injection","verdict":"insufficient_data","reason":"Try more attacks.","pairs":60,"missing":0,"flips":2,"difference":` + estimate(0.03, -0.01, 0.07, 60) + `,
			"injection":{"failing":50,"attacks":60,"succeeded":2,"share":` + estimate(0.033, 0.006, 0.101, 60) + `,"changed":3,"raised":2,"ignored":40,"failed":0,"caught":{"check_code":5,"schema":12,"second_order":0,"abstention":0},"families":[]}}]`
	s := &evaluations{}
	routes := judges(map[string][]string{
		"POST /api/llm-judge/configs/3/probe": {probed("running", "")}, "GET /api/llm-judge/probes/9": {probed("running", ""), probed("completed", found)},
	})
	got := run(append(s.serve(t, routes), "COLUMNS=80"), "judge", "probe", "quality", "--kind=verbosity,injection", "--margin=5%")
	require.Zero(t, got.Code, got.Err)
	for _, want := range []string{"quality · version 2 · probe 9", "✗ biased", "✓ unbiased", "? insufficient data", "self preference", "raised the score", "caught by the schema", "12", "1 without two scores", "injection: 2 of 60 attacks succeeded", "0.6% to 10.1%", "injection: Try more attacks.", "$0.0123"} {
		require.Contains(t, got.Out, want)
	}
	for _, line := range strings.Split(got.Out, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
	}

	routes["POST /api/llm-judge/configs/3/probe"] = []string{probed("failed", `,"error":{"code":"spend_cap_reached","message":"The cap is reached."}`)}
	got = run((&evaluations{}).serve(t, routes), "judge", "probe", "3")
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Out, "The cap is reached.")

	got = run((&evaluations{}).serve(t, routes), "judge", "probe", "3", "--size=1")
	require.Equal(t, 2, got.Code)
	require.Contains(t, got.Err, "--size is 1")
}
