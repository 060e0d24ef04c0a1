package trace

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy"
)

// TestSettingsTakeBoundedMemory has many organizations with the largest rules
// that they may have.
//
//nolint:paralleltest // it measures the memory of the process
func TestSettingsTakeBoundedMemory(t *testing.T) {
	var rules []tenancy.RedactionRule
	for i := range 5 {
		rules = append(rules, tenancy.RedactionRule{Name: "x", Pattern: fmt.Sprintf(`[^ab]{0,240}[yz]%d`, i)})
	}
	c := settingsCache{days: 90, now: time.Now, read: func(context.Context, principal.OrgID) (tenancy.Organization, error) {
		return tenancy.Organization{Settings: tenancy.Settings{RedactionRules: rules}}, nil
	}}
	held := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	for range 500 {
		_, err := c.get(t.Context(), principal.NewOrgID())
		require.NoError(t, err)
		require.LessOrEqual(t, c.weight, maxWeight)
	}
	require.Less(t, held()-before, int64(100<<20))
	runtime.KeepAlive(&c)

	rules[0].Pattern = `[^ab]{0,1000}[yz]`
	_, err := c.get(t.Context(), principal.NewOrgID())
	require.ErrorIs(t, err, ErrRules, "nothing is stored without rules that cannot be used")
}
