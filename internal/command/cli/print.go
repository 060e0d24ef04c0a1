package cli

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/terminal"
	"github.com/assayhq/assay/internal/core/fault"
)

// text is what a flag gives, nil without the flag.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// printJSON prints a document. Its texts may hold what GitHub's runner takes for
// a command; an escape says the same to whoever reads JSON.
func printJSON(e *Environment, raw jsontext.Value) error {
	if err := raw.Indent(jsontext.WithIndent("  ")); err != nil {
		return err
	}
	_, err := fmt.Fprintln(e.Out, strings.ReplaceAll(terminal.JSON(raw), "##[", `\u0023#[`))
	return err
}

// listFlags are those of every list.
type listFlags struct {
	Limit int  `default:"20" help:"Largest number of entries (default: 20)." placeholder:"N"`
	JSON  bool `name:"json" help:"JSON output, as returned by the API."`
}

// more says that a list has more than was shown.
func more(has bool) []string {
	if !has {
		return nil
	}
	return []string{"There are more: use --limit."}
}

// orJSON prints a document unless there is an error.
func orJSON(e *Environment, raw []byte, err error) error {
	if err != nil {
		return err
	}
	return printJSON(e, raw)
}

func joined(names []string) string { return strings.Join(names, ", ") }

// meant says which name was probably meant, or what to do.
func meant(name string, all []string, otherwise string) string {
	if near := fault.Nearest(name, all); near != "" {
		return ": did you mean " + near + "?"
	}
	return ": " + otherwise
}

// codes are the exit codes of commands that read and write.
const codes = "Exit codes: 0 done, 2 a mistake in the command line, a name or the key, 3 no response."

// empty says that a list has nothing, and what to do.
func empty(noun, search, create string) string {
	if search != "" {
		return fmt.Sprintf("The name of no %s contains %q.", noun, search)
	}
	return fmt.Sprintf("There is no %s yet. Create one with `assay %s create %s`.", noun, noun, create)
}

// integer is a number that may be null.
func integer(n *int64) string {
	if n == nil {
		return ""
	}
	return terminal.Number(int(*n))
}
