package spandb

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/telemetry/span"
)

func TestWholeMinutes(t *testing.T) {
	t.Parallel()
	rows := func(minutes ...int64) (out []candidate) {
		for i, m := range minutes {
			out = append(out, candidate{at: m * minute, id: span.TraceID{byte(i)}})
		}
		return out
	}
	require.Equal(t, 0, wholeMinutes(nil, 5, false))
	require.Equal(t, 3, wholeMinutes(rows(9, 9, 8), 10, false), "everything is there")
	require.Equal(t, 2, wholeMinutes(rows(9, 9, 8), 10, true), "the last minute may be cut")
	require.Equal(t, 0, wholeMinutes(rows(9, 9, 9), 1, true), "all of it may be cut")
	require.Equal(t, 2, wholeMinutes(rows(9, 9, 8, 8, 7), 1, true), "no more minutes than needed")
	require.Equal(t, 4, wholeMinutes(rows(9, 9, 8, 8, 7), 3, true))
}
