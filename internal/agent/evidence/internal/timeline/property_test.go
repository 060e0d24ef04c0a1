package timeline_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/agent/evidence/internal/timeline"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// fields that name other records, and those that hold words. Whatever they hold, and
// whatever they name, there is a timeline.
var (
	links = []string{
		"parent_step_run_id", "retry_of_id", "primitive_step_run_id", "policy_decision_id", "approval_id", "tool_invocation_evidence_id",
		"side_effect_ledger_id", "compensates_id", "duplicate_of_id", "eval_explanation_id", "quality_case_id", "raw_event_id", "sequence", "attempt",
	}
	worded = map[string][]string{
		"invocation_id": {"x", "y"}, "runtime_key": {"", "a", "b"}, "side_effect_class": append([]string{""}, kind.SideEffects...),
		"decision": {"allow", "deny", "require_approval", "approved"}, "status": {"requested", "dispatched", "succeeded", "timed_out", "unmapped", "denied"},
		"state": {"pending", "approved", "consumed", "acknowledged", "verified", "conflicting"}, "primitive_type": {"tool_call", "plan"},
		"expires_at": {"2026-11-02T10:00:03Z"}, "started_at": {"2026-11-02T10:00:02Z"}, "ended_at": {"2026-11-02T10:00:01Z"},
	}
	allKinds = func() (names []kind.Name) {
		for _, k := range kind.Kinds {
			names = append(names, k.Name)
		}
		return append(names, "a-kind-that-is-not-there")
	}()
)

// anything draws records that name each other at random, in circles too.
func anything(t *rapid.T) []timeline.Record {
	n := rapid.IntRange(0, 25).Draw(t, "records")
	id := func(label string) int64 { return int64(rapid.IntRange(0, n+1).Draw(t, label)) }
	spans := []string{"", "0000", "s1", "s2", "s3", "s4"}
	var out []timeline.Record
	for i := range n {
		r := timeline.Record{
			Kind: rapid.SampledFrom(allKinds).Draw(t, "kind"), ID: int64(i + 1), At: at(rapid.IntRange(0, 4).Draw(t, "at")), Values: kind.Values{},
			Span: rapid.SampledFrom(spans).Draw(t, "span"), Parent: rapid.SampledFrom(spans).Draw(t, "parent"),
		}
		switch rapid.IntRange(0, 9).Draw(t, "id") {
		case 0, 1:
			r.ID = 0
		case 2:
			r.ID = id("same id")
		}
		for range rapid.IntRange(0, 6).Draw(t, "links") {
			r.Values[rapid.SampledFrom(links).Draw(t, "link")] = kind.IntegerValue(id("to"))
		}
		for name, words := range worded {
			if rapid.Bool().Draw(t, name) {
				r.Values[name] = kind.TextValue(rapid.SampledFrom(words).Draw(t, "word"))
			}
		}
		r.Values["attributes"] = fmt.Appendf(nil, `{"side_effect_ledger_ids":[%d]}`, id("effect"))
		r.Values["records"] = fmt.Appendf(nil, `[{"id":%d}]`, id("made"))
		out = append(out, r)
	}
	return out
}

func shuffled(t *rapid.T, records []timeline.Record) []timeline.Record {
	out := append([]timeline.Record{}, records...)
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "shuffle"), 1))
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func TestAnyRecordsHaveOneTimeline(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records := anything(t)
		tl := timeline.Build(records, now)
		require.Equal(t, tl, timeline.Build(shuffled(t, records), now), "the order of the input makes no difference")

		count := map[string]int{}
		for _, r := range records {
			count[fmt.Sprint(r.Kind, r.ID, r.Span, r.At)]++
		}
		for i, e := range tl.Entries {
			count[fmt.Sprint(e.Resource, e.ID, e.Span, e.At)]--
			require.Less(t, e.Parent, i, "a parent comes first")
			depth := 0
			if e.Parent >= 0 {
				depth = tl.Entries[e.Parent].Depth + 1
			}
			require.Equal(t, depth, e.Depth)
			if i > 0 {
				require.LessOrEqual(t, e.Depth, tl.Entries[i-1].Depth+1, "a tree can be drawn from the depths")
			}
			require.Equal(t, e.Resource == call, e.Action != nil && e.Resource != effect)
			if e.Action != nil {
				require.Len(t, e.Action.Marks, 5)
			}
		}
		for what, n := range count {
			require.Zero(t, n, what)
		}
	})
}

