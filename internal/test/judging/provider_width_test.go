package judging_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestOneKeyHoldsNoOther(t *testing.T) {
	t.Parallel()
	s := simulated.Start(t, simulated.Options{Faults: simulated.Faults{Rules: []simulated.Rule{{Fault: simulated.FaultRateLimit, Model: "echo", RetryAfter: time.Hour}}}})
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	stormy, calm := modelAt(t, k, us, s, "openai", "echo"), modelAt(t, k, them, s, "openai", "upper")
	f := failedWith(t, askOnce(t, stormy), "rate_limited")
	require.Equal(t, time.Hour, f.Wait)

	// Everybody else of that key is held now, and so is a Pace that stops.
	ctx, cancel := context.WithCancel(t.Context())
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := stormy.Ask(ctx, ask("held"))
		require.ErrorIs(t, err, context.Canceled)
	})
	wg.Go(func() {
		_, _, err := provider.NewPace(time.Now, stop).Ask(t.Context(), func(ctx context.Context) (provider.Answer, error) { return stormy.Ask(ctx, ask("held too")) }, func(*provider.Failure) {})
		require.ErrorIs(t, err, provider.ErrStopped)
	})
	for range 20 {
		require.NoError(t, askOnce(t, calm), "the key of another organization")
	}
	cancel()
	close(stop)
	wg.Wait()
	require.EqualValues(t, 21, s.Calls().Total, "those who were held called nobody")
}

func askOnce(t testing.TB, m *provider.Model) error {
	t.Helper()
	_, err := m.Ask(t.Context(), ask("x"))
	return err
}
