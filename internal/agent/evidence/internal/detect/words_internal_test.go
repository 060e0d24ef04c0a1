package detect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"jailbreak detected", "why"}, texts(jsontext.Value(`{"jailbreak":{"detected":true,"weapons":false},"reason":"why"}`)))

	var members strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&members, `"m%d":true,`, i)
	}
	// One name that leads to everything: what is read must not grow with its square.
	for _, below := range []string{
		`[` + strings.Repeat(`true,`, 20_000) + `true]`,
		`{` + members.String() + `"last":true}`,
	} {
		value := jsontext.Value(`{"a":{"` + strings.Repeat("n", 100_000) + `":` + below + `},"said":"rate limit"}`)
		all := texts(value)
		require.Less(t, len(strings.Join(all, "")), 2*maxRead)
		require.Equal(t, "rate limit", all[len(all)-1], "texts are read to the end")
	}
}
