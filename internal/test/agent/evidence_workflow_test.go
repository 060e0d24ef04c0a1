package agent_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/platform/temporal/temporaltest"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestHistories(t *testing.T) {
	t.Parallel()
	temporaltest.Histories(t, "evidence", []any{evidence.NormalizationWorkflow, evidence.FollowWorkflow}, map[string]temporaltest.Scene{
		"normalization": func(t *testing.T) (temporal.Config, string) {
			k := testkit.Working(t)
			us := k.Org(t)
			n := normalize(t, us, "all")
			return k.App.Config.Temporal, fmt.Sprintf("%s:%s:%d", evidence.KindNormalization, us.Org, n.ID)
		},
		"follow_after_another": func(t *testing.T) (temporal.Config, string) {
			k := testkit.Working(t)
			us := k.Org(t)
			past := evidence.Follow{Org: us.Org, Period: time.Now().UnixNano()/int64(10*time.Minute) - 2}
			db := k.Owner(t, us.Org)
			_, err := db.Exec(t.Context(), "INSERT INTO evidence_cursors (org_id, at_ms, trace_id, holder, until) VALUES ($1, 0, decode(repeat('00', 16), 'hex'), 0, now() + interval '1 second')", us.Org)
			require.NoError(t, err)
			engine, err := temporal.Open(k.App.Config.Temporal, nil)
			require.NoError(t, err)
			t.Cleanup(engine.Close)
			require.NoError(t, engine.Start(t.Context(), evidence.Queue, evidence.FollowID(past), evidence.FollowWorkflow, past))
			return k.App.Config.Temporal, evidence.FollowID(past)
		},
	})
}
