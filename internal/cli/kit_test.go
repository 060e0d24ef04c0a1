package cli_test

import (
	"bytes"
	"context"

	"github.com/alecthomas/kong"

	"github.com/assayhq/assay/internal/cli"
)

// result is what a command leaves behind.
type result struct {
	Code     int
	Out, Err string
}

// run runs a command in the given environment, and in no other.
func run(environ []string, args ...string) result {
	var out, errOut bytes.Buffer
	var commands struct{ cli.Commands }
	code := cli.Execute(&commands, args, &out, &errOut, func(k *kong.Context) error {
		return k.Run(&cli.Environment{Context: context.Background(), Environ: environ, Out: &out, ErrOut: &errOut})
	}, kong.ExplicitGroups([]kong.Group{{Key: "use", Title: "Commands:"}}))
	return result{code, out.String(), errOut.String()}
}
