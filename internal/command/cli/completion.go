package cli

import (
	"fmt"

	"github.com/alecthomas/kong"

	"github.com/assayhq/assay/internal/command/cli/completion"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help is the text of --help above the flags.
func (completionCommand) Help() string {
	return `To use it in every new shell:

    assay completion bash > ~/.local/share/bash-completion/completions/assay
    assay completion zsh > "${fpath[1]}/_assay"
    assay completion fish > ~/.config/fish/completions/assay.fish`
}

// Run prints the script.
func (c completionCommand) Run(e *Environment) error {
	_, err := fmt.Fprint(e.Out, completion.Scripts[c.Shell])
	return err
}

type completeCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints how a command line can go on, one word and what it means on a line.
func (c completeCommand) Run(e *Environment, k *kong.Context) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, w := range completion.Words(k.Model.Node, words) {
		fmt.Fprintf(e.Out, "%s\t%s\n", w.Text, w.Help)
	}
	return nil
}
