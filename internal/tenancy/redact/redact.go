// Package redact removes secrets and personal numbers from texts and JSON
// documents: a built-in set always, and what an organization asks for. It is
// made for the path of telemetry, where nearly every text is clean and must
// cost one quick look.
package redact

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rule is one organization's rule: the values of a key are removed, or
// the text that matches a pattern of the RE2 syntax. Exactly one of Key and
// Pattern is set.
type Rule struct{ Name, Key, Pattern string }

// Redactor removes secrets and personal numbers before a span is stored: the
// built-in set always, then what one organization asks for. It is compiled once
// and safe for concurrent use.
//
// Text in which nothing is found costs one pass over it and no allocation.
type Redactor struct {
	texts    *redactTable // what the pass over text looks for
	docs     *redactTable // the same, and the names of secret members
	keys     []keyRule
	patterns []redactPattern
	always   bool // some pattern has to run on every text
	steps    int  // of all patterns
	stop     func() error
}

// What an organization's rules may take together, so that a process can hold
// those of many.
const (
	// MaxRules is how many there may be.
	MaxRules = 50
	// maxSteps is how large a pattern may be, and maxAllSteps how large all of
	// them together.
	maxSteps    = 1000
	maxAllSteps = 5000
)

// Why a rule is refused.
var (
	errNoName = errors.New("has no name, which is what readers see in place of the text")
	errEither = errors.New("requires either key or pattern")
	errSteps  = fmt.Errorf("is a regular expression of more than %d steps once its repetitions are written out: use smaller repetitions", maxSteps)
	errAll    = fmt.Errorf("makes the patterns larger than %d steps together: use fewer or simpler ones", maxAllSteps)
	errMany   = fmt.Errorf("is one of more than %d rules: combine some", MaxRules)
)

// RuleError is a rule that is refused, and why.
type RuleError struct {
	Rule int // its place
	Err  error
}

func (e *RuleError) Error() string { return fmt.Sprintf("redaction rule %d %s", e.Rule+1, e.Err) }
func (e *RuleError) Unwrap() error { return e.Err }

// New compiles an organization's rules; without any, the built-in set
// is what remains. Its error is a RuleError.
func New(rules []Rule) (*Redactor, error) {
	r := &Redactor{texts: redactTexts(), docs: redactDocs()}
	for i, rule := range rules {
		if err := r.add(rule); err != nil {
			return nil, &RuleError{i, err}
		}
		if len(r.keys)+len(r.patterns) > MaxRules {
			return nil, &RuleError{i, errMany}
		}
	}
	return r, nil
}

func (r *Redactor) add(rule Rule) error {
	mark := redactMark(rule.Name)
	switch {
	case rule.Name == "":
		return errNoName
	case (rule.Key == "") == (rule.Pattern == ""):
		return errEither
	case rule.Key != "":
		r.keys = append(r.keys, newRedactKeyRule(mark, rule.Key))
		return nil
	}
	p, err := newRedactPattern(mark, rule.Pattern)
	if err != nil {
		return err
	}
	if r.steps += p.re.Steps(); r.steps > maxAllSteps {
		return errAll
	}
	r.patterns = append(r.patterns, p)
	r.always = r.always || len(p.needles) == 0
	return nil
}

// Steps is how large the organization's patterns are together.
func (r *Redactor) Steps() int { return r.steps }

// Until returns a redactor that asks stop between pieces of work with patterns.
// After an error of stop, texts are not redacted and must not be used.
func (r *Redactor) Until(stop func() error) *Redactor {
	u := *r
	u.stop = stop
	return &u
}

// redactMark is what stands where something was removed. It never holds what
// would need escaping in JSON, nor a bracket that would end it early.
func redactMark(name string) string {
	plain := strings.Map(func(c rune) rune {
		if c == utf8.RuneError || !unicode.IsPrint(c) || strings.ContainsRune(`"\[]`, c) {
			return '_'
		}
		return c
	}, name)
	return "[redacted:" + plain + "]"
}

// redactSpan is a piece of text to remove, and what to put there.
type redactSpan struct {
	from, to int
	mark     string
}

// passes bounds how often a changed text is looked at again.
const passes = 4

// Text returns v itself when nothing in it has to go. Otherwise it returns the
// redacted text, written over scratch, and true. scratch must not overlap v.
//
// Every rule sees the text as it was sent; overlapping finds are removed as
// one. Removing may bare a built-in secret that its neighbours hid, so what was
// changed is looked at again.
func (r *Redactor) Text(scratch, v []byte) (out []byte, changed bool) {
	var few [8]redactSpan
	spans := r.patternSpans(few[:0], v)
	spans = r.builtinSpans(spans, v)
	if len(spans) == 0 {
		return v, false
	}
	out = redactReplace(scratch[:0], v, spans)
	for range passes - 1 {
		if spans = r.builtinSpans(spans[:0], out); len(spans) == 0 {
			break
		}
		out = redactReplace(nil, out, spans)
	}
	return out, true
}

// builtinSpans appends what the built-in set finds in v.
func (r *Redactor) builtinSpans(spans []redactSpan, v []byte) []redactSpan {
	for at := 0; ; {
		s, ok := r.texts.next(v, at, false)
		if !ok {
			return spans
		}
		spans = append(spans, s)
		at = s.to
	}
}

// redactReplace appends v to dst with every span replaced by its mark. Spans
// that overlap become one, which bears the mark of the first and longest.
func redactReplace(dst, v []byte, spans []redactSpan) []byte {
	slices.SortFunc(spans, func(a, b redactSpan) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	at := 0
	for i := 0; i < len(spans); {
		s := spans[i]
		for i++; i < len(spans) && spans[i].from < s.to; i++ {
			s.to = max(s.to, spans[i].to)
		}
		dst = append(dst, v[at:s.from]...)
		dst = append(dst, s.mark...)
		at = s.to
	}
	return append(dst, v[at:]...)
}
