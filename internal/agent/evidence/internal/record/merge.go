package record

import (
	"bytes"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// MaxSize is what a record has at most when reports and changes add to it: twice what one of
// them can have. Whoever reads the record, or decides by it, reads all of it.
const MaxSize = 2 * kind.MaxBody

// MaxRequesters is how many different callers may ask for an action that needs an approval.
// Whoever comes later is refused: somebody who is not remembered could approve it.
const MaxRequesters = 1000

// Merge adds a later report to a record: what it says replaces what was there, unless it
// only fills what is missing, and reports whether that says anything new. The state changes
// only as the table of moves has it.
func Merge(before, report Record, fills bool) (after Record, news bool) {
	state := report.State()
	after = before
	after.Values = maps.Clone(before.Values)
	for name, value := range report.Values {
		was := before.Values[name]
		switch {
		case fills && was != nil && name == kind.FieldAttributes:
			if more, had := report.Values.Within(name), before.Values.Within(name); more != nil && had != nil {
				maps.Copy(more, had)
				after.Values[name] = more.JSON()
			}
			continue
		case fills && was != nil && name != before.Kind.Lifecycle && name != kind.FieldRedactions:
			continue
		case fills && was != nil && name == before.Kind.Lifecycle && before.Kind.Moves.Has(state, before.State()):
			continue // it has gone on from there
		case name == before.Kind.Lifecycle && was != nil && !before.Kind.Moves.Has(before.State(), state):
			continue
		case name == kind.FieldStartedAt && was != nil: // each report of something that runs has one
			continue
		case name == kind.FieldSideEffectClass && was != nil && string(value) == `"unknown"`:
			continue
		}
		after.Values[name] = value
	}
	Join(before.Values, after.Values)
	Fit(before.Values, after.Values)
	fill := func(to *int64, from int64) {
		if *to == 0 {
			*to = from
		}
	}
	fill(&after.RuntimeID, report.RuntimeID)
	fill(&after.ConnectorID, report.ConnectorID)
	fill(&after.EvaluationRunID, report.EvaluationRunID)
	fill(&after.RawEventID, report.RawEventID)
	if after.RuntimeKey == "" {
		after.RuntimeKey = report.RuntimeKey
	}
	if after.ConnectorKey == "" {
		after.ConnectorKey = report.ConnectorKey
	}
	if after.Trace == (Links{}).Trace {
		after.Trace = report.Trace
	}
	if report.OccurredAt.Before(after.OccurredAt) {
		after.OccurredAt = report.OccurredAt
	}
	after.UpdatedAt, after.Version = report.UpdatedAt, before.Version+1
	return after, before.Links != after.Links || !Same(before.Values, after.Values)
}

// Revise adds what a thing says about itself to what is known of it.
func Revise(before, after, said kind.Values) {
	maps.Copy(after, said)
	Join(before, after)
	Fit(before, after)
}

// Join keeps what was known where a change adds to it: attributes, and where something was
// redacted.
func Join(before, after kind.Values) {
	if now, had := after.Attributes(), before.Attributes(); now != nil && had != nil && !bytes.Equal(before[kind.FieldAttributes], after[kind.FieldAttributes]) {
		maps.Copy(had, now)
		after[kind.FieldAttributes] = had.JSON()
	}
	all := kind.Elements(before[kind.FieldRedactions])
	had := len(all)
	for _, one := range kind.Elements(after[kind.FieldRedactions]) {
		if !slices.ContainsFunc(all, func(v jsontext.Value) bool { return bytes.Equal(v, one) }) {
			all = append(all, one)
		}
	}
	if text, err := json.Marshal(all); err == nil && had > 0 {
		after[kind.FieldRedactions] = text
	}
}

// Fit takes back the largest of what was added, until the rest is small enough. What a record
// had stays, and so does its state.
func Fit(before, after kind.Values) {
	size := after.Size()
	if size <= MaxSize {
		return
	}
	grown := func(name string) int { return len(after[name]) - len(before[name]) }
	names := slices.SortedFunc(maps.Keys(after), func(a, b string) int { return grown(b) - grown(a) })
	for _, name := range names {
		if size <= MaxSize || grown(name) <= 0 {
			return
		}
		size -= grown(name)
		if was := before[name]; was != nil {
			after[name] = was
		} else {
			delete(after, name)
		}
	}
}

// Same reports whether values are the same but for some.
func Same(a, b kind.Values, but ...string) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	for _, name := range but {
		delete(a, name)
		delete(b, name)
	}
	return maps.EqualFunc(a, b, func(x, y jsontext.Value) bool { return bytes.Equal(x, y) })
}
