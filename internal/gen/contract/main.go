// Command contract holds api/openapi.json against api/CHANGELOG.md, against the
// base interface and against the document that was committed before it.
//
// It fails when the contract has changed and the newest entry of the changelog
// does not name the new one, when an operation departs from the base, or when
// the change breaks clients and the entry has no Breaking paragraph.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

const (
	document  = "api/openapi.json"
	changelog = "api/CHANGELOG.md"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	doc, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	log, err := os.ReadFile(changelog)
	if err != nil {
		return err
	}
	if err := named(doc, string(log)); err != nil {
		return err
	}
	report, err := conforms(doc)
	if err != nil {
		return err
	}
	fmt.Println(report)
	before, err := previous(ctx, doc)
	if err != nil || before == nil {
		return err
	}
	broken, err := breaking(ctx, before, doc)
	if err != nil {
		return err
	}
	return argued(broken, string(log))
}

// named fails unless the newest entry names the document's contract.
func named(doc []byte, log string) error {
	name, err := fingerprint(doc)
	if err != nil {
		return err
	}
	if !strings.Contains(newest(log), "Contract: "+name) {
		return fmt.Errorf("the contract is %s and the newest entry of %s names another: describe the change in an entry with the line\n  Contract: %s", name, changelog, name)
	}
	return nil
}

// argued fails if there are breaking changes and the newest entry is silent
// about them.
func argued(broken []string, log string) error {
	if len(broken) == 0 || strings.Contains(newest(log), "**Breaking**") {
		return nil
	}
	return fmt.Errorf("the change breaks clients:\n  %s\nTake it back, or add a **Breaking** paragraph to the newest entry of %s that says what clients have to do", strings.Join(broken, "\n  "), changelog)
}

// newest is the first entry of the changelog.
func newest(log string) string {
	_, rest, _ := strings.Cut(log, "\n## ")
	entry, _, _ := strings.Cut(rest, "\n## ")
	return entry
}

// fingerprint names a contract: every operation with its contract hash.
func fingerprint(doc []byte) (string, error) {
	var d struct {
		Paths map[string]map[string]struct {
			Hash string `json:"x-contract-hash"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		return "", fmt.Errorf("read %s: %w", document, err)
	}
	var lines []string
	for path, item := range d.Paths {
		for method, op := range item {
			lines = append(lines, method+" "+path+" "+op.Hash)
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])[:16], nil
}

// previous is the document as it was committed before the one at hand, or nil
// if there is none: the newest committed one that differs.
func previous(ctx context.Context, doc []byte) ([]byte, error) {
	commits, err := exec.CommandContext(ctx, "git", "log", "--format=%H", "-n", "20", "--", document).Output()
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	for commit := range strings.FieldsSeq(string(commits)) {
		before, err := exec.CommandContext(ctx, "git", "show", commit+":"+document).Output()
		if err == nil && string(before) != string(doc) {
			return before, nil
		}
	}
	return nil, nil
}

// breaking lists the changes that break clients.
func breaking(ctx context.Context, before, after []byte) ([]string, error) {
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
	var changes []struct {
		Text      string `json:"text"`
		Operation string `json:"operation"`
		Path      string `json:"path"`
		Level     int    `json:"level"`
	}
	if len(strings.TrimSpace(string(out))) > 0 {
		if err := json.Unmarshal(out, &changes); err != nil {
			return nil, fmt.Errorf("read oasdiff's answer: %w", err)
		}
	}
	const certain = 3
	var list []string
	for _, c := range changes {
		if c.Level >= certain {
			list = append(list, c.Operation+" "+c.Path+": "+c.Text)
		}
	}
	return list, nil
}
