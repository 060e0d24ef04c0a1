package kind

import (
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/core/fault"
)

// actions are what paths besides those of kinds begin with. Some look like the singular of
// a kind, and none of them names one.
var actions = []string{"ingest", "replay", "simulate", "templates", "policy", "connector", "quality-case", "audit-pack"}

// names are the kinds by everything that they can be called in a path: their names and
// aliases, each in the singular and in the plural.
var names = func() map[string]*Kind {
	out := map[string]*Kind{}
	for i := range Kinds {
		k := &Kinds[i]
		for _, name := range slices.Concat(k.Aliases, []string{string(k.Name)}) {
			singular := strings.TrimSuffix(name, "s")
			out[singular], out[singular+"s"] = k, k
		}
	}
	for _, name := range actions {
		delete(out, name)
	}
	return out
}()

// Find returns the kind that a path names. Case, hyphens and underscores, and singular
// or plural make no difference; what begins the path of an action names no kind.
func Find(name string) (*Kind, bool) {
	k, ok := names[strings.ToLower(strings.ReplaceAll(name, "_", "-"))]
	return k, ok
}

// Nearest is the kind that was probably meant by a name that Find does not know.
func Nearest(name string) (Name, bool) {
	var all []string
	for i := range Kinds {
		all = append(append(all, string(Kinds[i].Name)), Kinds[i].Aliases...)
	}
	near := fault.Nearest(name, all)
	if near == "" {
		return "", false
	}
	return names[near].Name, true
}

// Must returns a kind that exists.
func Must(name Name) *Kind {
	if k := names[string(name)]; k != nil && k.Name == name {
		return k
	}
	panic("kind: there is no kind " + string(name))
}
