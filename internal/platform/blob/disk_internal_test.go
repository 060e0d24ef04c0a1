package blob

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
)

// A power cut cannot be had in a test. What survives one is what was forced
// before, so these tests watch what is forced, and when.

// watched is a disk that calls see before it forces a file or folder, by its
// name below the root.
func watched(t *testing.T, see func(name string) error) *disk {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	d, err := openDisk(root)
	require.NoError(t, err)
	d.sync = func(f *os.File) error {
		name, err := filepath.Rel(root, f.Name())
		require.NoError(t, err)
		if err := see(name); err != nil {
			return err
		}
		return f.Sync()
	}
	return d
}

func TestAPutIsForcedToTheDisk(t *testing.T) {
	t.Parallel()
	for _, onlyNew := range []bool{false, true} {
		var steps []string
		var d *disk
		d = watched(t, func(name string) error {
			if strings.HasPrefix(filepath.Base(name), temporary) {
				content, err := os.ReadFile(filepath.Join(d.root, name))
				require.NoError(t, err)
				require.Equal(t, "content", string(content), "forced before it was written")
				name = filepath.Join(filepath.Dir(name), "temporary")
			}
			if named, _ := exists(d.path("a/b/c")); named {
				name += ", named"
			}
			steps = append(steps, name)
			return nil
		})
		put := func(key string) {
			created, err := d.put(t.Context(), key, []byte("content"), onlyNew)
			require.NoError(t, err)
			require.True(t, created)
		}
		put("a/b/c")
		// The folders, then the bytes, then the name.
		require.Equal(t, []string{".", "a", "a/b/temporary", "a/b, named"}, steps)

		steps = nil
		put("a/b/d")
		require.Equal(t, []string{"a/b/temporary, named", "a/b, named"}, steps, "the folders are known")

		steps = nil
		require.NoError(t, d.delete(t.Context(), "a/b/c"))
		require.Equal(t, []string{"a/b"}, steps)
	}
}

func TestAnObjectOfAnotherWriterIsForcedBeforeItCounts(t *testing.T) {
	t.Parallel()
	var steps []string
	d := watched(t, func(name string) error { steps = append(steps, name); return nil })
	// Another process has named the object and not forced the folders yet.
	require.NoError(t, os.MkdirAll(d.path("a/b"), folderMode))
	require.NoError(t, os.WriteFile(d.path("a/b/c"), nil, 0o600))

	created, err := d.put(t.Context(), "a/b/c", []byte("content"), true)
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, []string{".", "a", "a/b"}, steps)
}

func TestOpenForcesTheFoldersThatItMakes(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	var steps []string
	d := &disk{root: filepath.Join(base, "a", "b"), sync: func(f *os.File) error { steps = append(steps, f.Name()); return f.Sync() }}
	require.NoError(t, d.makeRoot(d.root))
	require.Equal(t, []string{base, filepath.Join(base, "a")}, steps)
}

func TestADiskThatRefuses(t *testing.T) {
	t.Parallel()
	broken := errors.New("input/output error")

	t.Run("the bytes: nothing changes", func(t *testing.T) {
		t.Parallel()
		healthy := true
		d := watched(t, func(name string) error {
			if !healthy && strings.HasPrefix(filepath.Base(name), temporary) {
				return broken
			}
			return nil
		})
		_, err := d.put(t.Context(), "a/b", []byte("old"), false)
		require.NoError(t, err)
		healthy = false
		for _, key := range []string{"a/b", "a/c"} {
			_, err = d.put(t.Context(), key, []byte("new"), key == "a/c")
			require.ErrorIs(t, err, ErrUnavailable)
			require.ErrorIs(t, err, broken)
			f, found := fault.From(err)
			require.True(t, found)
			require.Equal(t, fault.Unavailable, f.Kind)
		}
		require.Equal(t, []string{"b"}, names(t, d.path("a")))
		content, err := os.ReadFile(d.path("a/b"))
		require.NoError(t, err)
		require.Equal(t, "old", string(content))
	})

	t.Run("a folder: nothing is acknowledged, and the next writer forces it again", func(t *testing.T) {
		t.Parallel()
		healthy := false
		d := watched(t, func(name string) error {
			if !healthy && name == "." {
				return broken
			}
			return nil
		})
		_, err := d.put(t.Context(), "a/b", nil, false)
		require.ErrorIs(t, err, ErrUnavailable)
		require.NoError(t, d.delete(t.Context(), "a/b"))
		require.Empty(t, d.durable)
		healthy = true
		_, err = d.put(t.Context(), "a/b", nil, false)
		require.NoError(t, err)
	})

	t.Run("a root that is gone is away, and its objects are not missing", func(t *testing.T) {
		t.Parallel()
		d := watched(t, func(string) error { return nil })
		_, err := d.put(t.Context(), "a/b", nil, false)
		require.NoError(t, err)
		require.NoError(t, os.RemoveAll(d.root))

		_, putErr := d.put(t.Context(), "a/b", nil, false)
		_, newErr := d.put(t.Context(), "a/b", nil, true)
		_, _, openErr := d.open(t.Context(), "a/b")
		_, listErr := d.list(t.Context(), "", "", 1)
		_, listBelowErr := d.list(t.Context(), "a/", "", 1)
		for name, err := range map[string]error{
			"put": putErr, "put new": newErr, "open": openErr, "list": listErr, "list below": listBelowErr,
			"delete": d.delete(t.Context(), "a/b"), "ping": d.ping(t.Context()),
		} {
			require.ErrorIs(t, err, ErrUnavailable, name)
			require.NotErrorIs(t, err, ErrNotFound, name)
		}
		require.NoDirExists(t, d.root, "a root that comes back is another disk")
	})
}

