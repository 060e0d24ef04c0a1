// Command licences checks the licence of every module that is linked into the
// binary. It prints how many modules carry which licence, writes nothing, and
// fails with the names of the modules whose licence is missing, unknown or one
// that would bind the users of the binary.
//
//	go run ./internal/tool/gen/licences [package ...]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	packages := os.Args[1:]
	if len(packages) == 0 {
		packages = []string{"./cmd/assay"}
	}
	if err := run(os.Stdout, packages); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, packages []string) error {
	modules, err := linked(packages)
	if err != nil {
		return err
	}
	return check(out, modules, argued)
}

// module is one dependency and the folder of its source.
type module struct {
	Path    string
	Version string
	Dir     string
	Main    bool
	Replace *module
}

// linked returns the modules whose packages are built into the given ones.
func linked(packages []string) ([]module, error) {
	args := append([]string{"list", "-deps", "-json=Module", "--"}, packages...)
	cmd := exec.Command("go", args...)
	var words bytes.Buffer
	cmd.Stderr = &words
	listing, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the modules of %s: %w\n%s", strings.Join(packages, " "), err, words.String())
	}
	var modules []module
	seen := map[string]bool{}
	for d := json.NewDecoder(bytes.NewReader(listing)); ; {
		var p struct{ Module *module }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read the list of modules: %w", err)
		}
		m := p.Module
		if m == nil || m.Main || seen[m.Path] {
			continue // the standard library has Go's licence, and we have ours
		}
		seen[m.Path] = true
		if m.Dir == "" && m.Replace != nil {
			m.Dir = m.Replace.Dir
		}
		modules = append(modules, *m)
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}
