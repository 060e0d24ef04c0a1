package event_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change/event"
)

var (
	things = event.Of("thing", "Thing")

	moved   = things.Event("thing.moved", "A thing was moved.")
	made    = things.Public("thing.created", "thing.created", "A thing was created.")
	renewed = things.Public("thing.moved", "thing.renewed", "A thing was moved to where it began.")
)

func TestCatalogue(t *testing.T) {
	t.Parallel()
	require.Equal(t, []event.Type{made, moved, renewed}, event.All(), "by action, then by public name")
	require.NotEqual(t, moved, renewed, "one action may have several names")
	require.Equal(t, []string{"thing.moved", "thing.renewed", "thing", "Thing", "A thing was moved to where it began."},
		[]string{renewed.Action(), renewed.Public(), renewed.Resource(), renewed.Schema(), renewed.Says()})
	require.Empty(t, moved.Public())
	require.NotContains(t, event.All(), event.Type{})
}
