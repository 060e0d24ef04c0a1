// Command contract holds api/openapi.json against api/changes and against the
// base interface.
//
// It fails when an operation has changed and no change explains it, when an
// operation departs from the base, or when a change breaks clients and has no
// Breaking paragraph. With -explain it writes the change's file instead.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/go-json-experiment/json"
)

const document = "api/openapi.json"

func main() {
	name := flag.String("explain", "", "name of the change to write, such as 2026-11-15-saved-views")
	flag.Parse()
	if err := run(context.Background(), *name); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name string) error {
	doc, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	all, err := readChanges()
	if name != "" {
		return explain(doc, all, name)
	}
	if err != nil {
		return err
	}
	if err := explained(doc, all); err != nil {
		return err
	}
	report, err := conforms(doc)
	if err != nil {
		return err
	}
	fmt.Println(report)
	return argueAll(ctx, doc, all)
}

// recent is how many changes are held against the document before them. Older
// ones were, when they were made.
const recent = 20

// argueAll compares the document with what it was before each recent change
// that does not say that it breaks clients, and looks at the operations that
// this change explains last.
func argueAll(ctx context.Context, doc []byte, all []change) error {
	last := newest(all)
	for _, c := range all[max(0, len(all)-recent):] {
		for op := range c.operations {
			if last[op].name != c.name {
				delete(c.operations, op)
			}
		}
		if len(c.operations) == 0 || c.breaks() {
			continue
		}
		before, err := documentBefore(ctx, c)
		if err != nil {
			return err
		}
		broken, err := breaking(ctx, before, doc)
		if err != nil {
			return err
		}
		if err := argued(broken, c); err != nil {
			return err
		}
	}
	return nil
}

// documentBefore is the document before a change: that of the commit before
// the one that added the change, or the committed one while the change is not.
func documentBefore(ctx context.Context, c change) ([]byte, error) {
	added, err := exec.CommandContext(ctx, "git", "log", "--format=%H", "--diff-filter=A", "-n", "1", "--", changes+"/"+c.name).Output()
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	at := "HEAD"
	if commit := strings.TrimSpace(string(added)); commit != "" {
		at = commit + "^"
	}
	before, err := exec.CommandContext(ctx, "git", "show", at+":"+document).Output()
	if err != nil {
		return nil, fmt.Errorf("read the document before %s (at %s): %w", c.name, at, err)
	}
	return before, nil
}

// breach is a change of an operation that breaks clients.
type breach struct{ operation, text string }

// breaking lists the changes that break clients.
func breaking(ctx context.Context, before, after []byte) ([]breach, error) {
	tool, err := exec.CommandContext(ctx, "dev/tool", "oasdiff").Output()
	if err != nil {
		return nil, fmt.Errorf("install oasdiff: %w", err)
	}
	dir, err := os.MkdirTemp("", "contract-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, text := range map[string][]byte{"before.json": before, "after.json": after} {
		if err := os.WriteFile(dir+"/"+name, text, 0o600); err != nil {
			return nil, err
		}
	}
	out, err := exec.CommandContext(ctx, strings.TrimSpace(string(tool)), "breaking", "--format", "json", dir+"/before.json", dir+"/after.json").Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return nil, fmt.Errorf("oasdiff: %w", err)
	}
	var found []struct {
		Text      string `json:"text"`
		Operation string `json:"operation"`
		Path      string `json:"path"`
		Level     int    `json:"level"`
	}
	if len(strings.TrimSpace(string(out))) > 0 {
		if err := json.Unmarshal(out, &found); err != nil {
			return nil, fmt.Errorf("read oasdiff's answer: %w", err)
		}
	}
	const certain = 3
	var list []breach
	for _, c := range found {
		if c.Level >= certain {
			list = append(list, breach{c.Operation + " " + c.Path, c.Text})
		}
	}
	return list, nil
}
