package artifact

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/blob"
)

// written writes an artifact in pieces and returns it as it is known.
func written(t *testing.T, blobs *blob.Store, size, piece int) (a Artifact, content []byte, parts int) {
	t.Helper()
	content = make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size)}).Read(content)
	f := &File{
		Artifact: Artifact{object: "artifacts/org/1/results.jsonl"}, ctx: t.Context(), blobs: blobs, hash: sha256.New(),
		known: func(made Artifact) error { a = made; return nil },
	}
	for rest := content; len(rest) > 0; {
		n := min(piece, len(rest))
		_, err := f.Write(rest[:n])
		require.NoError(t, err)
		require.LessOrEqual(t, cap(f.rest), 2*partSize+2*piece, "the rest waits outside of memory")
		rest = rest[n:]
	}
	require.NoError(t, f.Close())
	return a, content, f.parts
}

func TestAnArtifactIsKeptInParts(t *testing.T) {
	t.Parallel()
	blobs, err := blob.Open(t.Context(), blob.Config{URL: "file://" + t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = blobs.Close() })

	a, content, parts := written(t, blobs, 3*partSize+1000, 1<<20)
	require.Equal(t, 4, parts)
	require.Equal(t, sha256.Sum256(content), a.Digest)
	r, err := openParts(t.Context(), blobs, a)
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, got))
	require.NoError(t, r.Close())

	// A shorter one in its place leaves nothing of the old, and a reader of the
	// old one is told.
	shorter, _, _ := written(t, blobs, 2000, 500)
	objects, err := blobs.List(t.Context(), "artifacts/org/1/", "", 100)
	require.NoError(t, err)
	require.Len(t, objects, 1)
	r, err = openParts(t.Context(), blobs, a)
	require.NoError(t, err)
	_, err = io.ReadAll(r)
	require.ErrorIs(t, err, ErrGone)
	r, err = openParts(t.Context(), blobs, shorter)
	require.NoError(t, err)
	_, err = io.ReadAll(r)
	require.NoError(t, err)

	require.NoError(t, blobs.Put(t.Context(), objects[0].Key, make([]byte, 2000)))
	r, err = openParts(t.Context(), blobs, shorter)
	require.NoError(t, err)
	_, err = io.ReadAll(r)
	require.ErrorIs(t, err, errOtherBytes)

	empty, _, parts := written(t, blobs, 0, 1)
	require.Zero(t, parts)
	r, err = openParts(t.Context(), blobs, empty)
	require.NoError(t, err)
	got, err = io.ReadAll(r)
	require.NoError(t, err)
	require.Empty(t, got)
}
