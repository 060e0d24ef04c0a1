package artifact

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/blob"
)

// partSize is about how many bytes an object of an artifact has. A writer keeps
// so many in memory, however large the artifact.
const partSize = 8 << 20

// prefix is where all artifacts of an organization are.
func prefix(org principal.OrgID) string { return "artifacts/" + org.String() + "/" }

// runPrefix is where the artifacts of a run are.
func runPrefix(org principal.OrgID, run int64) string {
	return fmt.Sprintf("%s%d/", prefix(org), run)
}

func partKey(object string, part int) string { return fmt.Sprintf("%s/%06d", object, part) }

// File writes an artifact in parts. The artifact exists when Close returns
// without an error.
type File struct {
	Artifact
	ctx   context.Context //nolint:containedctx // an io.Writer has no place for it
	blobs *blob.Store
	known func(Artifact) error // makes the artifact known
	hash  hash.Hash
	rest  []byte
	parts int
}

// Write takes some more bytes.
func (f *File) Write(p []byte) (int, error) {
	f.hash.Write(p)
	f.Size += int64(len(p))
	f.rest = append(f.rest, p...)
	if len(f.rest) < partSize {
		return len(p), nil
	}
	return len(p), f.flush()
}

func (f *File) flush() error {
	if err := f.blobs.Put(f.ctx, partKey(f.object, f.parts), f.rest); err != nil {
		return err
	}
	f.parts, f.rest = f.parts+1, f.rest[:0]
	return nil
}

// Close stores what is left, deletes parts that an earlier, longer version had,
// and makes the artifact known.
func (f *File) Close() error {
	if len(f.rest) > 0 {
		if err := f.flush(); err != nil {
			return err
		}
	}
	f.hash.Sum(f.Digest[:0])
	if err := f.known(f.Artifact); err != nil {
		return err
	}
	after := ""
	if f.parts > 0 {
		after = partKey(f.object, f.parts-1)
	}
	stale, err := f.blobs.List(f.ctx, f.object+"/", after, 1000)
	for _, o := range stale {
		err = errors.Join(err, f.blobs.Delete(f.ctx, o.Key))
	}
	return err
}

// errOtherBytes means that an artifact was replaced or damaged while it was read.
var errOtherBytes = errors.New("the artifact's bytes are not those that were written")

// parts reads the parts of an artifact one after another.
type parts struct {
	ctx   context.Context //nolint:containedctx // an io.Reader has no place for it
	blobs *blob.Store
	Artifact
	hash hash.Hash
	next int
	read int64
	part io.ReadCloser
}

func openParts(ctx context.Context, blobs *blob.Store, a Artifact) (io.ReadCloser, error) {
	p := &parts{ctx: ctx, blobs: blobs, Artifact: a, hash: sha256.New()}
	if a.Size == 0 {
		return p, nil
	}
	return p, p.open()
}

func (p *parts) open() error {
	part, err := p.blobs.NewReader(p.ctx, partKey(p.object, p.next))
	if errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	if err != nil {
		return err
	}
	p.part, p.next = part, p.next+1
	return nil
}

// Read reads on, in the next part if one is over.
func (p *parts) Read(b []byte) (int, error) {
	for p.read < p.Size {
		if p.part == nil {
			if err := p.open(); err != nil {
				return 0, err
			}
		}
		n, err := p.part.Read(b)
		p.read += int64(n)
		p.hash.Write(b[:n])
		if errors.Is(err, io.EOF) {
			err = errors.Join(p.part.Close())
			p.part = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	if [32]byte(p.hash.Sum(nil)) != p.Digest || p.read != p.Size {
		return 0, errOtherBytes
	}
	return 0, io.EOF
}

// Close closes the part that is open.
func (p *parts) Close() error {
	if p.part == nil {
		return nil
	}
	return p.part.Close()
}
