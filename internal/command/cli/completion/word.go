package completion

import (
	"strings"

	"github.com/alecthomas/kong"
)

// Word is one that a command line can go on with, and what it means.
type Word struct{ Text, Help string }

// Words are those that the last one can become.
func Words(at *kong.Node, words []string) (all []Word) {
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
			all = append(all, Word{word, first(help)})
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
