// Package devenv finds the development engines that `make up` started.
package devenv

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Get returns an address of the engines: from the environment, or from the
// file that `make up` writes. A missing engine is an error, never a skip.
func Get(name string) (string, error) {
	if v := os.Getenv(name); v != "" {
		return v, nil
	}
	values, err := read()
	if err != nil {
		return "", err
	}
	v, ok := values[name]
	if !ok {
		return "", fmt.Errorf("%s is not set: run `make up`", name)
	}
	return v, nil
}

var read = sync.OnceValues(func() (map[string]string, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(root, ".dev", "env"))
	if err != nil {
		return nil, fmt.Errorf("the engines are not running: run `make up` (%w)", err)
	}
	defer func() { _ = f.Close() }()
	out := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if k, v, ok := strings.Cut(lines.Text(), "="); ok {
			out[k] = strings.Trim(v, `'"`)
		}
	}
	return out, lines.Err()
})

// Root is the checkout that the working directory is in.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "sqlc.yaml")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("not inside a checkout of the project")
		}
		dir = parent
	}
}
