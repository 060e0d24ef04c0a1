package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
)

// Mode is whether a policy takes part in decisions.
type Mode string

// The modes. A policy in shadow is evaluated, and what it would change is reported.
const (
	Enforce Mode = "enforce"
	Shadow  Mode = "shadow"
)

// AppliesTo restricts a policy to some questions. An empty list restricts nothing.
type AppliesTo struct {
	RuntimeKeys   []string
	ConnectorKeys []string
	Environments  []string
}

// Source is a policy as it is stored.
type Source struct {
	Key       string
	Version   int64
	Mode      Mode
	AppliesTo AppliesTo
	Text      string
}

// ErrTooLarge is returned for policies that together exceed the limits of a set.
var ErrTooLarge = errors.New("the policies are too large together")

// Set is policies that decide together. It does not change, and many questions can be
// asked at the same time.
type Set struct {
	digest     string
	sources    []*source
	statements []*statement
	index      index
	looksBack  bool // some policy asks for facts
}

// source is a policy of a set.
type source struct {
	Source
	facts                                map[string]Fact
	runtimes, connectors, environmentSet map[string]bool
}

// statement is a statement of a set.
type statement struct {
	Statement
	source *source
	place  int            // in the set
	id     types.PolicyID // the place as Cedar wants it
}

// Compile makes a set. A text that Parse finds problems in is an error.
func Compile(sources []Source) (*Set, error) {
	if err := Fits(sources); err != nil {
		return nil, err
	}
	sorted := slices.SortedFunc(slices.Values(sources), func(a, b Source) int { return strings.Compare(a.Key, b.Key) })
	s := &Set{digest: digest(sorted)}
	for i, one := range sorted {
		if i > 0 && sorted[i-1].Key == one.Key {
			return nil, fmt.Errorf("the set has policy %q twice", one.Key)
		}
		parsed, problems := Parse(one.Text)
		if len(problems) > 0 {
			return nil, fmt.Errorf("policy %q: %s", one.Key, problems[0])
		}
		src := &source{
			Source: one, facts: parsed.Facts,
			runtimes: setOf(one.AppliesTo.RuntimeKeys), connectors: setOf(one.AppliesTo.ConnectorKeys), environmentSet: setOf(one.AppliesTo.Environments),
		}
		s.sources = append(s.sources, src)
		s.looksBack = s.looksBack || len(src.facts) > 0
		for _, st := range parsed.Statements {
			place := len(s.statements)
			s.statements = append(s.statements, &statement{Statement: st, source: src, place: place, id: types.PolicyID(strconv.Itoa(place))})
		}
	}
	s.index = indexed(s.statements)
	return s, nil
}

// Size is the bytes of a policy: those of its text, and of what it applies to.
func (s Source) Size() int {
	size := len(s.Text)
	for _, keys := range [][]string{s.AppliesTo.RuntimeKeys, s.AppliesTo.ConnectorKeys, s.AppliesTo.Environments} {
		for _, k := range keys {
			size += len(k)
		}
	}
	return size
}

// Fits returns an error that is ErrTooLarge if policies exceed the limits of a set.
func Fits(sources []Source) error {
	size, facts := 0, map[Fact]bool{}
	for _, s := range sources {
		size += s.Size()
		if !strings.Contains(s.Text, "@history") {
			continue
		}
		parsed, _ := Parse(s.Text)
		for _, f := range parsed.Facts {
			facts[f] = true
		}
	}
	if len(sources) > MaxSet || size > MaxSetBytes || len(facts) > MaxSetFacts {
		return fmt.Errorf("%w: %d policies with %d bytes and %d different facts; at most %d with %d bytes and %d facts", ErrTooLarge, len(sources), size, len(facts), MaxSet, MaxSetBytes, MaxSetFacts)
	}
	return nil
}

// Digest names what the set decides by: two sets with one digest decide alike.
func (s *Set) Digest() string { return s.digest }

// digest covers everything that a decision depends on. Every part is preceded by its
// length, so that no two lists of sources look alike.
func digest(sorted []Source) string {
	h := sha256.New()
	put := func(parts ...string) {
		for _, p := range parts {
			fmt.Fprintf(h, "%d:%s", len(p), p)
		}
	}
	list := func(keys []string) {
		keys = slices.Sorted(maps.Keys(setOf(keys)))
		put(strconv.Itoa(len(keys)))
		put(keys...)
	}
	for _, s := range sorted {
		put(s.Key, strconv.FormatInt(s.Version, 10), string(s.Mode), s.Text)
		list(s.AppliesTo.RuntimeKeys)
		list(s.AppliesTo.ConnectorKeys)
		list(s.AppliesTo.Environments)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func setOf(keys []string) map[string]bool {
	out := make(map[string]bool, len(keys))
	for _, k := range keys {
		out[k] = true
	}
	return out
}

// applies reports whether the policy of a statement is about a question. If the question has
// no environment, what restricts holds in all of them: leaving it out is not a way around.
func (s *statement) applies(q *Question) bool {
	in := func(keys map[string]bool, key string) bool { return len(keys) == 0 || keys[key] }
	p := s.source
	return in(p.runtimes, q.RuntimeKey) && in(p.connectors, q.ConnectorKey) &&
		(q.early || in(p.environmentSet, q.Environment) || q.Environment == "" && s.Effect != Permit) &&
		(len(q.Only) == 0 || slices.Contains(q.Only, p.Key))
}

// LooksBack reports whether the answer to a question may depend on facts, whatever the platform
// will find out about the action.
func (s *Set) LooksBack(q Question) bool {
	q.early = true
	return len(s.Facts(q)) > 0
}

// Facts are the facts that the answer to a question depends on, each once.
func (s *Set) Facts(q Question) []Fact {
	if !s.looksBack {
		return nil
	}
	var out []Fact
	seen := map[Fact]bool{}
	for _, one := range q.forms() {
		for _, st := range s.about(&one) {
			for name, f := range st.source.facts {
				if (st.reads.all || st.reads.names[name]) && !seen[f] {
					seen[f] = true
					out = append(out, f)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Fact) int { return strings.Compare(a.String(), b.String()) })
	return out
}
