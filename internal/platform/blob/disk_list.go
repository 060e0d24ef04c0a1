package blob

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func (d *disk) list(ctx context.Context, prefix, after string, limit int) ([]Object, error) {
	w := walk{disk: d, ctx: ctx, prefix: prefix, after: after, limit: limit}
	err := w.folder(prefix[:strings.LastIndexByte(prefix, '/')+1])
	return w.found, err
}

// walk collects one page of a list.
type walk struct {
	disk          *disk
	ctx           context.Context
	prefix, after string
	limit         int
	found         []Object
}

// folder visits a folder, which is empty for the root and ends with a slash
// otherwise.
func (w *walk) folder(dir string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(w.disk.path(dir))
	if err != nil {
		if err = w.disk.translateRead(err); errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}
	// A slash comes after a hyphen and a dot, so a folder stands where its keys
	// stand.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(asKey(a), asKey(b)) })
	for _, e := range entries {
		if len(w.found) == w.limit {
			return nil
		}
		if err := w.visit(dir+asKey(e), e); err != nil {
			return err
		}
	}
	return nil
}

func asKey(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

func (w *walk) visit(key string, e fs.DirEntry) error {
	if checkKey(strings.TrimSuffix(key, "/")) != nil { // a temporary file, or lost+found
		w.sweep(key, e)
		return nil
	}
	if e.IsDir() {
		if before := key < w.after && !strings.HasPrefix(w.after, key); before || !strings.HasPrefix(key, w.prefix) && !strings.HasPrefix(w.prefix, key) {
			return nil
		}
		return w.folder(key)
	}
	if key <= w.after || !strings.HasPrefix(key, w.prefix) || !e.Type().IsRegular() {
		return nil
	}
	info, err := e.Info()
	if err != nil {
		if err = w.disk.translateRead(err); errors.Is(err, ErrNotFound) {
			return nil // deleted since the folder was read
		}
		return err
	}
	w.found = append(w.found, Object{Key: key, Size: info.Size(), ModTime: info.ModTime()})
	return nil
}

// sweep removes the temporary file of a process that was killed long ago.
// Nothing depends on it: what cannot be removed is met again.
func (w *walk) sweep(key string, e fs.DirEntry) {
	if !strings.HasPrefix(e.Name(), temporary) || !e.Type().IsRegular() {
		return
	}
	if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftover {
		_ = os.Remove(filepath.Join(w.disk.root, filepath.FromSlash(key)))
	}
}
