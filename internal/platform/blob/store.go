// Package blob keeps bytes under keys: in a folder, or in a bucket of an S3
// store. Both keep the same promises, and one suite of tests holds both to them.
//
// A bucket is reached through gocloud.dev. A folder is not: gocloud's file
// bucket gives a file its name although its bytes were never forced to the disk,
// so that a power cut may leave an empty object; it does not force the name
// either; its "only if absent" looks first and renames then, and another writer
// passes in between; and its temporary files stand on another file system, or
// beside the objects, where it lists them. It hands out the file only before the
// first byte, so none of that can be mended from outside, and the folder is
// written here.
//
// On disk a key is the path of a file below the folder. A key can therefore not
// be the folder of another key there: where a/b is kept, a cannot be. Folders
// stay when their last object is deleted. On a file system that ignores case,
// keys that differ in case only are one object.
package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
)

var (
	// ErrNotFound is returned when there is no object under a key.
	ErrNotFound = errors.New("there is no such object")

	// ErrUnavailable is what a caller sees while the store cannot be used: a
	// bucket that does not answer, a disk that is full or gone.
	ErrUnavailable = fault.New(fault.Unavailable, "storage_unavailable", "The object storage cannot be used right now. Retry in a moment.")
)

// Object is one entry of a list.
type Object struct {
	Key     string
	Size    int64
	ModTime time.Time
}

// Store is a folder or a bucket. It is safe for concurrent use, also by several
// processes at once.
//
// A key is parts of letters, digits, dots, underscores and hyphens, joined by
// slashes. An object is replaced as a whole: a reader gets the old bytes or the
// new ones, never a mixture, and an object that is open keeps its bytes.
//
// An error that means "away" carries ErrUnavailable. An error after a write
// leaves the old object or the new one, whole.
type Store struct{ keeper keeper }

// keeper is one kind of store. Keys reach it checked; its errors are ready for
// the caller.
type keeper interface {
	put(ctx context.Context, key string, content []byte, onlyNew bool) (created bool, err error)
	open(ctx context.Context, key string) (content io.ReadCloser, size int64, err error)
	delete(ctx context.Context, key string) error
	list(ctx context.Context, prefix, after string, limit int) ([]Object, error)
	ping(ctx context.Context) error
	close() error
}

// Open prepares the store. It makes the folder if there is none, and does not
// wait for a bucket.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	t, err := parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("blob %w", err)
	}
	if t.folder != "" {
		d, err := openDisk(t.folder)
		if err != nil {
			return nil, fmt.Errorf("prepare the folder of objects; check that the user of this process may write there, or change blob.url: %w", err)
		}
		return &Store{d}, nil
	}
	b, err := openBucket(ctx, t, usual)
	if err != nil {
		return nil, fmt.Errorf("prepare the bucket of objects: %w", err)
	}
	return &Store{b}, nil
}

// Put keeps content under key, in place of what was there. When it returns
// without an error, the object survives a power cut.
func (s *Store) Put(ctx context.Context, key string, content []byte) error {
	_, err := s.put(ctx, key, content, false)
	return err
}

// PutNew keeps content under key unless there is an object already, which it
// leaves as it is. Of several callers at once one creates the object. Either
// way there is an object when it returns without an error, and it survives a
// power cut.
//
// On S3 created may be false for the caller whose bytes were kept, if the answer
// to its first attempt was lost.
func (s *Store) PutNew(ctx context.Context, key string, content []byte) (created bool, err error) {
	return s.put(ctx, key, content, true)
}

func (s *Store) put(ctx context.Context, key string, content []byte, onlyNew bool) (bool, error) {
	if err := checkKey(key); err != nil {
		return false, err
	}
	created, err := s.keeper.put(ctx, key, content, onlyNew)
	if err != nil {
		return false, fmt.Errorf("put object %s: %w", key, err)
	}
	return created, nil
}

// Get returns the bytes under key, or ErrNotFound.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	content, err := s.get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("get object %s: %w", key, err)
	}
	return content, nil
}

func (s *Store) get(ctx context.Context, key string) ([]byte, error) {
	r, size, err := s.keeper.open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	var content bytes.Buffer
	content.Grow(int(max(size, 0)) + bytes.MinRead)
	if _, err := content.ReadFrom(r); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// NewReader opens the object under key, or returns ErrNotFound. The caller
// closes it; ctx ends it too. A read that brings nothing for long fails.
func (s *Store) NewReader(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	r, _, err := s.keeper.open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("open object %s: %w", key, err)
	}
	return r, nil
}

// Delete removes the object under key. It is no error if there is none.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := s.keeper.delete(ctx, key); err != nil {
		return fmt.Errorf("delete object %s: %w", key, err)
	}
	return nil
}

// List returns the first limit objects whose keys begin with prefix and come
// after the key after, in the order of the keys' bytes. Fewer than limit means
// that there are no more. An empty after begins at the beginning.
//
// On disk a page costs as much as reading the folders that it touches, so keys
// are best spread over folders of some thousand objects.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]Object, error) {
	if limit < 1 {
		return nil, fmt.Errorf("list of objects has the limit %d: give 1 or more", limit)
	}
	if err := errors.Join(checkStart("prefix", prefix), checkStart("after", after)); err != nil {
		return nil, err
	}
	objects, err := s.keeper.list(ctx, prefix, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list objects of %q: %w", prefix, err)
	}
	return objects, nil
}

// Ping reports whether the store can be used: whether the bucket answers, or
// the folder takes a file.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.keeper.ping(ctx); err != nil {
		return fmt.Errorf("ping object storage: %w", err)
	}
	return nil
}

// Close releases the store. Objects that are open stay readable until they are
// closed.
func (s *Store) Close() error { return s.keeper.close() }

// unavailable marks an error that means "away".
func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }
