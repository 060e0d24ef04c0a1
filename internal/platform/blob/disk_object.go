package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

func (d *disk) open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	f, err := os.Open(d.path(key))
	if err != nil {
		return nil, 0, d.translateRead(err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, 0, errors.Join(d.translateRead(err), f.Close())
	}
	return &file{ctx, d, f}, info.Size(), nil
}

// file is an open object.
type file struct {
	ctx  context.Context
	disk *disk
	f    *os.File
}

func (f *file) Close() error { return f.f.Close() }

func (f *file) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := f.f.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = f.disk.translate(err)
	}
	return n, err
}

func (d *disk) delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := d.path(key)
	err := syscall.Unlink(name) // os.Remove would remove an empty folder too
	switch {
	case errors.Is(err, syscall.EINTR):
		return d.delete(ctx, key)
	case errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.EPERM):
		// The answers of Linux and of POSIX to the name of a folder.
		if found, statErr := exists(name); !found && errors.Is(statErr, errFolder) {
			return nil
		}
	case err == nil:
		return d.translate(d.force(filepath.Dir(name)))
	}
	if err = d.translateRead(&fs.PathError{Op: "unlink", Path: name, Err: err}); errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// ping makes a file, because a folder that is there may still take none.
func (d *disk) ping(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := os.CreateTemp(d.root, temporary)
	if err != nil {
		return d.translate(err)
	}
	return d.translate(errors.Join(f.Close(), os.Remove(f.Name())))
}

func (d *disk) close() error { return nil }

// translate marks what the operating system refuses: the caller is not to blame
// for any of it.
func (d *disk) translate(err error) error {
	switch {
	case err == nil, errors.Is(err, errFolder), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.EEXIST):
		return fmt.Errorf("%w: %w", errFolder, err)
	}
	return unavailable(err)
}

// translateRead also knows that an object may be missing. If the root is
// missing, that says nothing about the object.
func (d *disk) translateRead(err error) error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return d.translate(err)
	}
	if _, gone := os.Stat(d.root); gone != nil {
		return unavailable(gone)
	}
	return ErrNotFound
}
