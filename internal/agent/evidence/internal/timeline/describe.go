package timeline

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// describe is a record as an entry, without its place.
func describe(r *Record) Entry {
	e := Entry{Resource: r.Kind, ID: r.ID, At: r.At, EndedAt: ended(r), Span: r.Span, Origin: r.Origin}
	e.Status = status(r)
	e.Title, e.Summary = words(r)
	e.Title, e.Summary = short(cmp.Or(e.Title, kindOf(r).One)), short(e.Summary)
	return e
}

// status is where the record is in the life of its kind.
func status(r *Record) string {
	if r.Kind == explanations {
		return cmp.Or(r.Values.ScoreLabel(), string(r.Values[kind.FieldScoreValue]))
	}
	k := kindOf(r)
	return cmp.Or(r.Values.Text(k.Lifecycle), k.Initial)
}

// kindOf is the kind of a record. One that is not known has a name and no fields.
func kindOf(r *Record) *kind.Kind {
	if k, ok := kind.Find(string(r.Kind)); ok {
		return k
	}
	return &kind.Kind{One: string(r.Kind)}
}

// words are the title of a record, and what there is to say about it in a line.
func words(r *Record) (title, summary string) {
	v := r.Values
	switch r.Kind {
	case steps:
		model := v.Model()
		return cmp.Or(v.Name(), v.PrimitiveType()), list(different(v.PrimitiveType(), v.Name()), cmp.Or(model.Response(), model.Text(kind.FieldRequest)), message(r))
	case calls:
		return v.ToolName(), list(v.ConnectorKey(), v.SideEffectClass(), message(r))
	case decisions:
		return "", list(v.Engine(), elsewhere(r), reason(r))
	case approvals:
		return v.Title(), v.Reason()
	case ledger:
		target := v.Target()
		return strings.TrimSpace(v.Operation() + " " + path(target.System(), target.Type(), target.Text(kind.FieldID))), list(v.SideEffectClass(), v.Reversibility())
	case failures:
		return cmp.Or(v.Title(), v.FailureMode()), list(v.Severity(), different(v.FailureMode(), cmp.Or(v.Title(), v.FailureMode())), v.Description())
	case explanations:
		return v.EvaluationName(), v.Explanation()
	case events:
		return cmp.Or(v.Type(), v.Format()), v.Text(kind.FieldSource)
	}
	return other(r)
}

// other are the words of kinds that seldom belong to a trace.
func other(r *Record) (title, summary string) {
	v := r.Values
	return cmp.Or(v.Title(), v.Name(), v.Text(kindOf(r).KeyField)), list(v.Mode(), v.Verdict(), message(r))
}

// list joins what there is.
func list(parts ...string) string { return join(", ", parts) }

func path(parts ...string) string { return join("/", parts) }

func join(by string, parts []string) string {
	var have []string
	for _, p := range parts {
		if p != "" {
			have = append(have, p)
		}
	}
	return strings.Join(have, by)
}

// different is a text, or nothing if it is the other one.
func different(text, other string) string {
	if text == other {
		return ""
	}
	return text
}

// message is why something failed.
func message(r *Record) string {
	e := r.Values.Error()
	return cmp.Or(e.Message(), e.Type())
}

// reason is the first reason of a decision.
func reason(d *Record) string {
	for _, r := range d.Values.Reasons() {
		if text := cmp.Or(r.Message(), r.Code()); text != "" {
			return text
		}
	}
	return ""
}

// maxWords is what fits into a few lines; the record itself has the rest.
const maxWords = 300

// short cuts a text.
func short(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxWords {
			return text[:i] + "…"
		}
	}
	return text
}

// ended is when something ended, nil if it has not or that is not known.
func ended(r *Record) *time.Time {
	for _, field := range []string{kind.FieldEndedAt, kind.FieldCompletedAt, kind.FieldDecidedAt} {
		if at := r.Values.Time(field); !at.IsZero() {
			return &at
		}
	}
	began := r.Values.StartedAt()
	if began.IsZero() {
		began = r.At
	}
	for _, field := range []string{kind.FieldDurationMs, kind.FieldLatencyMs} {
		ms, err := strconv.ParseFloat(string(r.Values[field]), 64)
		if err == nil && ms >= 0 && ms < maxDuration && !began.IsZero() {
			at := began.Add(time.Duration(ms * float64(time.Millisecond)))
			return &at
		}
	}
	return nil
}

// maxDuration is a hundred years in milliseconds; what is longer was not measured.
const maxDuration = 100 * 365 * 24 * 3600 * 1000
