package dataset

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func digests(t *rapid.T, label string) []Digest {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Digest {
		return Digest(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
	}), 0, 8).Draw(t, label)
}

func sumOf(list []Digest) contentSum {
	var s contentSum
	for _, d := range list {
		s.add(d)
	}
	return s
}

func TestContentSum(t *testing.T) {
	t.Parallel()

	t.Run("the order does not matter", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			list := digests(t, "digests")
			require.Equal(t, sumOf(list), sumOf(rapid.Permutation(list).Draw(t, "other order")))
		})
	})

	t.Run("removing undoes adding, at any time", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			before, extra := digests(t, "before"), digests(t, "extra")
			s := sumOf(append(append([]Digest{}, before...), extra...))
			for _, d := range rapid.Permutation(extra).Draw(t, "order of removal") {
				s.remove(d)
			}
			require.Equal(t, sumOf(before), s)
		})
	})

	t.Run("removing before adding is the same", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			list := digests(t, "digests")
			var s contentSum
			for _, d := range list {
				s.remove(d)
			}
			for _, d := range list {
				s.add(d)
			}
			require.Equal(t, contentSum{}, s)
		})
	})

	t.Run("one digest more is another set", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			s := sumOf(digests(t, "digests"))
			before := s.digest()
			s.add(Digest(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "more")))
			require.NotEqual(t, before, s.digest())
		})
	})

	t.Run("a stored sum of another size is refused", func(t *testing.T) {
		t.Parallel()
		for _, n := range []int{0, sumSize - 1, sumSize + 1} {
			_, err := parseSum(make([]byte, n))
			require.Error(t, err)
		}
	})
}

// TestDigestIsForEver pins digests that customers have written down: a change
// of the encoding would name the same content differently.
func TestDigestIsForEver(t *testing.T) {
	t.Parallel()
	for want, item := range map[string]Item{
		"sha256:27343728e4c9f3466deb62b9549b824bda84c8f98964652533d3ac959e70b2cc": {Content: Content{Input: jsontext.Value(`"x"`)}, Weight: 1},
		"sha256:540c574a6d836503ee8b8daa8de032825bf25014a148502eabf12fe0175841bb": {Content: Content{Input: jsontext.Value(`{"b": 1.0, "a": null}`), ExpectedOutput: jsontext.Value(`"é"`), Labels: jsontext.Value(`[1e2]`)}, Split: "dev", Weight: 2},
	} {
		got, err := item.digest()
		require.NoError(t, err)
		require.Equal(t, want, got.String())
	}
	var empty contentSum
	require.Equal(t, "sha256:e5a00aa9991ac8a5ee3109844d84a55583bd20572ad3ffcd42792f3c36b183ad", empty.digest().String())
}
