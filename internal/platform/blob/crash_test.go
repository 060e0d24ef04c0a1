package blob_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/blob"
)

// A child process writes objects and says which ones were acknowledged, until it
// is killed. What it said is the least that has to be there; what is there has
// to be whole.

const folderVar = "BLOB_TEST_FOLDER"

// child is the process that is killed, or asks in vain for credentials.
func child(role string) int {
	var err error
	switch role {
	case "put":
		err = writeForever(func(s *blob.Store, key string, content []byte) error {
			return s.Put(context.Background(), key, content)
		})
	case "put new":
		err = writeForever(func(s *blob.Store, key string, content []byte) error {
			_, err := s.PutNew(context.Background(), key, content)
			return err
		})
	case "sabotage":
		err = writeForever(writeInPlace)
	case "no credentials":
		err = askInVain()
	default:
		err = errors.New("no such role: " + role)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// writeForever writes from four goroutines, each of them new keys and, again and
// again, a key of its own.
func writeForever(put func(s *blob.Store, key string, content []byte) error) error {
	s, err := blob.Open(context.Background(), blob.Config{URL: "file://" + os.Getenv(folderVar)})
	if err != nil {
		return err
	}
	var said sync.Mutex
	failed := make(chan error)
	for w := range 4 {
		go func() {
			start := uint64(time.Now().UnixNano())
			for i := start; ; i++ {
				key := fmt.Sprintf("w%d/new-%d/%d", w, i%3, i)
				if i%2 == 0 {
					key = fmt.Sprintf("w%d/hot", w)
				}
				if err := put(s, key, sealed(i)); err != nil {
					failed <- err
					return
				}
				said.Lock()
				_, err := fmt.Fprintf(os.Stdout, "%s %d\n", key, i)
				said.Unlock()
				if err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

// writeInPlace is a Put without the temporary file and the rename. It writes
// the object where it is read.
func writeInPlace(_ *blob.Store, key string, content []byte) error {
	name := filepath.Join(os.Getenv(folderVar), filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	for len(content) > 0 {
		n := min(len(content), 4<<10)
		if _, err := f.Write(content[:n]); err != nil {
			return err
		}
		content = content[n:]
	}
	return errors.Join(f.Sync(), f.Close())
}

// kill starts a child on the folder, kills it after some acknowledgements, and
// adds to acknowledged the number that each key has at least.
func kill(t *testing.T, role, folder string, after int, acknowledged map[string]uint64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+role, folderVar+"="+folder)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	// Lines that the child wrote before it died are acknowledgements too.
	lines := bufio.NewScanner(out)
	count := 0
	for ; lines.Scan(); count++ {
		if count == after {
			require.NoError(t, cmd.Process.Kill())
		}
		key, text, whole := strings.Cut(lines.Text(), " ")
		require.True(t, whole)
		number, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
		acknowledged[key] = max(acknowledged[key], number)
	}
	require.NoError(t, lines.Err())
	_ = cmd.Wait()
	require.GreaterOrEqual(t, count, after, "the child ended by itself: %s", stderr.String())
}

// damage lists the objects and says what is wrong with them.
func damage(t *testing.T, folder string, acknowledged map[string]uint64, newer bool) []string {
	t.Helper()
	s := open(t, blob.Config{URL: "file://" + folder})
	found := map[string]uint64{}
	var wrong []string
	for after := ""; ; {
		objects, err := s.List(t.Context(), "", after, 100)
		require.NoError(t, err)
		for _, o := range objects {
			content, err := s.Get(t.Context(), o.Key)
			require.NoError(t, err)
			number, ok := unseal(content)
			if !ok || int64(len(content)) != o.Size {
				wrong = append(wrong, fmt.Sprintf("%s is listed with %d bytes and is not whole", o.Key, o.Size))
			}
			found[o.Key] = number
		}
		if len(objects) < 100 {
			break
		}
		after = objects[len(objects)-1].Key
	}
	for key, number := range acknowledged {
		if got, ok := found[key]; !ok {
			wrong = append(wrong, key+" was acknowledged and is missing")
		} else if newer && got < number {
			wrong = append(wrong, key+" is older than what was acknowledged")
		}
	}
	return wrong
}

func TestAKilledWriterLeavesWholeObjects(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"put", "put new"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			acknowledged := map[string]uint64{}
			for range 10 {
				kill(t, role, folder, 1+rand.IntN(120), acknowledged)
				require.Empty(t, damage(t, folder, acknowledged, role == "put"))
			}
			require.NotEmpty(t, acknowledged)
			t.Logf("%d objects were acknowledged, %d temporary files were left", len(acknowledged), leftovers(t, folder))
		})
	}
}

// The same test finds the damage of a Put without a rename; it would not be a
// test otherwise.
func TestAPutWithoutRenameIsCaught(t *testing.T) {
	t.Parallel()
	for range 20 {
		folder, acknowledged := t.TempDir(), map[string]uint64{}
		kill(t, "sabotage", folder, 1+rand.IntN(120), acknowledged)
		if wrong := damage(t, folder, acknowledged, true); len(wrong) > 0 {
			t.Log(wrong)
			return
		}
	}
	t.Fatal("20 killed writers without a rename left no half object")
}

func leftovers(t *testing.T, folder string) int {
	t.Helper()
	count := 0
	require.NoError(t, filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if strings.HasPrefix(e.Name(), "~") {
			count++
		}
		return err
	}))
	return count
}
