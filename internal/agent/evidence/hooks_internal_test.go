package evidence

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// Nothing but this file gives hooks to replays, which have no code.
func init() {
	hooked[kind.ReplayRuns] = hooks{
		begin: func(_ context.Context, r *Record) { r.Values[kind.FieldSeed] = kind.IntegerValue(7) },
		check: func(d kind.Draft, need func(path, code, message string)) {
			if d.Values.Seed() == 0 {
				need("/seed", "required", "is required")
			}
		},
	}
}

func TestAFileGivesHooksToAKind(t *testing.T) {
	t.Parallel()
	r := Record{Kind: kind.Must(kind.ReplayRuns), Values: kind.Values{}}
	require.Len(t, demands(kind.Draft{Kind: r.Kind}), 1)
	beginRecord(t.Context(), &r, time.Unix(0, 0))
	require.EqualValues(t, 7, r.Values.Seed())
	require.Equal(t, "queued", r.State())
	require.Empty(t, demands(kind.Draft{Kind: r.Kind, Values: r.Values}))
	require.Empty(t, demands(kind.Draft{Kind: kind.Must(kind.SimulationRuns)}), "others have none")
}
