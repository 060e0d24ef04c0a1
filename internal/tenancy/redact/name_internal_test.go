package redact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// TestManyNamesBecomeOne has so many names with one mark that counting from the first for each
// would take minutes.
func TestManyNamesBecomeOne(t *testing.T) {
	t.Parallel()
	const names = 100_000
	out := jsontext.Value(distinct([]byte("{" + strings.Repeat(`"x":1,`, names) + `"x#3":2}`)))
	require.True(t, out.IsValid())
	require.Contains(t, string(out), fmt.Sprintf(`"x#%d":1`, names))
	require.True(t, strings.HasSuffix(string(out), `"x#3#2":2}`))
	require.JSONEq(t, `[{"x":{"x":[]},"x#2":[{"x":1}]}]`, string(distinct([]byte(`[{"x":{"x":[]},"x":[{"x":1}]}]`))))
}
