package timeline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/timeline"
)

func TestMarks(t *testing.T) {
	t.Parallel()
	invoke := func(values string) timeline.Record { return rec(t, call, 1, 10, values) }
	decide := func(values string) timeline.Record { return rec(t, decision, 2, 5, values) }
	agree := func(values string) timeline.Record { return rec(t, approval, 3, 6, values) }
	cause := func(values string) timeline.Record { return rec(t, effect, 4, 11, values) }
	allow := decide(`{"decision":"allow","tool_invocation_evidence_id":1}`)
	ask := decide(`{"decision":"require_approval","tool_invocation_evidence_id":1,"approval_id":3}`)
	deny := decide(`{"decision":"deny","tool_invocation_evidence_id":1}`)
	reply := invoke(`{"status":"succeeded","side_effect_class":"delete"}`)
	const unchecked = "verified: the reply was not checked"

	for name, c := range map[string]struct {
		records []timeline.Record
		states  string
		missing []string
	}{
		"reading needs neither permission nor proof": {
			[]timeline.Record{invoke(`{"status":"succeeded","side_effect_class":"read"}`)},
			"done not_needed done done not_needed", nil,
		},
		"reading that was denied": {
			[]timeline.Record{invoke(`{"status":"denied","side_effect_class":"read"}`), deny},
			"done denied not_needed not_needed not_needed", nil,
		},
		"a class that is not given is not known": {
			[]timeline.Record{invoke(`{"status":"succeeded"}`)},
			"done missing done done missing",
			[]string{"authorized: no policy decision", unchecked},
		},
		"an entry of the ledger may show that it was more than reading": {
			[]timeline.Record{invoke(`{"status":"succeeded","side_effect_class":"read"}`), cause(`{"side_effect_class":"create","tool_invocation_evidence_id":1,"state":"acknowledged"}`)},
			"done missing done done missing",
			[]string{"authorized: no policy decision", unchecked},
		},
		"a reply is not proof": {
			[]timeline.Record{allow, reply}, "done done done done missing", []string{unchecked},
		},
		"an entry that is acknowledged is not proof": {
			[]timeline.Record{allow, reply, cause(`{"side_effect_class":"delete","tool_invocation_evidence_id":1,"state":"acknowledged","verification":{"method":"human","result":"confirmed"}}`)},
			"done done done done missing",
			[]string{unchecked},
		},
		"one of two effects was checked": {
			[]timeline.Record{
				allow, reply, cause(`{"side_effect_class":"delete","tool_invocation_evidence_id":1,"state":"verified"}`),
				rec(t, effect, 5, 12, `{"side_effect_class":"delete","tool_invocation_evidence_id":1,"state":"acknowledged"}`),
			},
			"done done done done missing",
			[]string{"verified: 1 of 2 side effects was not checked"},
		},
		"the effect is not there": {
			[]timeline.Record{allow, reply, cause(`{"side_effect_class":"delete","tool_invocation_evidence_id":1,"state":"not_applied"}`)},
			"done done done done failed", nil,
		},
		"an effect that was verified and undone": {
			[]timeline.Record{allow, reply, cause(`{"side_effect_class":"delete","tool_invocation_evidence_id":1,"state":"compensated","state_history":[{"state":"verified","at":"2026-11-02T10:00:45Z"}]}`)},
			"done done done done done", nil,
		},
		"an effect that was undone and looked for": {
			[]timeline.Record{allow, reply, cause(`{"side_effect_class":"delete","tool_invocation_evidence_id":1,"state":"compensated","verification":{"result":"absent"}}`)},
			"done done done done done", nil,
		},
		"the tool replied with an error": {
			[]timeline.Record{allow, invoke(`{"status":"failed","side_effect_class":"delete","error":{"message":"gone"}}`)},
			"done done done failed not_needed", nil,
		},
		"no reply yet": {
			[]timeline.Record{allow, invoke(`{"status":"dispatched","side_effect_class":"delete"}`)},
			"done done done waiting waiting",
			[]string{"acknowledged: no reply yet"},
		},
		"no reply at all": {
			[]timeline.Record{allow, rec(t, call, 1, -4000, `{"status":"dispatched","side_effect_class":"delete"}`)},
			"done done done missing missing",
			[]string{"acknowledged: no reply is recorded", "verified: whether it took effect was not checked"},
		},
		"a time-out that was looked into": {
			[]timeline.Record{allow, invoke(`{"status":"timed_out","side_effect_class":"delete"}`), cause(`{"side_effect_class":"delete","tool_invocation_evidence_id":1,"state":"verified","state_history":[{"state":"unknown"},{"state":"verified"}]}`)},
			"done done done missing done",
			[]string{"acknowledged: no reply, the call timed out"},
		},
		"a reply that only the ledger knows": {
			[]timeline.Record{allow, invoke(`{"status":"unknown","side_effect_class":"delete"}`), cause(`{"side_effect_class":"delete","tool_invocation_evidence_id":1,"state":"acknowledged"}`)},
			"done done done done missing",
			[]string{unchecked},
		},
		"denied": {
			[]timeline.Record{deny, invoke(`{"status":"requested","side_effect_class":"delete"}`)},
			"done denied not_needed not_needed not_needed", nil,
		},
		"denied and done anyway": {
			[]timeline.Record{deny, reply}, "done denied done done missing", []string{"authorized: dispatched although it was denied", unchecked},
		},
		"cancelled": {
			[]timeline.Record{invoke(`{"status":"cancelled","side_effect_class":"delete"}`)},
			"done not_needed not_needed not_needed not_needed", nil,
		},
		"a trial decides nothing": {
			[]timeline.Record{decide(`{"decision":"allow","tool_invocation_evidence_id":1,"attributes":{"mode":"dry_run"}}`), invoke(`{"status":"requested","side_effect_class":"delete"}`)},
			"done missing waiting waiting waiting",
			[]string{"authorized: no policy decision"},
		},
		"an approval is required and absent": {
			[]timeline.Record{ask, invoke(`{"status":"awaiting_approval","side_effect_class":"delete"}`)},
			"done missing waiting waiting waiting",
			[]string{"authorized: an approval is required and there is none"},
		},
		"an approval that is waited for": {
			[]timeline.Record{ask, agree(`{"state":"pending","expires_at":"2026-11-03T10:00:00Z"}`), invoke(`{"status":"awaiting_approval","side_effect_class":"delete"}`)},
			"done waiting waiting waiting waiting", nil,
		},
		"an approval that was waited for in vain": {
			[]timeline.Record{ask, agree(`{"state":"pending","expires_at":"2026-11-02T10:05:00Z"}`), invoke(`{"status":"awaiting_approval","side_effect_class":"delete"}`)},
			"done denied not_needed not_needed not_needed", nil,
		},
		"not waiting for the approval": {
			[]timeline.Record{ask, agree(`{"state":"pending"}`), reply},
			"done missing done done missing",
			[]string{"authorized: dispatched before the approval was decided", unchecked},
		},
		"rejected, and done anyway": {
			[]timeline.Record{ask, agree(`{"state":"rejected"}`), reply},
			"done denied done done missing",
			[]string{"authorized: dispatched although the approval was rejected", unchecked},
		},
		"an approval alone is not permission": {
			[]timeline.Record{ask, agree(`{"state":"approved"}`), reply},
			"done missing done done missing",
			[]string{"authorized: approved, but no policy decision allowed it afterwards", unchecked},
		},
		"approved, and not asked again yet": {
			[]timeline.Record{ask, agree(`{"state":"approved"}`), invoke(`{"status":"awaiting_approval","side_effect_class":"delete"}`)},
			"done waiting waiting waiting waiting", nil,
		},
		"an approval that was used": {
			[]timeline.Record{ask, agree(`{"state":"consumed"}`), reply}, "done done done done missing", []string{unchecked},
		},
		"an effect that no call explains": {
			[]timeline.Record{cause(`{"operation":"write","side_effect_class":"update","state":"dispatched"}`)},
			"missing missing done missing missing",
			[]string{"requested: no call of a tool explains the side effect", "authorized: no policy decision", "acknowledged: no reply is recorded", "verified: whether it took effect was not checked"},
		},
		"an effect of a step": {
			[]timeline.Record{
				rec(t, step, 9, 1, `{"primitive_type":"memory_write"}`),
				rec(t, effect, 4, 2, `{"operation":"write","side_effect_class":"update","primitive_step_run_id":9,"policy_decision_id":2,"state":"acknowledged"}`), decide(`{"decision":"allow"}`),
			},
			"done done done done missing",
			[]string{unchecked},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := action(t, timeline.Build(c.records, now))
			require.Equal(t, c.states, states(a))
			if c.missing == nil {
				c.missing = []string{}
			}
			require.Equal(t, c.missing, a.Missing)
			stages := []timeline.Stage{}
			for _, m := range a.Marks {
				stages = append(stages, m.Stage)
			}
			require.Equal(t, []timeline.Stage{"requested", "authorized", "dispatched", "acknowledged", "verified"}, stages)
		})
	}
}

