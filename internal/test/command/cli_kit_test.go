package command_test

import (
	"bytes"
	"context"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/assayhq/assay/internal/command/cli"
)

// result is what a command leaves behind.
type result struct {
	Code     int
	Out, Err string
}

// run runs a command in the given environment, and in no other.
func run(environ []string, args ...string) result { return runWith(environ, "", args...) }

// runWith runs a command with something on its standard input.
func runWith(environ []string, input string, args ...string) result {
	var out, errOut bytes.Buffer
	var commands struct{ cli.Commands }
	code := cli.Execute(&commands, args, &out, &errOut, func(k *kong.Context) error {
		return k.Run(&cli.Environment{Context: context.Background(), Environ: environ, In: strings.NewReader(input), Out: &out, ErrOut: &errOut})
	}, kong.ExplicitGroups([]kong.Group{{Key: "use", Title: "Commands:"}}))
	return result{code, out.String(), errOut.String()}
}
