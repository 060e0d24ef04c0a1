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
	e.Title, e.Summary = short(cmp.Or(e.Title, one(r.Kind))), short(e.Summary)
	return e
}

// status is where the record is in the life of its kind.
func status(r *Record) string {
	if r.Kind == explanations {
		return cmp.Or(r.Values.Text("score_label"), string(r.Values["score_value"]))
	}
	k, ok := kind.Find(string(r.Kind))
	if !ok || k.Lifecycle == "" {
		return ""
	}
	return cmp.Or(r.Values.Text(k.Lifecycle), k.Initial)
}

// one names a single record of a kind.
func one(name kind.Name) string {
	if k, ok := kind.Find(string(name)); ok {
		return k.One
	}
	return string(name)
}

// words are the title of a record, and what there is to say about it in a line.
func words(r *Record) (title, summary string) {
	v := r.Values
	switch r.Kind {
	case steps:
		model := v.Within("model")
		return cmp.Or(v.Text("name"), v.Text("primitive_type")), list(different(v.Text("primitive_type"), v.Text("name")), cmp.Or(model.Text("response"), model.Text("request")), message(r))
	case calls:
		return v.Text("tool_name"), list(v.Text("connector_key"), v.Text("side_effect_class"), message(r))
	case decisions:
		return "", list(v.Text("engine"), elsewhere(r), reason(r))
	case approvals:
		return v.Text("title"), v.Text("reason")
	case ledger:
		target := v.Within("target")
		return strings.TrimSpace(v.Text("operation") + " " + path(target.Text("system"), target.Text("type"), target.Text("id"))), list(v.Text("side_effect_class"), v.Text("reversibility"))
	case failures:
		return cmp.Or(v.Text("title"), v.Text("failure_mode")), list(v.Text("severity"), different(v.Text("failure_mode"), cmp.Or(v.Text("title"), v.Text("failure_mode"))), v.Text("description"))
	case explanations:
		return v.Text("evaluation_name"), v.Text("explanation")
	case events:
		return cmp.Or(v.Text("type"), v.Text("format")), v.Text("source")
	}
	return other(r)
}

// other are the words of kinds that seldom belong to a trace.
func other(r *Record) (title, summary string) {
	v := r.Values
	key := ""
	if k, ok := kind.Find(string(r.Kind)); ok {
		key = v.Text(k.KeyField)
	}
	return cmp.Or(v.Text("title"), v.Text("name"), key), list(v.Text("mode"), v.Text("verdict"), message(r))
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
	e := r.Values.Within("error")
	return cmp.Or(e.Text("message"), e.Text("type"))
}

// reason is the first reason of a decision.
func reason(d *Record) string {
	for _, r := range objects(d.Values, "reasons") {
		if text := cmp.Or(r.Text("message"), r.Text("code")); text != "" {
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
	for _, field := range []string{"ended_at", "completed_at", "decided_at"} {
		if at := r.Values.Time(field); !at.IsZero() {
			return &at
		}
	}
	began := r.Values.Time("started_at")
	if began.IsZero() {
		began = r.At
	}
	for _, field := range []string{"duration_ms", "latency_ms"} {
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
