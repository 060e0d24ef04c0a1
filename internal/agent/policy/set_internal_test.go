package policy

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/principal"
)

// TestCache shows that a set is compiled once for each revision, and that the sets of
// organizations that did not ask for long make room for others.
func TestCache(t *testing.T) {
	t.Parallel()
	c := newSetCache(30_000)
	sources := []engine.Source{{Key: "p", Version: 1, Mode: engine.Enforce, Text: "permit (principal, action, resource);" + strings.Repeat(" ", 8000)}}
	compile := func(org principal.OrgID, revision int64) *compiled {
		set, err := c.compile(org, revision, sources)
		require.NoError(t, err)
		return set
	}
	one, two, three := principal.OrgID(uuid.New()), principal.OrgID(uuid.New()), principal.OrgID(uuid.New())

	first := compile(one, 1)
	require.Same(t, first, compile(one, 1))
	require.Same(t, first, c.get(one))
	second := compile(one, 2)
	require.NotSame(t, first, second)
	compile(one, 1)
	require.Same(t, second, c.get(one), "what is compiled late does not bring back what is old")

	compile(two, 1)
	compile(three, 1)
	require.NotNil(t, c.get(two))
	compile(principal.OrgID(uuid.New()), 1)
	require.Nil(t, c.get(one), "the one that was not used for longest")
	require.NotNil(t, c.get(two))

	_, err := c.compile(one, 3, []engine.Source{{Key: "p", Text: "?"}})
	require.Error(t, err)
	require.Nil(t, c.get(one))
}
