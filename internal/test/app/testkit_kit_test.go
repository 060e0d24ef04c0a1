package app_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/config"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestTestsShareAnApplication shows what tests share, and that nobody moves a clock that
// others have too.
func TestTestsShareAnApplication(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("ASSAY_TEST_OWN") == "" // or every test has applications of its own
	one, other := testkit.Shared(t), testkit.Shared(t)
	require.Equal(t, shared, one.App == other.App)
	require.NotEqual(t, one.Org(t).Org, other.Org(t).Org)
	require.NotSame(t, one.App, testkit.Working(t).App)
	if shared {
		require.Panics(t, func() { one.Clock.Advance(time.Second) })
		require.Panics(t, func() { one.Clock.Step(time.Second) })
	}
}

func TestKitsShareNothing(t *testing.T) {
	t.Parallel()
	one, other := testkit.Own(t, "two are compared"), testkit.Own(t, "two are compared")
	us := one.Org(t)
	d := us.Dataset(t, testkit.NewDataset{})

	require.NotEqual(t, one.App.Config.Postgres.URL.Reveal(), other.App.Config.Postgres.URL.Reveal())
	require.NotEqual(t, one.App.Config.ClickHouse.URL.Reveal(), other.App.Config.ClickHouse.URL.Reveal())
	require.NotEqual(t, one.App.Config.Temporal.QueuePrefix, other.App.Config.Temporal.QueuePrefix)
	_, err := other.Org(t).GetDataset(t.Context(), d.ID)
	require.Error(t, err)
	_, err = us.GetDataset(context.WithoutCancel(t.Context()), d.ID)
	require.NoError(t, err)
}

// TestConfigIsWhatTheProductAccepts seeds a setting that the product refuses.
func TestConfigIsWhatTheProductAccepts(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	require.NoError(t, config.Validate(&cfg))
	require.Equal(t, 20*time.Second, cfg.Evaluation.Heartbeat, "what a test does not set has its default")

	cfg.Evaluation.Heartbeat = 0
	require.ErrorContains(t, config.Validate(&cfg), "evaluation.heartbeat")
}
