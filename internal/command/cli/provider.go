package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type providerCommand struct {
	List   providerListCommand   `cmd:"" help:"List provider keys."`
	Show   providerShowCommand   `cmd:"" help:"Show a provider key, without its secret."`
	Create providerCreateCommand `cmd:"" help:"Store the key of a model provider or an application. The secret is read from standard input."`
	Test   providerTestCommand   `cmd:"" help:"Call the provider once with a key."`
	Delete providerDeleteCommand `cmd:"" help:"Delete a provider key."`
}

type providerListCommand struct {
	remote
	listFlags
}

// Run prints the list.
func (c providerListCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c providerListCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	var list api.ProviderKeyList
	raw, err := from.Call(func(k api.Client) (err error) {
		list, err = k.ListProviderKeys(e.Context, c.query())
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	out := terminal.List{
		Heads: []string{"NAME", "ID", "PROVIDER", "SECRET", "STATUS", "LAST USED"}, Right: map[int]bool{1: true},
		Empty: "There are no provider keys. Store one with `assay provider create NAME --provider openai`. The provider simulated needs none.", Notes: more(list.HasMore),
	}
	for _, p := range list.ProviderKeys {
		out.Rows = append(out.Rows, []string{p.Name, strconv.FormatInt(p.ID, 10), p.Provider, "…" + p.Last4, p.Status, terminal.Moment(api.Value(p.LastUsedAt))})
	}
	return terminal.Detect(e.Out, e.Environ).List(e.Out, out)
}

// providerArg names a provider key.
type providerArg struct {
	Key string `arg:"" help:"ID or name of the provider key."`
	remote
}

// find returns the provider key, and as the server wrote it.
func (a providerArg) find(e *Environment) (from *client.Client, found api.ProviderKey, raw jsontext.Value, err error) {
	if from, err = a.client(e); err == nil {
		found, raw, err = from.FindProviderKey(e.Context, a.Key)
	}
	return from, found, raw, err
}

type providerShowCommand struct {
	providerArg
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

// Run prints the key.
func (c providerShowCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c providerShowCommand) run(e *Environment) error {
	_, p, raw, err := c.find(e)
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	return printProvider(e, p)
}

func printProvider(e *Environment, p api.ProviderKey) error {
	id := strconv.FormatInt(p.ID, 10)
	return terminal.Detect(e.Out, e.Environ).Sheet(e.Out, terminal.Sheet{Name: p.Name, Kind: "provider key " + id, Facts: []terminal.Fact{
		{Name: "provider", Value: p.Provider},
		{Name: "base URL", Value: p.BaseURL},
		{Name: "models", Value: joined(p.Models)},
		{Name: "secret", Value: "…" + p.Last4},
		{Name: "status", Value: p.Status},
		{Name: "created", Value: terminal.Moment(p.CreatedAt)},
		{Name: "last used", Value: terminal.Moment(api.Value(p.LastUsedAt))},
	}, Notes: []string{"assay provider test " + id}})
}

type providerCreateCommand struct {
	Name string `arg:"" help:"Name of the key."`
	remote
	Provider string   `required:"" help:"Provider, such as openai or anthropic; openai_compatible for others." placeholder:"NAME"`
	BaseURL  string   `name:"base-url" help:"Base URL, for a provider that is not the usual one." placeholder:"URL"`
	Models   []string `help:"Models that the key may be used for (default: all)." placeholder:"MODEL"`
	JSON     bool     `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (providerCreateCommand) Help() string {
	return `The secret is read from standard input, so that it is neither in the history of the shell nor in the list of processes:

    assay provider create openai --provider openai < key.txt

The server stores it encrypted and needs ASSAY_SECRET_MASTER_KEY.

` + codes + `

The key needs the scope admin:org.`
}

// Run stores the key.
func (c providerCreateCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c providerCreateCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	secret, err := readSecret(e, "Secret of the provider: ")
	if err != nil {
		return err
	}
	var made api.ProviderKey
	raw, err := from.Call(func(k api.Client) (err error) {
		made, err = k.CreateProviderKey(e.Context, api.CreateProviderKey{Name: c.Name, Provider: c.Provider, BaseURL: text(c.BaseURL), Models: c.Models, Secret: secret})
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	return printProvider(e, made)
}

// maxSecret is longer than any key.
const maxSecret = 16 << 10

// readSecret reads one line from standard input. A terminal does not show it.
func readSecret(e *Environment, prompt string) (string, error) {
	in := e.stdin()
	if f, ok := in.(*os.File); ok {
		if restore, hidden := terminal.Hide(f); hidden {
			defer fmt.Fprintln(e.ErrOut)
			defer restore()
			fmt.Fprint(e.ErrOut, prompt)
		}
	}
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := bufio.NewReader(io.LimitReader(in, maxSecret)).ReadString('\n')
		done <- read{strings.TrimSpace(line), err}
	}()
	select {
	case <-e.Context.Done():
		return "", &ExitError{exitUnknown, errors.New("interrupted: nothing is stored")}
	case r := <-done:
		if r.line != "" {
			return r.line, nil
		}
		if r.err == nil || errors.Is(r.err, io.EOF) {
			r.err = errors.New("standard input is empty")
		}
		return "", mistake("nothing could be read: %w; write it to standard input, such as with < key.txt", r.err)
	}
}

type providerTestCommand struct {
	providerArg
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

// Run calls the provider.
func (c providerTestCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c providerTestCommand) run(e *Environment) error {
	from, p, _, err := c.find(e)
	if err != nil {
		return err
	}
	var tested api.ProviderKeyTest
	raw, err := from.Call(func(k api.Client) (err error) {
		tested, err = k.TestProviderKey(e.Context, strconv.FormatInt(p.ID, 10))
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		err = printJSON(e, raw)
	case tested.OK:
		fmt.Fprintf(e.Out, "%s works: it answered after %.0f ms\n", terminal.Text(p.Name), tested.LatencyMs)
	default:
		fmt.Fprintf(e.Out, "%s does not work: %s\n", terminal.Text(p.Name), terminal.Text(tested.Message))
	}
	if err == nil && !tested.OK {
		err = &ExitError{Code: exitFailed}
	}
	return err
}

type providerDeleteCommand struct {
	providerArg
	Yes bool `help:"Confirmation: evaluations that use the key fail from then on."`
}

// Run deletes the key.
func (c providerDeleteCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c providerDeleteCommand) run(e *Environment) error {
	from, p, _, err := c.find(e)
	if err != nil {
		return err
	}
	if !c.Yes {
		return mistake("provider key %d %q would be deleted: repeat with --yes", p.ID, terminal.Text(p.Name))
	}
	if _, err := from.Call(func(k api.Client) error {
		_, err := k.DeleteProviderKey(e.Context, strconv.FormatInt(p.ID, 10))
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "provider key %d %q is deleted\n", p.ID, terminal.Text(p.Name))
	return nil
}
