package blob_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/platform/blob"
)

// TestConformance holds both stores to the promises of the package.
func TestConformance(t *testing.T) {
	t.Parallel()
	stores := map[string]func(testing.TB) blob.Config{"disk": newFolder, "s3": newBucket}
	for name, config := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, law := range laws {
				t.Run(law.name, func(t *testing.T) {
					t.Parallel()
					law.holds(t, open(t, config(t)))
				})
			}
		})
	}
}

var laws = []struct {
	name  string
	holds func(*testing.T, *blob.Store)
}{
	{"what is put can be got", roundTrip},
	{"put replaces", replace},
	{"a missing object is not found", missing},
	{"delete removes, and removing nothing is no error", remove},
	{"put new leaves what is there", putNew},
	{"of many writers of a new object one creates it", race},
	{"a reader never sees half an object", whole},
	{"a list is in the order of the bytes of the keys", order},
	{"pages of a list meet each object once", pages},
	{"a list is bounded by its prefix", prefixes},
	{"a list says size and time", listed},
	{"a key that one store cannot keep is refused by both", keys},
	{"an open object keeps its bytes", openKeeps},
	{"a call that is over does nothing", cancelled},
	{"a store that is there answers", answers},
}

func roundTrip(t *testing.T, s *blob.Store) {
	for name, content := range map[string][]byte{
		"empty":                              {},
		"one":                                {0},
		"text.txt":                           []byte("hello"),
		"deep/er/still/UPPER-and_lower.json": []byte(`{"a":1}`),
		"a/" + strings.Repeat("x", 255):      []byte("a long part"),
		long:                                 []byte("a long key"),
		"large":                              random(17<<20, 1), // above the size from which gocloud would send parts
	} {
		require.NoError(t, s.Put(t.Context(), name, content))
		got, err := s.Get(t.Context(), name)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, got), name)

		r, err := s.NewReader(t.Context(), name)
		require.NoError(t, err)
		got, err = io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.True(t, bytes.Equal(content, got), name)
	}
}

// long is a key of the greatest length.
var long = strings.Repeat("y", 255) + "/" + strings.Repeat("z", 254) + "/z"

func replace(t *testing.T, s *blob.Store) {
	for _, content := range []string{"first", "second and longer", "3", ""} {
		require.NoError(t, s.Put(t.Context(), "a/b", []byte(content)))
		require.Equal(t, content, get(t, s, "a/b"))
	}
}

func missing(t *testing.T, s *blob.Store) {
	require.NoError(t, s.Put(t.Context(), "a/b", nil))
	for _, key := range []string{"none", "a/none", "none/none", "a", "a/b/c"} {
		_, err := s.Get(t.Context(), key)
		require.ErrorIs(t, err, blob.ErrNotFound, key)
		require.NotErrorIs(t, err, blob.ErrUnavailable, key)
		_, err = s.NewReader(t.Context(), key)
		require.ErrorIs(t, err, blob.ErrNotFound, key)
	}
}

func remove(t *testing.T, s *blob.Store) {
	require.NoError(t, s.Put(t.Context(), "a/b", []byte("x")))
	require.NoError(t, s.Put(t.Context(), "a/c", []byte("y")))
	require.NoError(t, s.Delete(t.Context(), "a/b"))
	_, err := s.Get(t.Context(), "a/b")
	require.ErrorIs(t, err, blob.ErrNotFound)
	for _, key := range []string{"a/b", "none", "none/none", "a", "a/c/d"} {
		require.NoError(t, s.Delete(t.Context(), key), key)
	}
	require.Equal(t, "y", get(t, s, "a/c"))
	require.NoError(t, s.Put(t.Context(), "a/b", []byte("again")))
	require.Equal(t, "again", get(t, s, "a/b"))
}

func putNew(t *testing.T, s *blob.Store) {
	created, err := s.PutNew(t.Context(), "a/b", []byte("first"))
	require.NoError(t, err)
	require.True(t, created)
	created, err = s.PutNew(t.Context(), "a/b", []byte("second"))
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, "first", get(t, s, "a/b"))

	require.NoError(t, s.Delete(t.Context(), "a/b"))
	created, err = s.PutNew(t.Context(), "a/b", []byte("third"))
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, "third", get(t, s, "a/b"))
	require.Len(t, list(t, s, ""), 1)
}

