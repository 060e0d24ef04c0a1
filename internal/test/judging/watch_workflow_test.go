package judging_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/watch"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/platform/temporal/temporaltest"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestWatchHistories(t *testing.T) {
	t.Parallel()
	temporaltest.Histories(t, "watch", watch.LookWorkflow, map[string]temporaltest.Scene{
		"watch_until_stopped": func(t *testing.T) (temporal.Config, string) {
			ctx := t.Context()
			k := testkit.Working(t)
			c := k.Org(t)
			j, err := c.CreateJudgeConfig(ctx, map[string]any{"key": "quality", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
			require.NoError(t, err)
			w, err := c.CreateJudgeWatch(ctx, j.ID, map[string]any{"datasetId": answers(t, c, 10).ID})
			require.NoError(t, err)
			until(t, c, w.ID, func(w testkit.JudgeWatch) bool { return w.Status == "watching" })
			_, err = c.Call(ctx, http.MethodPost, "/api/llm-judge/watches/"+w.ID+"/check", nil, nil)
			require.NoError(t, err)
			until(t, c, w.ID, func(w testkit.JudgeWatch) bool { return w.Checks == 1 })
			_, err = c.Call(ctx, http.MethodPost, "/api/llm-judge/watches/"+w.ID+"/stop", nil, nil)
			require.NoError(t, err)
			id, err := strconv.ParseInt(w.ID, 10, 64)
			require.NoError(t, err)
			return k.App.Config.Temporal, watch.Ticket{Org: c.Org, Watch: id}.WorkflowID()
		},
	})
}
