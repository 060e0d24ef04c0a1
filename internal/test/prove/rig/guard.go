package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Guard is what a control removes from the product. The text of the product is
// changed for one build of a proof only: the product itself has no code that
// could do any of this.
type Guard struct {
	Name string
	// In is the declaration that the guard is in: see find. Instead replaces the text,
	// which stands there once, and asks sabotage(Name) whether the guard is removed.
	In, Text, Instead string
}

// ErrUnnoticed is what a control says that was not caught.
var ErrUnnoticed = errors.New("the guard was removed and nothing was noticed: the proof proves nothing")

// Chosen are the controls that names asks for: all, none, or some by their names
// with commas between.
func Chosen[C any](controls []C, name func(C) string, names string) ([]C, error) {
	switch names {
	case "all":
		return controls, nil
	case "none":
		return nil, nil
	}
	var chosen []C
	for wanted := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(controls, func(c C) bool { return name(c) == wanted })
		if i < 0 {
			return nil, fmt.Errorf("there is no control %q", wanted)
		}
		chosen = append(chosen, controls[i])
	}
	return chosen, nil
}

const sabotage = `package %s

import "os"

func sabotage(name string) bool { return os.Getenv("ASSAY_DEV_SABOTAGE") == name }
%s`

// Removable are the files of the product below root with every guard removable, by their
// path. Each package with a guard gets a file that asks whether the guard is
// removed; more is what else the guards of a package call. A guard that is not
// where it is expected is an error: the control would remove nothing.
func Removable(root string, guards []Guard, more map[string]string) (map[string]string, error) {
	sources := map[string]string{}
	read := func(file string) (string, error) {
		if source, changed := sources[file]; changed {
			return source, nil
		}
		source, err := os.ReadFile(file)
		return string(source), err
	}
	for _, g := range guards {
		d, err := find(root, g.In, read)
		if err != nil {
			return nil, fmt.Errorf("control %s: %w", g.Name, err)
		}
		if n := strings.Count(d.text(), g.Text); n != 1 {
			return nil, fmt.Errorf("control %s: the guard is %d times in %s of %s: adapt the control to\n%s", g.Name, n, g.In, d.file, g.Text)
		}
		sources[d.file] = d.with(strings.Replace(d.text(), g.Text, g.Instead, 1))
		dir := path.Dir(d.file)
		sources[dir+"/sabotage.go"] = fmt.Sprintf(sabotage, path.Base(dir), more[path.Base(dir)])
	}
	return sources, nil
}

// Build builds the application with other sources for some of its files.
func (s *System) Build(ctx context.Context, sources map[string]string, name string) (binary string, err error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, source := range sources {
		changed := filepath.Join(s.State, "sabotaged", file)
		if err := os.MkdirAll(filepath.Dir(changed), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(changed, []byte(source), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = changed
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay, binary := filepath.Join(s.State, "overlay.json"), filepath.Join(root, "bin", name)
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	// Faults may be under way meanwhile, and go first.
	cmd := exec.CommandContext(ctx, "nice", "go", "build", "-trimpath", "-tags", "failpoints", "-overlay", overlay, "-o", binary, "./cmd/assay")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build without guards: %w\n%s", err, out)
	}
	return binary, nil
}

// Unguarded is the application with its guards removable. It is built while a
// proof takes its time.
type Unguarded struct {
	binary string
	err    error
	built  chan struct{}
}

// BuildUnguarded begins to build the application under a name, with guards removable:
// see Removable.
func (s *System) BuildUnguarded(ctx context.Context, sources map[string]string, name string) *Unguarded {
	u := &Unguarded{built: make(chan struct{})}
	go func() {
		defer close(u.built)
		u.binary, u.err = s.Build(ctx, sources, name)
	}()
	return u
}

// Binary waits until the application is built.
func (u *Unguarded) Binary() (string, error) {
	<-u.built
	return u.binary, u.err
}
