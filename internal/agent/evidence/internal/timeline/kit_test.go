package timeline_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/timeline"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

const (
	step        kind.Name = "primitive-step-runs"
	call        kind.Name = "tool-invocation-evidence"
	decision    kind.Name = "policy-decisions"
	approval    kind.Name = "approvals"
	effect      kind.Name = "side-effect-ledger"
	failure     kind.Name = "failures"
	explanation kind.Name = "eval-explanations"
	event       kind.Name = "raw-events"
)

var start = time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)

func at(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }

func ptr[T any](v T) *T { return &v }

// rec is a record of the platform that occurred so many seconds after the start.
func rec(t testing.TB, k kind.Name, id int64, s int, values string) timeline.Record {
	t.Helper()
	r := timeline.Record{Kind: k, ID: id, At: at(s), Origin: "platform"}
	require.NoError(t, json.Unmarshal([]byte(values), &r.Values), values)
	return r
}

// span is a step that was read from a span.
func span(t testing.TB, id, parent string, s int, values string) timeline.Record {
	t.Helper()
	r := rec(t, step, 0, s, values)
	r.Span, r.Parent, r.Origin = id, parent, ""
	return r
}

// now is soon after everything in these tests.
var now = at(600)

// outline is a timeline as the kind and id of its entries, indented by depth.
func outline(tl timeline.Timeline) []string {
	var out []string
	for _, e := range tl.Entries {
		name := fmt.Sprintf("%s%d", e.Resource, e.ID)
		if e.ID == 0 {
			name = "span " + e.Span
		}
		out = append(out, strings.Repeat("  ", e.Depth)+name)
	}
	return out
}

// action is the action of the first entry that has one.
func action(t testing.TB, tl timeline.Timeline) *timeline.Action {
	t.Helper()
	for _, e := range tl.Entries {
		if e.Action != nil {
			return e.Action
		}
	}
	require.Fail(t, "no entry has an action")
	return nil
}

// states are the states of the five marks.
func states(a *timeline.Action) string {
	var out []string
	for _, m := range a.Marks {
		out = append(out, m.State)
	}
	return strings.Join(out, " ")
}
