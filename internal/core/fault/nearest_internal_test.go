package fault

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApart(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"amount", "amount", 3, 0},
		{"amonut", "amount", 3, 1},
		{"amout", "amount", 3, 1},
		{"amounts", "amount", 3, 1},
		{"emount", "amount", 3, 1},
		{"sideefectclas", "sideeffectclass", 3, 2},
		{"tool", "runtime", 3, 3},
		{"", "ab", 3, 2},
		{"ab", "", 3, 2},
		{"", "", 1, 0},
		{"é", "e", 2, 1},
		{"abcdef", "badcfe", 4, 3},
		{"abcdef", "badcfe", 3, 3},
	} {
		require.Equal(t, one.want, apart(one.a, one.b, one.limit), "%v", one)
	}
}

// TestApartIsTheDistance compares the distance with one that looks at everything.
func TestApartIsTheDistance(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		out := make([]byte, r.IntN(7))
		for i := range out {
			out[i] = "abc"[r.IntN(3)]
		}
		return string(out)
	}
	for range 20_000 {
		a, b, limit := word(), word(), 1+r.IntN(4)
		require.Equal(t, min(limit, whole(a, b)), apart(a, b, limit), "%q %q %d", a, b, limit)
	}
}

// whole is the distance of two words.
func whole(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	n, m := len(a)-1, len(b)-1
	if a[n] == b[m] {
		return whole(a[:n], b[:m])
	}
	out := 1 + min(whole(a[:n], b[:m]), whole(a[:n], b), whole(a, b[:m]))
	if n > 0 && m > 0 && a[n] == b[m-1] && a[n-1] == b[m] {
		out = min(out, 1+whole(a[:n-1], b[:m-1]))
	}
	return out
}