func TestAFolderThatSomeoneRemovedIsMadeAgain(t *testing.T) {
	t.Parallel()
	var steps []string
	d := watched(t, func(name string) error { steps = append(steps, name); return nil })
	_, err := d.put(t.Context(), "a/b/c", nil, false)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(d.path("a")))
	steps = nil
	_, err = d.put(t.Context(), "a/b/c", nil, false)
	require.NoError(t, err)
	require.Equal(t, []string{".", "a"}, steps[:2])
}

func TestAKeyIsNotTheFolderOfAnother(t *testing.T) {
	t.Parallel()
	d := watched(t, func(string) error { return nil })
	_, err := d.put(t.Context(), "a/b", []byte("b"), false)
	require.NoError(t, err)
	for _, key := range []string{"a", "a/b/c", "a/b/c/d"} {
		for _, onlyNew := range []bool{false, true} {
			_, err := d.put(t.Context(), key, nil, onlyNew)
			require.ErrorIs(t, err, errFolder, key)
			require.NotErrorIs(t, err, ErrUnavailable, key)
		}
	}
	require.Equal(t, []string{"b"}, names(t, d.path("a")), "nothing is left behind")

	// A folder whose objects are gone is a folder still: a writer may be about
	// to use it.
	require.NoError(t, d.delete(t.Context(), "a/b"))
	require.NoError(t, d.delete(t.Context(), "a"))
	require.DirExists(t, d.path("a"))
}

func TestWhatIsNoObjectIsNotListed(t *testing.T) {
	t.Parallel()
	d := watched(t, func(string) error { return nil })
	_, err := d.put(t.Context(), "a/b", nil, false)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(d.root, "lost+found"), 0))
	require.NoError(t, os.Symlink("b", d.path("a/link")))
	old, young := d.path("a/"+temporary+"1"), d.path("a/"+temporary+"2")
	for name, age := range map[string]time.Duration{old: leftover + time.Hour, young: time.Hour} {
		require.NoError(t, os.WriteFile(name, []byte("half"), 0o600))
		require.NoError(t, os.Chtimes(name, time.Time{}, time.Now().Add(-age)))
	}

	objects, err := d.list(t.Context(), "", "", 10)
	require.NoError(t, err)
	require.Len(t, objects, 1)
	require.Equal(t, "a/b", objects[0].Key)
	require.NoFileExists(t, old, "its writer was killed long ago")
	require.FileExists(t, young, "its writer may be at work")
}

func TestTheMemoryOfFoldersIsBounded(t *testing.T) {
	t.Parallel()
	d := watched(t, func(string) error { return nil })
	for i := range maxFolders {
		d.durable[strconv.Itoa(i)] = true
	}
	_, err := d.put(t.Context(), "a/b", nil, false)
	require.NoError(t, err)
	require.LessOrEqual(t, len(d.durable), maxFolders)
	require.True(t, d.durable["a"])
}

func TestManyWritersOfANewFolder(t *testing.T) {
	t.Parallel()
	d := watched(t, func(string) error { return nil })
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			_, err := d.put(t.Context(), "a/b/c/"+string(rune('a'+i)), []byte{byte(i)}, i%2 == 0)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, names(t, d.path("a/b/c")), 16)
}

func TestAnOpenFileEndsWithAnError(t *testing.T) {
	t.Parallel()
	d := watched(t, func(string) error { return nil })
	_, err := d.put(t.Context(), "a", []byte("content"), false)
	require.NoError(t, err)
	r, size, err := d.open(t.Context(), "a")
	require.NoError(t, err)
	require.EqualValues(t, 7, size)
	require.NoError(t, r.Close())
	_, err = io.ReadAll(r)
	require.ErrorIs(t, err, ErrUnavailable)
}

func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
