package testkit_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/config"
	"github.com/assayhq/assay/internal/testkit"
)

// TestAKitIsQuick keeps whole-system tests as cheap as unit tests. The aim is a
// median of 100 ms. The limit is for the quicker quarter: a busy machine slows
// some kits, a slow kit slows all.
//
//nolint:paralleltest // it measures
func TestAKitIsQuick(t *testing.T) {
	testkit.New(t) // makes the template
	var took []time.Duration
	for range 12 {
		start := time.Now()
		k := testkit.New(t)
		took = append(took, time.Since(start))
		// What a test does with its kit; the next one is made meanwhile.
		us := k.Org(t)
		for range 20 {
			us.Dataset(t, testkit.Dataset{})
		}
	}
	slices.Sort(took)
	t.Logf("a kit is ready in %v, the quicker quarter in %v", took[len(took)/2], took[len(took)/4])
	require.Less(t, took[len(took)/4], quick)
}

func TestKitsShareNothing(t *testing.T) {
	t.Parallel()
	one, other := testkit.New(t), testkit.New(t)
	us := one.Org(t)
	d := us.Dataset(t, testkit.Dataset{})

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