// TestCausesAlwaysComeFirst draws traces whose links make sense, with clocks that do
// not.
func TestCausesAlwaysComeFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var records []timeline.Record
		var before [][2]int64
		add := func(k kind.Name, values map[string]int64, words map[string]string) int64 {
			r := timeline.Record{Kind: k, ID: int64(len(records) + 1), At: start.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "at")) * time.Second), Values: kind.Values{}}
			for name, v := range values {
				if v > 0 {
					r.Values[name] = kind.IntegerValue(v)
					before = append(before, [2]int64{v, r.ID})
				}
			}
			for name, v := range words {
				r.Values[name] = kind.TextValue(v)
			}
			records = append(records, r)
			return r.ID
		}
		one := func(list []int64, label string) int64 {
			if len(list) == 0 {
				return 0
			}
			return rapid.SampledFrom(list).Draw(t, label)
		}
		var stepIDs, callIDs, effectIDs, decisionIDs []int64
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			parent := int64(0)
			if rapid.Bool().Draw(t, "below") {
				parent = one(stepIDs, "parent")
			}
			stepIDs = append(stepIDs, add(step, map[string]int64{"parent_step_run_id": parent}, nil))
		}
		for i := range rapid.IntRange(0, 8).Draw(t, "actions") {
			asked := add(decision, nil, map[string]string{"decision": "require_approval"})
			agreed := add(approval, map[string]int64{"policy_decision_id": asked}, nil)
			allowed := add(decision, map[string]int64{"approval_id": agreed}, map[string]string{"decision": "allow"})
			decisionIDs = append(decisionIDs, allowed)
			c := add(call, map[string]int64{"primitive_step_run_id": one(stepIDs, "step"), "policy_decision_id": one(decisionIDs, "decision"), "approval_id": agreed}, map[string]string{"invocation_id": strconv.Itoa(i)})
			callIDs = append(callIDs, c)
			effectIDs = append(effectIDs, add(effect, map[string]int64{"tool_invocation_evidence_id": one(callIDs, "call")}, nil))
		}
		for range rapid.IntRange(0, 5).Draw(t, "failures") {
			add(failure, map[string]int64{
				"primitive_step_run_id": one(stepIDs, "step"), "tool_invocation_evidence_id": one(callIDs, "call"), "side_effect_ledger_id": one(effectIDs, "effect"),
				"policy_decision_id": one(decisionIDs, "decision"),
			}, nil)
		}
		place := map[int64]int{}
		for i, e := range timeline.Build(shuffled(t, records), now).Entries {
			place[e.ID] = i
		}
		for _, b := range before {
			require.Less(t, place[b[0]], place[b[1]], "%d before %d", b[0], b[1])
		}
	})
}

func TestManyRecords(t *testing.T) {
	t.Parallel()
	const n = 30_000
	records := make([]timeline.Record, 0, 3*n)
	for i := range int64(n) {
		records = append(records,
			timeline.Record{Kind: step, ID: 3*i + 1, At: at(int(i % 7)), Values: kind.Values{"parent_step_run_id": kind.IntegerValue(3*((i+1)%n/2) + 1)}},
			timeline.Record{Kind: call, ID: 3*i + 2, At: at(int(i % 5)), Values: kind.Values{"primitive_step_run_id": kind.IntegerValue(3*i + 1), "invocation_id": kind.TextValue(strconv.FormatInt(i, 10))}},
			timeline.Record{Kind: decision, ID: 3*i + 3, At: at(int(i % 3)), Values: kind.Values{"invocation_id": kind.TextValue(strconv.FormatInt(i, 10)), "decision": kind.TextValue("allow")}},
		)
	}
	require.Len(t, timeline.Build(records, now).Entries, 3*n)
}
