package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// scripts have the shells ask the binary itself, so that they never differ from
// its commands.
var scripts = map[string]string{
	"bash": `# bash completion of assay
_assay() {
  local IFS=$'\n'
  COMPREPLY=($(assay complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _assay assay
`,
	"zsh": `#compdef assay
_assay() {
  local -a lines
  lines=(${(f)"$(assay complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null | sed -e 's/:/\\:/g' -e $'s/\t/:/')"})
  if (( ${#lines} )); then _describe assay lines; else _files; fi
}
compdef _assay assay
`,
	"fish": `# fish completion of assay
complete -c assay -a '(assay complete-words -- (commandline -opc)[2..] (commandline -ct))'
`,
}

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
	_, err := fmt.Fprint(e.Out, scripts[c.Shell])
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
	for _, w := range continuations(k.Model.Node, words) {
		fmt.Fprintf(e.Out, "%s\t%s\n", w.word, w.help)
	}
	return nil
}

type continuation struct{ word, help string }

// continuations are the words that the last one can become.
func continuations(at *kong.Node, words []string) (all []continuation) {
	if len(words) == 0 {
		words = []string{""}
	}
	var open *kong.Flag // one whose value comes next
	for _, w := range words[:len(words)-1] {
		switch {
		case open != nil:
			open = nil
		case strings.HasPrefix(w, "-"):
			if f := flag(at, w); f != nil && !f.IsBool() && !strings.Contains(w, "=") {
				open = f
			}
		default:
			if child := command(at, w); child != nil {
				at = child
			}
		}
	}
	last := words[len(words)-1]
	offer := func(word, help string) {
		if strings.HasPrefix(word, last) {
			all = append(all, continuation{word, first(help)})
		}
	}
	switch {
	case open != nil:
		for _, value := range open.EnumSlice() {
			if value != "" {
				offer(value, "")
			}
		}
	case strings.HasPrefix(last, "-"):
		for _, group := range at.AllFlags(true) {
			for _, f := range group {
				offer("--"+f.Name, f.Help)
			}
		}
	default:
		for _, child := range at.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				offer(child.Name, child.Help)
			}
		}
		for _, p := range at.Positional {
			for _, value := range p.EnumSlice() {
				offer(value, "")
			}
		}
	}
	return all
}

// first is the first sentence of a help text.
func first(help string) string {
	sentence, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(sentence, ".")
}

func command(at *kong.Node, name string) *kong.Node {
	for _, child := range at.Children {
		if child.Type == kong.CommandNode && child.Name == name {
			return child
		}
	}
	return nil
}

func flag(at *kong.Node, word string) *kong.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	for _, group := range at.AllFlags(false) {
		for _, f := range group {
			if f.Name == name {
				return f
			}
		}
	}
	return nil
}
