package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Checkout is one clone of the repository with the engines that belong to it.
// Everything the engines write lies under its state folder, .dev unless told
// otherwise, so removing that folder after `down` leaves no trace. A proof that
// kills engines brings a state folder of its own.
type Checkout struct {
	Root  string
	State string
	Ports Ports

	mu       sync.Mutex
	progress func(engine, text string)
}

// Open prepares the checkout at root, with its state in .dev or in the folder
// that is given. Progress lines go to progress, which is
// called by one goroutine at a time.
func Open(root, state string, progress func(engine, text string)) (*Checkout, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "dev", "tool")); err != nil {
		return nil, fmt.Errorf("%s is not a checkout of Assay: %w", root, err)
	}
	if state == "" {
		state = filepath.Join(root, ".dev")
	}
	if state, err = filepath.Abs(state); err != nil {
		return nil, err
	}
	c := &Checkout{Root: root, State: state, progress: progress}
	for _, dir := range []string{c.path(), c.path("log"), c.path("pid")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	// The folder ignores itself, so a checkout never shows engine data as changes.
	return c, os.WriteFile(c.path(".gitignore"), []byte("*\n"), 0o644)
}

// path names a file under the state folder.
func (c *Checkout) path(parts ...string) string {
	return filepath.Join(append([]string{c.State}, parts...)...)
}

// LogPath is where the engine's output goes.
func (c *Checkout) LogPath(engine string) string { return c.path("log", engine+".log") }

func (c *Checkout) say(engine, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.progress != nil {
		c.progress(engine, fmt.Sprintf(format, args...))
	}
}

// Lock makes the caller the only one that starts or stops engines of the
// checkout, and waits for its turn. The lock ends with the process at the latest.
func (c *Checkout) Lock() (unlock func(), err error) {
	return flock(c.path("lock"), func() { c.say("", "another engines command is at work in this checkout; waiting for it") })
}

func flock(path string, waiting func()) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		waiting()
		for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}

// tool asks dev/tool for a pinned tool, which it installs when it is missing.
func (c *Checkout) tool(engine, name string) (string, error) {
	cmd := exec.Command(filepath.Join(c.Root, "dev", "tool"), name)
	cmd.Stderr = lineWriter(func(line string) { c.say(engine, "%s", line) })
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("dev/tool %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// cacheDir is the folder that the checkouts of one person share.
func cacheDir() (string, error) {
	if dir := os.Getenv("ASSAY_CACHE"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".cache", "assay"), err
}

// lineWriter passes each full line of what is written to it on.
func lineWriter(each func(line string)) *lines { return &lines{each: each} }

type lines struct {
	rest string
	each func(line string)
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest += string(p)
	for {
		line, rest, found := strings.Cut(l.rest, "\n")
		if !found {
			return len(p), nil
		}
		l.rest = rest
		l.each(line)
	}
}

// writeFile replaces a file whole, so that a reader never sees half of it.
func writeFile(path, content string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	fresh := path + ".new"
	if err := os.WriteFile(fresh, []byte(content), mode); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}
