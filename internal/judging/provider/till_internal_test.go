package provider

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
)

// TestWhatIsPaidIsFound pays while the till of the purse is about to be dropped: what the
// process writes down before it ends has to include it.
func TestWhatIsPaidIsFound(t *testing.T) {
	t.Parallel()
	s := &Service{}
	s.tills = tills{service: s, all: map[purse]*till{}, closed: true}
	org, p, now := principal.NewOrgID(), Purse{Kind: purseOrganization}, time.Now()
	unwritten := func() (sum int64) {
		for _, one := range s.tills.list() {
			sum += one.used
		}
		return sum
	}

	old := s.tills.of(org, p, now)
	s.tills.drop(old)
	require.Empty(t, s.tills.list())
	s.tills.paid(org, p, now, 5)
	require.EqualValues(t, 5, unwritten(), "not with the one that was dropped")

	s.tills.drop(s.tills.of(org, p, now))
	require.EqualValues(t, 5, unwritten(), "one that has something to write down is not dropped")
}
