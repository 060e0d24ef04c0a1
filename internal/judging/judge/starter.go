package judge

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// Starter is a judge of the library, to begin from. It has no model.
type Starter struct {
	Key     string `json:"key"`
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// Needs are the parts of a case that the judge cannot do without.
	Needs []string `json:"needs"`
	// Sources are what the rubric rests on, Limits what it is known to get wrong.
	Sources []string `json:"sources"`
	Limits  []string `json:"limits"`
	Spec    Spec     `json:"spec"`
}

//go:embed starter/*.json
var starterFiles embed.FS

// Starters are the judges of the library, by key.
var Starters = sync.OnceValue(func() []Starter {
	files, err := starterFiles.ReadDir("starter")
	if err != nil {
		panic("judge: " + err.Error()) // the files are part of the program
	}
	var all []Starter
	for _, f := range files {
		text, err := starterFiles.ReadFile("starter/" + f.Name())
		if err != nil {
			panic("judge: " + err.Error())
		}
		var s Starter
		if err := json.Unmarshal(text, &s, json.RejectUnknownMembers(true)); err != nil {
			panic(fmt.Sprintf("judge: starter %s: %v", f.Name(), err))
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Starter) int { return strings.Compare(a.Key, b.Key) })
	return all
})

func starterOf(key string) (Starter, bool) {
	for _, s := range Starters() {
		if s.Key == key {
			return s, true
		}
	}
	return Starter{}, false
}
