package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/assayhq/assay/internal/platform/failpoint"
)

// Objects are private to the user of the process.
const folderMode = 0o700

// temporary begins the name of a file that is not an object yet. No key has a
// part that begins with it.
const temporary = "~"

// leftover is the age from which a temporary file has no writer any more.
const leftover = 24 * time.Hour

// maxFolders bounds the memory of folders that are known to be durable, about
// 100 bytes each.
const maxFolders = 1 << 16

// BeforeNamed is when an object's bytes are on disk under a temporary name.
const BeforeNamed failpoint.Point = "before_blob_name"

// disk keeps each object in a file below root.
//
// A write goes to a temporary file beside the object, which is forced to the
// disk before it gets the object's name; then the folder is forced, which holds
// the name.
type disk struct {
	root string
	sync func(*os.File) error

	mu      sync.Mutex
	durable map[string]bool // folders whose own entry this process has forced
}

// openDisk makes the root if it is missing.
func openDisk(root string) (*disk, error) {
	d := &disk{root: root, sync: (*os.File).Sync, durable: map[string]bool{}}
	return d, d.makeRoot(root)
}

func (d *disk) makeRoot(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file, not a folder", dir)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := d.makeRoot(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.force(parent)
}

func (d *disk) path(key string) string { return filepath.Join(d.root, filepath.FromSlash(key)) }

func (d *disk) put(ctx context.Context, key string, content []byte, onlyNew bool) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	created, err := d.write(ctx, key, content, onlyNew)
	return created, d.translate(err)
}

func (d *disk) write(ctx context.Context, key string, content []byte, onlyNew bool) (bool, error) {
	name := d.path(key)
	folder := filepath.Dir(name)
	if onlyNew {
		// Bytes that are there already need not be written to find out.
		if found, err := exists(name); err != nil {
			return false, err
		} else if found {
			return false, d.makeDurable(key)
		}
	}
	temp, err := d.writeTemp(key, content)
	if err != nil {
		return false, err
	}
	if err = ctx.Err(); err == nil && !onlyNew {
		failpoint.Hit(BeforeNamed)
		if err = os.Rename(temp, name); err == nil {
			return true, d.force(folder)
		}
	}
	defer func() { _ = os.Remove(temp) }()
	if err != nil {
		return false, err
	}
	// A link, unlike a rename, fails when the name is taken: one step decides
	// between several processes.
	if err := os.Link(temp, name); errors.Is(err, fs.ErrExist) {
		if _, err := exists(name); err != nil {
			return false, err
		}
		return false, d.makeDurable(key)
	} else if err != nil {
		return false, err
	}
	return true, d.force(folder)
}

// makeDurable makes an object durable that another writer has named but perhaps not
// forced yet. Its bytes are durable since before it was named.
func (d *disk) makeDurable(key string) error {
	if err := d.makeFolder(path.Dir(key)); err != nil {
		return err
	}
	return d.force(filepath.Dir(d.path(key)))
}

// writeTemp writes a durable file beside the object and returns its name.
func (d *disk) writeTemp(key string, content []byte) (string, error) {
	f, err := d.createTemp(key)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err == nil {
		err = d.sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func (d *disk) createTemp(key string) (*os.File, error) {
	dir := path.Dir(key)
	for again := true; ; again = false {
		if err := d.makeFolder(dir); err != nil {
			return nil, err
		}
		f, err := os.CreateTemp(d.path(dir), temporary)
		if !again || !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		// Someone removed a folder that is remembered.
		d.mu.Lock()
		clear(d.durable)
		d.mu.Unlock()
	}
}

// makeFolder makes a folder below the root, and every folder above it. The
// entry of each is forced once by each process, also when the folder was there:
// the process that made it may not have come to it yet.
func (d *disk) makeFolder(dir string) error {
	if dir == "." {
		return nil
	}
	d.mu.Lock()
	known := d.durable[dir]
	d.mu.Unlock()
	if known {
		return nil
	}
	if err := d.makeFolder(path.Dir(dir)); err != nil {
		return err
	}
	name := d.path(dir)
	if err := os.Mkdir(name, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := d.force(filepath.Dir(name)); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.durable) >= maxFolders {
		clear(d.durable)
	}
	d.durable[dir] = true
	return nil
}

// force makes the entries of a folder durable.
func (d *disk) force(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(d.sync(f), f.Close())
}

// errFolder is returned where a key is the folder of other keys, or another key
// is its folder.
var errFolder = errors.New("on disk a key cannot be the folder of another key: choose keys of which none is another with a slash added")

func exists(name string) (bool, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.IsDir():
		return false, errFolder
	}
	return true, nil
}