func race(t *testing.T, s *blob.Store) {
	for round := range 10 {
		key := fmt.Sprintf("round/%d", round)
		var creators sync.Map
		var count atomic.Int32
		var g errgroup.Group
		for i := range 8 {
			g.Go(func() error {
				content := strconv.Itoa(i)
				created, err := s.PutNew(t.Context(), key, []byte(content))
				if created {
					count.Add(1)
					creators.Store(content, true)
				}
				return err
			})
		}
		require.NoError(t, g.Wait())
		require.EqualValues(t, 1, count.Load())
		_, won := creators.Load(get(t, s, key))
		require.True(t, won, "the bytes are not those of the creator")
	}
}

func whole(t *testing.T, s *blob.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	var writers, readers errgroup.Group
	require.NoError(t, s.Put(ctx, "hot", sealed(0)))
	for w := range 2 {
		writers.Go(func() error {
			for i := range 20 {
				if err := s.Put(ctx, "hot", sealed(uint64(w*100+i))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var reads atomic.Int32
	for range 3 {
		readers.Go(func() error {
			for ctx.Err() == nil {
				content, err := s.Get(ctx, "hot")
				if ctx.Err() != nil {
					return nil
				}
				if err != nil {
					return err
				}
				if _, ok := unseal(content); !ok {
					return fmt.Errorf("half an object: %d bytes", len(content))
				}
				reads.Add(1)
			}
			return nil
		})
	}
	require.NoError(t, writers.Wait())
	cancel()
	require.NoError(t, readers.Wait())
	require.Positive(t, reads.Load())
}

func order(t *testing.T, s *blob.Store) {
	// A hyphen and a dot come before a slash, digits and letters after it.
	want := []string{"a-b/x", "a.b", "a/-", "a/b-c", "a/b.c", "a/b/c", "a/b/d.e", "a/b0", "a/bb", "a0", "aB", "a_", "ab/c", "b"}
	require.True(t, slices.IsSorted(want))
	shuffled := slices.Clone(want)
	rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for _, key := range shuffled {
		require.NoError(t, s.Put(t.Context(), key, nil))
	}
	require.Equal(t, want, list(t, s, ""))
	for limit := 1; limit <= len(want)+1; limit++ {
		objects, err := s.List(t.Context(), "", "", limit)
		require.NoError(t, err)
		require.Equal(t, want[:min(limit, len(want))], keysOf(objects))
	}
	for i, after := range want {
		objects, err := s.List(t.Context(), "", after, 100)
		require.NoError(t, err)
		require.Equal(t, want[i+1:], append([]string{}, keysOf(objects)...))
	}
	// A place between two keys, and one after all of them.
	objects, err := s.List(t.Context(), "", "a/b/c0", 2)
	require.NoError(t, err)
	require.Equal(t, []string{"a/b/d.e", "a/b0"}, keysOf(objects))
	objects, err = s.List(t.Context(), "", "zz", 2)
	require.NoError(t, err)
	require.Empty(t, objects)
}

func pages(t *testing.T, s *blob.Store) {
	var want []string
	var g errgroup.Group
	g.SetLimit(4)
	for i := range 60 {
		key := fmt.Sprintf("p/%d/%02d", i%7, i)
		want = append(want, key)
		g.Go(func() error { return s.Put(t.Context(), key, []byte(key)) })
	}
	require.NoError(t, g.Wait())
	slices.Sort(want)
	for _, limit := range []int{1, 7, 59, 60, 61, 5000} {
		var got []string
		for after := ""; ; {
			objects, err := s.List(t.Context(), "p/", after, limit)
			require.NoError(t, err)
			got = append(got, keysOf(objects)...)
			if len(objects) < limit {
				break
			}
			after = objects[len(objects)-1].Key
		}
		require.Equal(t, want, got)
	}
	_, err := s.List(t.Context(), "", "", 0)
	require.ErrorContains(t, err, "limit")
}

func prefixes(t *testing.T, s *blob.Store) {
	for _, key := range []string{"a/b", "a/bc/d", "a-b", "b/a", "ab/c"} {
		require.NoError(t, s.Put(t.Context(), key, nil))
	}
	for prefix, want := range map[string][]string{
		"":       {"a-b", "a/b", "a/bc/d", "ab/c", "b/a"},
		"a":      {"a-b", "a/b", "a/bc/d", "ab/c"},
		"a/":     {"a/b", "a/bc/d"},
		"a/b":    {"a/b", "a/bc/d"},
		"a/bc":   {"a/bc/d"},
		"a/bc/":  {"a/bc/d"},
		"a/bc/d": {"a/bc/d"},
		"a/b/":   {},
		"c":      {},
		"c/d/":   {},
		"a/b/c/": {},
		"a/.":    {},
	} {
		require.Equal(t, want, append([]string{}, list(t, s, prefix)...), prefix)
	}
	for _, prefix := range []string{"/", "a//", "../", "a/../", "A", "a b", "~"} {
		_, err := s.List(t.Context(), prefix, "", 1)
		require.ErrorContains(t, err, "prefix", prefix)
		_, err = s.List(t.Context(), "", prefix, 1)
		require.ErrorContains(t, err, "after", prefix)
	}
}

func listed(t *testing.T, s *blob.Store) {
	before := time.Now().Add(-2 * time.Second) // S3 counts whole seconds
	require.NoError(t, s.Put(t.Context(), "a", []byte("12345")))
	objects, err := s.List(t.Context(), "", "", 10)
	require.NoError(t, err)
	require.Len(t, objects, 1)
	require.EqualValues(t, 5, objects[0].Size)
	require.WithinRange(t, objects[0].ModTime, before, time.Now().Add(2*time.Second))
}

func keys(t *testing.T, s *blob.Store) {
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/..", "a..b", "a/.", "a/./b", "./a", ".a", "-a", "_a", "A", "a b", "a\x00b",
		"a\\b", "ä", "a/ä", "~a", "a/~b", "a\n", "a:b", "a%2fb", "a+b", strings.Repeat("a", 256), "a/" + strings.Repeat("a", 256), long + "z",
	} {
		_, err := s.Get(t.Context(), key)
		require.ErrorContains(t, err, "object key", "%q", key)
		require.NotErrorIs(t, err, blob.ErrNotFound)
		_, err = s.NewReader(t.Context(), key)
		require.ErrorContains(t, err, "object key", "%q", key)
		_, err = s.PutNew(t.Context(), key, nil)
		require.ErrorContains(t, err, "object key", "%q", key)
		require.ErrorContains(t, s.Put(t.Context(), key, nil), "object key", "%q", key)
		require.ErrorContains(t, s.Delete(t.Context(), key), "object key", "%q", key)
	}
	require.Empty(t, list(t, s, ""))
}

func openKeeps(t *testing.T, s *blob.Store) {
	old := random(4<<20, 2)
	require.NoError(t, s.Put(t.Context(), "a", old))
	r, err := s.NewReader(t.Context(), "a")
	require.NoError(t, err)
	first := make([]byte, 100)
	_, err = io.ReadFull(r, first)
	require.NoError(t, err)

	require.NoError(t, s.Put(t.Context(), "a", []byte("new")))
	require.NoError(t, s.Delete(t.Context(), "a"))

	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.True(t, bytes.Equal(old, append(first, rest...)))
}

func cancelled(t *testing.T, s *blob.Store) {
	require.NoError(t, s.Put(t.Context(), "a", []byte("old")))
	over, cancel := context.WithCancel(t.Context())
	r, err := s.NewReader(over, "a")
	require.NoError(t, err)
	cancel()

	_, readErr := io.ReadAll(r)
	_ = r.Close()
	_, getErr := s.Get(over, "a")
	_, newErr := s.PutNew(over, "b", nil)
	_, listErr := s.List(over, "", "", 1)
	for name, err := range map[string]error{
		"put": s.Put(over, "a", []byte("new")), "put new": newErr, "get": getErr, "read": readErr,
		"list": listErr, "delete": s.Delete(over, "a"), "ping": s.Ping(over),
	} {
		require.ErrorIs(t, err, context.Canceled, name)
		require.NotErrorIs(t, err, blob.ErrUnavailable, name)
	}
	require.Equal(t, "old", get(t, s, "a"))
	require.Equal(t, []string{"a"}, list(t, s, ""))
}

func answers(t *testing.T, s *blob.Store) {
	require.NoError(t, s.Ping(t.Context()))
	require.Empty(t, list(t, s, ""))
}

func get(t *testing.T, s *blob.Store, key string) string {
	t.Helper()
	content, err := s.Get(t.Context(), key)
	require.NoError(t, err)
	return string(content)
}

func list(t *testing.T, s *blob.Store, prefix string) []string {
	t.Helper()
	objects, err := s.List(t.Context(), prefix, "", 1000)
	require.NoError(t, err)
	return keysOf(objects)
}

func keysOf(objects []blob.Object) []string {
	var keys []string
	for _, o := range objects {
		keys = append(keys, o.Key)
	}
	return keys
}
