package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// check prints the number of modules per licence and returns an error that
// names every module which may not be linked. An exception excuses a missing
// licence file and nothing else.
func check(out io.Writer, modules []module, exceptions map[string]string) error {
	count := map[string]int{}
	var bad []error
	for _, m := range modules {
		found, err := licences(m.Dir)
		if why, ok := exceptions[m.Path+"@"+m.Version]; ok && errors.Is(err, errNoFile) {
			found, err = []string{why}, nil
		}
		if err == nil {
			err = judge(found)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%s %s: %w", m.Path, m.Version, err))
			continue
		}
		count[strings.Join(found, " AND ")]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	for _, name := range names {
		if _, err := fmt.Fprintf(out, "%4d  %s\n", count[name], name); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(out, "%4d  modules\n", len(modules)); err != nil {
		return err
	}
	return errors.Join(bad...)
}

// judge refuses a forbidden licence even beside an allowed one: a person has to
// read what the module means by both.
func judge(found []string) error {
	if len(found) == 0 {
		return errors.New("the licence is not known")
	}
	for _, name := range found {
		if slices.Contains(forbidden, name) {
			return fmt.Errorf("the licence %s is forbidden", name)
		}
	}
	return nil
}

var errNoFile = errors.New("there is no licence file")

// licenceFile is what a module calls its licence.
var licenceFile = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`)

// licences returns the names of the licences whose text is in the folder.
func licences(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("the module's source is not there: %w", err)
	}
	var found []string
	read := false
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		read = true
		found = append(found, recognise(string(text))...)
	}
	if !read {
		return nil, errNoFile
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
