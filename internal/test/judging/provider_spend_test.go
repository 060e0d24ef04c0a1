package judging_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/testkit"
)

// replicas are applications on one database.
func replicas(t testing.TB, n int) []*testkit.Kit {
	t.Helper()
	cfg := testkit.Config(t)
	clock := &testkit.Clock{}
	all := make([]*testkit.Kit, n)
	for i := range all {
		all[i] = testkit.NewAt(t, cfg, clock)
	}
	return all
}

// priced makes tokens of the model upper cost a thousandth of a dollar each.
func priced(t testing.TB, us *testkit.Client, more map[string]any) {
	t.Helper()
	patch := map[string]any{"priceOverrides": map[string]any{"upper": map[string]any{"inputPerMillion": 1000, "outputPerMillion": 1000}}}
	for name, v := range more {
		patch[name] = v
	}
	_, err := us.UpdateOrganization(t.Context(), patch)
	require.NoError(t, err)
}

func aKey(t testing.TB, us *testkit.Client, s *simulated.Server, more map[string]any) testkit.ProviderKey {
	t.Helper()
	body := map[string]any{"provider": "openai", "name": "judges", "baseUrl": s.URL, "secret": "sk-abcdefghijklmnopqrst"}
	for name, v := range more {
		body[name] = v
	}
	made, err := us.CreateProviderKey(t.Context(), body)
	require.NoError(t, err)
	return made
}

func TestSpendCapOfManyWorkers(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 4
	s := simulated.Start(t, simulated.Options{Remember: -1})
	kits := replicas(t, workers)
	us := kits[0].Org(t)
	priced(t, us, nil)
	const limit = 5_000_000_000
	key := aKey(t, us, s, map[string]any{"monthlyCapUsd": 5})

	var paid, most, calls atomic.Int64
	var wg sync.WaitGroup
	for _, k := range kits {
		m, err := k.App.Provider.Model(t.Context(), us.Org, provider.ModelConfig{KeyID: key.ID, Model: "upper"})
		require.NoError(t, err)
		for range each {
			wg.Go(func() {
				for n := 0; ; n++ {
					a, err := m.Ask(t.Context(), ask(fmt.Sprint("x", n)))
					if err != nil {
						f := failedWith(t, err, provider.CodeSpendCap)
						require.True(t, f.Stop)
						require.Equal(t, provider.CodeSpendCap, f.StopCode())
						require.Contains(t, f.Message, `the provider key "judges" is reached`)
						require.Contains(t, f.Message, "of US$ 5.0000 are spent this month")
						return
					}
					calls.Add(1)
					paid.Add(int64(*a.CostNanoUSD))
					for was := most.Load(); int64(*a.CostNanoUSD) > was && !most.CompareAndSwap(was, int64(*a.CostNanoUSD)); was = most.Load() {
					}
				}
			})
		}
	}
	wg.Wait()
	require.GreaterOrEqual(t, paid.Load(), int64(limit), "nobody is stopped early")
	require.LessOrEqual(t, paid.Load(), limit+workers*each*most.Load(), "one call for each caller at most")

	for _, k := range kits {
		require.NoError(t, k.App.Provider.SettleSpending(t.Context()))
	}
	list, err := us.ListProviderKeys(t.Context(), "includeTotal=true")
	require.NoError(t, err)
	require.InDelta(t, float64(paid.Load())/1e9, list.ProviderKeys[0].MonthSpentUSD, 1e-9, "every call is counted once")
	conn := kits[0].Runtime(t, us.Org)
	require.Equal(t, "{}", scalar[string](t, conn, "SELECT holds::text FROM model_spends WHERE kind = 'provider_key'"), "nobody holds anything")
	writes := scalar[int64](t, conn, "SELECT version FROM model_spends WHERE kind = 'provider_key'")
	t.Logf("%d calls, %d writes, US$ %.4f of US$ 5, the dearest call US$ %.4f", calls.Load(), writes, float64(paid.Load())/1e9, float64(most.Load())/1e9)
	require.Less(t, writes, calls.Load(), "the database is not asked for each call")
}