func TestADecisionIsReadWithItsReservations(t *testing.T) {
	t.Parallel()
	note := func(values string) string {
		a := action(t, timeline.Build([]timeline.Record{rec(t, decision, 2, 1, values), rec(t, call, 1, 100, `{"status":"dispatched","side_effect_class":"create"}`)}, now))
		require.Equal(t, "done", a.Marks[1].State)
		return a.Marks[1].Note
	}
	require.Equal(t, "the decision had expired when the action was dispatched", note(`{"decision":"allow","tool_invocation_evidence_id":1,"expires_at":"2026-11-02T10:01:01Z"}`))
	require.Empty(t, note(`{"decision":"allow","tool_invocation_evidence_id":1,"expires_at":"2026-11-02T10:02:01Z"}`))
}

func TestADecisionThatWasMadeElsewhereGrantsNothing(t *testing.T) {
	t.Parallel()
	const reports, telemetry = "decided elsewhere, as a client reports", "decided elsewhere, as telemetry says"
	decide := func(id int64, s int, origin, what string) timeline.Record {
		r := rec(t, decision, id, s, `{"engine":"opa","decision":"`+what+`","tool_invocation_evidence_id":1}`)
		r.Origin = origin
		return r
	}
	invoke := func(status, class string) timeline.Record {
		return rec(t, call, 1, 50, `{"status":"`+status+`","side_effect_class":"`+class+`"}`)
	}
	for name, c := range map[string]struct {
		records     []timeline.Record
		state, note string
		by          int64 // 0 if no record says so
		missing     []string
	}{
		"a client's":                     {[]timeline.Record{decide(2, 1, "reported", "allow"), invoke("dispatched", "create")}, "missing", reports, 2, []string{"authorized: " + reports}},
		"an engine's":                    {[]timeline.Record{decide(2, 1, "ingested", "allow"), invoke("dispatched", "create")}, "missing", telemetry, 2, []string{"authorized: " + telemetry}},
		"one of unknown origin":          {[]timeline.Record{decide(2, 1, "", "allow"), invoke("dispatched", "create")}, "missing", reports, 2, []string{"authorized: " + reports}},
		"before the action":              {[]timeline.Record{decide(2, 1, "reported", "allow"), invoke("requested", "create")}, "missing", reports, 2, []string{"authorized: " + reports}},
		"where none is needed":           {[]timeline.Record{decide(2, 1, "reported", "allow"), invoke("dispatched", "read")}, "not_needed", reports, 2, nil},
		"and the action was cancelled":   {[]timeline.Record{decide(2, 1, "reported", "allow"), invoke("cancelled", "create")}, "not_needed", reports, 2, nil},
		"and the runtime denied it":      {[]timeline.Record{decide(2, 1, "reported", "allow"), invoke("denied", "create")}, "denied", reports, 1, nil},
		"after the platform's":           {[]timeline.Record{decide(2, 1, "platform", "allow"), decide(3, 2, "reported", "allow"), invoke("dispatched", "create")}, "done", "", 2, nil},
		"after the platform denied":      {[]timeline.Record{decide(2, 1, "platform", "deny"), decide(3, 2, "reported", "allow"), invoke("requested", "create")}, "denied", "", 2, nil},
		"after the platform asked":       {[]timeline.Record{decide(2, 1, "platform", "require_approval"), decide(3, 2, "reported", "allow"), invoke("requested", "create")}, "missing", "an approval is required and there is none", 0, []string{"authorized: an approval is required and there is none"}},
		"but what it denied is denied":   {[]timeline.Record{decide(2, 1, "reported", "deny"), invoke("dispatched", "create")}, "denied", "", 2, []string{"authorized: dispatched although it was denied"}},
		"though the platform allowed it": {[]timeline.Record{decide(2, 1, "platform", "allow"), decide(3, 2, "ingested", "deny"), invoke("dispatched", "create")}, "denied", "", 3, []string{"authorized: dispatched although it was denied"}},
		"unless the platform did later":  {[]timeline.Record{decide(2, 1, "ingested", "deny"), decide(3, 2, "platform", "allow"), invoke("dispatched", "create")}, "done", "", 3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tl := timeline.Build(c.records, now)
			a := action(t, tl)
			m := a.Marks[1]
			require.Equal(t, c.state, m.State)
			require.Equal(t, c.note, m.Note)
			if c.by == 0 {
				require.Nil(t, m.By)
			} else {
				require.Equal(t, c.by, m.By.ID)
			}
			var lacks []string
			for _, s := range a.Missing {
				if strings.HasPrefix(s, "authorized: ") {
					lacks = append(lacks, s)
				}
			}
			require.Equal(t, c.missing, lacks)
		})
	}

	entries := timeline.Build([]timeline.Record{decide(2, 1, "platform", "allow"), decide(3, 2, "ingested", "allow"), decide(4, 3, "reported", "allow")}, now).Entries
	for i, want := range []string{"opa", "opa, " + telemetry, "opa, " + reports} {
		require.Equal(t, want, entries[i].Summary)
		require.Equal(t, []string{"platform", "ingested", "reported"}[i], entries[i].Origin)
	}
}

func TestEachAttemptHasItsOwnDecision(t *testing.T) {
	t.Parallel()
	tl := timeline.Build([]timeline.Record{
		rec(t, decision, 1, 1, `{"decision":"deny","invocation_id":"x"}`), rec(t, call, 2, 2, `{"invocation_id":"x","attempt":1,"status":"denied","side_effect_class":"create"}`),
		rec(t, call, 4, 10, `{"invocation_id":"x","attempt":2,"status":"dispatched","side_effect_class":"create"}`), rec(t, decision, 3, 11, `{"decision":"allow","invocation_id":"x"}`),
	}, now)
	require.Equal(t, []string{"policy-decisions1", "tool-invocation-evidence2", "policy-decisions3", "tool-invocation-evidence4"}, outline(tl))
	require.Equal(t, "done denied not_needed not_needed not_needed", states(tl.Entries[1].Action))
	require.Equal(t, "done done done waiting waiting", states(tl.Entries[3].Action))
}