func TestSpendCaps(t *testing.T) {
	t.Parallel()
	s := simulated.Start(t, simulated.Options{Remember: -1})

	// spend asks until a cap stops it, and returns what was paid.
	spend := func(t *testing.T, m *provider.Model) (float64, *provider.Failure) {
		t.Helper()
		total := 0.0
		for n := range 10_000 {
			a, err := m.Ask(t.Context(), ask(strconv.Itoa(n)))
			var f *provider.Failure
			if errors.As(err, &f) {
				return total, failedWith(t, err, provider.CodeSpendCap)
			}
			require.NoError(t, err)
			total += float64(*a.CostNanoUSD) / 1e9
		}
		require.Fail(t, "no cap")
		return 0, nil
	}

	t.Run("of the organization, for all its keys, by the month", func(t *testing.T) {
		t.Parallel()
		k := replicas(t, 1)[0]
		us, them := k.Org(t), k.Org(t)
		priced(t, us, map[string]any{"modelSpendCapUsd": 0.1})
		priced(t, them, nil)
		prepare := func(of *testkit.Client, key testkit.ProviderKey) *provider.Model {
			m, err := k.App.Provider.Model(t.Context(), of.Org, provider.ModelConfig{KeyID: key.ID, Model: "upper"})
			require.NoError(t, err)
			return m
		}
		m := prepare(us, aKey(t, us, s, nil))
		paid, f := spend(t, m)
		require.InDelta(t, 0.1, paid, 0.01)
		require.Contains(t, f.Message, "The spend cap of the organization is reached")
		other := prepare(us, aKey(t, us, s, map[string]any{"name": "other"}))
		require.Error(t, askOnce(t, other))
		require.NoError(t, askOnce(t, prepare(them, aKey(t, them, s, nil))), "another organization")

		// A higher cap lets it go on, in the same model.
		_, err := us.UpdateOrganization(t.Context(), map[string]any{"modelSpendCapUsd": 0.2})
		require.NoError(t, err)
		more, _ := spend(t, m)
		require.InDelta(t, 0.1, more, 0.02)
		k.Clock.Advance(32 * 24 * time.Hour)
		more, _ = spend(t, m)
		require.InDelta(t, 0.2, more, 0.01, "the next month")
		_, err = us.UpdateOrganization(t.Context(), map[string]any{"modelSpendCapUsd": nil})
		require.NoError(t, err)
		require.NoError(t, askOnce(t, m))
	})

	t.Run("of anything with a name, in total", func(t *testing.T) {
		t.Parallel()
		k := replicas(t, 1)[0]
		us := k.Org(t)
		priced(t, us, nil)
		limit := uint64(50_000_000)
		tone := provider.Purse{Kind: "judge", ID: "7", Name: `the judge "tone"`, CapNanoUSD: &limit}
		key := aKey(t, us, s, nil)
		m, err := k.App.Provider.Model(t.Context(), us.Org, provider.ModelConfig{KeyID: key.ID, Model: "upper", Purses: []provider.Purse{tone}})
		require.NoError(t, err)
		paid, f := spend(t, m)
		require.InDelta(t, 0.05, paid, 0.01)
		require.Contains(t, f.Message, `The spend cap of the judge "tone" is reached`)
		require.NotContains(t, f.Message, "month")
		spent, err := k.App.Provider.Spent(t.Context(), us.Org, tone)
		require.NoError(t, err)
		require.InDelta(t, paid, float64(spent)/1e9, 1e-9)
		k.Clock.Advance(32 * 24 * time.Hour)
		require.Error(t, askOnce(t, m), "a month later too")
		plain, err := k.App.Provider.Model(t.Context(), us.Org, provider.ModelConfig{KeyID: key.ID, Model: "upper"})
		require.NoError(t, err)
		require.NoError(t, askOnce(t, plain), "who pays from other purses")
	})

	t.Run("nobody is stopped before it is reached", func(t *testing.T) {
		t.Parallel()
		kits := replicas(t, 2)
		us := kits[0].Org(t)
		limit := uint64(1_000_000)
		var paid atomic.Int64
		var early atomic.Bool
		var wg sync.WaitGroup
		const callers, cost = 4, 20_000 // more than an allowance
		work := make([]byte, 1<<18)
		for _, k := range kits {
			run, err := k.App.Provider.Spending(t.Context(), us.Org, 0, provider.Purse{Kind: "run", ID: "1", CapNanoUSD: &limit})
			require.NoError(t, err)
			for range callers {
				wg.Go(func() {
					for run.Before(t.Context()) == nil {
						paid.Add(cost)
						_ = sha256.Sum256(work) // a call, which may end while another caller asks the database
						run.Paid(cost)
					}
					early.CompareAndSwap(false, paid.Load() < int64(limit))
				})
			}
		}
		wg.Wait()
		require.False(t, early.Load())
		require.LessOrEqual(t, paid.Load(), int64(limit)+2*callers*cost)
	})

	t.Run("an allowance that was lost comes back", func(t *testing.T) {
		t.Parallel()
		kits := replicas(t, 2)
		us := kits[0].Org(t)
		limit := uint64(64)
		run := provider.Purse{Kind: "run", ID: "1", Name: "the run", CapNanoUSD: &limit}
		killed, err := kits[0].App.Provider.Spending(t.Context(), us.Org, 0, run)
		require.NoError(t, err)
		require.NoError(t, killed.Before(t.Context()))
		kits[0].App.Provider.Close()
		conn := kits[0].Runtime(t, us.Org)
		held := "SELECT count(*) FROM model_spends, json_each(holds) WHERE kind = 'run'"
		require.Equal(t, 1, scalar[int](t, conn, held))

		alive, err := kits[1].App.Provider.Spending(t.Context(), us.Org, 0, run)
		require.NoError(t, err)
		require.NoError(t, alive.Before(t.Context()))
		require.Equal(t, 2, scalar[int](t, conn, held))
		kits[1].Clock.Advance(2 * time.Minute)
		require.NoError(t, alive.Before(t.Context()))
		require.Equal(t, 1, scalar[int](t, conn, held))
		alive.Paid(64)
		require.Contains(t, failedWith(t, alive.Before(t.Context()), provider.CodeSpendCap).Message, "the run")
		require.NoError(t, alive.Close(t.Context()))
		spent, err := kits[0].App.Provider.Spent(t.Context(), us.Org, run)
		require.NoError(t, err)
		require.EqualValues(t, 64, spent)
	})

	t.Run("what has no price cannot be held against a cap", func(t *testing.T) {
		t.Parallel()
		k := replicas(t, 1)[0]
		us := k.Org(t)
		key := aKey(t, us, s, map[string]any{"monthlyCapUsd": 1})
		_, err := k.App.Provider.Model(t.Context(), us.Org, provider.ModelConfig{KeyID: key.ID, Model: "unheard-of"})
		var u *provider.Unusable
		require.ErrorAs(t, err, &u)
		require.Equal(t, provider.CodePriceMissing, u.Code)
		_, err = us.UpdateProviderKey(t.Context(), key.ID, map[string]any{"monthlyCapUsd": nil})
		require.NoError(t, err)
		_, err = k.App.Provider.Model(t.Context(), us.Org, provider.ModelConfig{KeyID: key.ID, Model: "unheard-of"})
		require.NoError(t, err)
	})

	t.Run("a cap of nothing allows nothing", func(t *testing.T) {
		t.Parallel()
		k := replicas(t, 1)[0]
		us := k.Org(t)
		priced(t, us, nil)
		key := aKey(t, us, s, map[string]any{"monthlyCapUsd": 0})
		require.Zero(t, *key.MonthlyCapUSD)
		m, err := k.App.Provider.Model(t.Context(), us.Org, provider.ModelConfig{KeyID: key.ID, Model: "upper"})
		require.NoError(t, err)
		require.True(t, failedWith(t, askOnce(t, m), provider.CodeSpendCap).Stop)
		_, err = us.UpdateProviderKey(t.Context(), key.ID, map[string]any{"monthlyCapUsd": 1.5})
		require.NoError(t, err)
		require.NoError(t, askOnce(t, m))
		_, err = us.UpdateProviderKey(t.Context(), key.ID, map[string]any{"monthlyCapUsd": -1})
		invalid(t, err, "/monthlyCapUsd", "min")
	})

	t.Run("the end of a caller ends its wait", func(t *testing.T) {
		t.Parallel()
		k := replicas(t, 1)[0]
		us := k.Org(t)
		limit := uint64(1)
		run, err := k.App.Provider.Spending(t.Context(), us.Org, 0, provider.Purse{Kind: "run", ID: "1", CapNanoUSD: &limit})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, run.Before(ctx), context.Canceled)
	})
}
