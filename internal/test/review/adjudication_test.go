package review_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/review/adjudication"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/test/testkit"
)

// scene is an organization with somebody who decides.
type scene struct {
	*testkit.Client
	kit     *testkit.Kit
	member  testkit.Member
	decider *testkit.Client
}

func set(t testing.TB) scene {
	t.Helper()
	return in(t, testkit.Shared(t))
}

func in(t testing.TB, k *testkit.Kit) scene {
	t.Helper()
	s := scene{Client: k.Org(t), kit: k}
	s.member, s.decider = s.Person(t, principal.Admin)
	return s
}

// opened is an item about an answer.
func (s scene) opened(t testing.TB, input, output string, more map[string]any) testkit.AdjudicationItem {
	t.Helper()
	body := map[string]any{"subject": map[string]any{"traceId": s.AnsweredTrace(t, input, output)}}
	for name, v := range more {
		body[name] = v
	}
	i, err := s.CreateAdjudicationItem(t.Context(), body)
	require.NoError(t, err)
	return i
}

const why = "Compared with the manual."

// decided is an item with a decision.
func (s scene) decided(t testing.TB, i testkit.AdjudicationItem, verdict string) testkit.AdjudicationItem {
	t.Helper()
	out, err := s.decider.DecideAdjudicationItem(t.Context(), i.ID, map[string]any{"decision": verdict, "rationale": why})
	require.NoError(t, err)
	return out
}

// closed is an item with ground truth.
func (s scene) closed(t testing.TB, input, output, verdict string) (testkit.AdjudicationItem, testkit.GroundTruth) {
	t.Helper()
	i := s.decided(t, s.opened(t, input, output, nil), verdict)
	truth, err := s.decider.CreateGroundTruth(t.Context(), i.ID, map[string]any{})
	require.NoError(t, err)
	i, err = s.GetAdjudicationItem(t.Context(), i.ID)
	require.NoError(t, err)
	return i, truth
}

func adjudicationReason(t testing.TB, err error) string {
	t.Helper()
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	return f.Reason
}

func requireField(t testing.TB, err error, path, code string) {
	t.Helper()
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, fault.Validation, f.Kind, "%v", err)
	require.NotEmpty(t, f.Details["fields"])
	require.Contains(t, fmt.Sprint(f.Details["fields"]), path)
	require.Contains(t, fmt.Sprint(f.Details["fields"]), code)
}

func TestAnItemKeepsTheAnswer(t *testing.T) {
	t.Parallel()
	s := set(t)
	i := s.opened(t, "Is it safe?", "Yes.", map[string]any{"title": "Safety", "question": "Was it?", "tags": []string{"urgent"}, "candidates": []map[string]any{{"origin": "support", "label": "pass"}, {"origin": "reviewer", "label": "fail"}}})
	require.Equal(t, "open", i.Status)
	require.Equal(t, "manual", i.Source)
	require.Equal(t, "normal", i.Priority)
	require.InDelta(t, 1, i.Disagreement, 0)
	require.InDelta(t, 50, i.PriorityScore, 0.01, "30 for normal and 20 for the disagreement")
	require.Equal(t, "Is it safe?", i.Content.Input)
	require.Equal(t, "Yes.", i.Content.Output)
	got, err := s.GetAdjudicationItem(t.Context(), i.ID)
	require.NoError(t, err)
	require.Equal(t, i, got)
	require.NoError(t, func() error { err := s.DeleteTrace(t.Context(), *i.Subject.TraceID); return err }())
	got, err = s.GetAdjudicationItem(t.Context(), i.ID)
	require.NoError(t, err)
	require.Equal(t, i.Content, got.Content, "what was decided about stays known")
	report := s.opened(t, "Is it?", "No.", map[string]any{"source": "user_report"})
	require.Equal(t, "high", report.Priority)
}

func TestPositionsOfJudgesAndMembersAreOnRecord(t *testing.T) {
	t.Parallel()
	s := set(t)
	trace := s.AnsweredTrace(t, "Why?", "So.")
	for _, origin := range []string{"judge:helpful", "user/" + s.member.ID} {
		_, err := s.CreateAdjudicationItem(t.Context(), map[string]any{"subject": map[string]any{"traceId": trace}, "candidates": []map[string]any{{"origin": "support"}, {"origin": origin}}})
		requireField(t, err, "/candidates/1/origin", "pattern")
	}
}

func TestCopyingAnAnswerNeedsTheRightToReadIt(t *testing.T) {
	t.Parallel()
	s := set(t)
	trace := s.AnsweredTrace(t, "Why?", "So.")
	r, err := s.EvaluateWithJudge(t.Context(), map[string]any{"configId": s.judge(t, "helpful").ID, "input": "Why?", "output": "So.", "traceId": trace})
	require.NoError(t, err)
	k, err := s.CreateKey(t.Context(), testkit.NewKey{Name: "without traces", Scopes: []string{"admin:org", "eval:read"}})
	require.NoError(t, err)
	for _, subject := range []map[string]any{{"traceId": trace}, {"judgeResultIds": []string{r.ID}}} {
		_, err = s.Client.With(k.Key).CreateAdjudicationItem(t.Context(), map[string]any{"subject": subject})
		require.Equal(t, "insufficient_scope", adjudicationReason(t, err))
	}
}

func TestOneUnresolvedItemPerSourceAndSubject(t *testing.T) {
	t.Parallel()
	s := set(t)
	i := s.opened(t, "Why?", "So.", nil)
	body := map[string]any{"subject": map[string]any{"traceId": *i.Subject.TraceID}}
	_, err := s.CreateAdjudicationItem(t.Context(), body)
	require.ErrorIs(t, err, adjudication.ErrExists)
	f, _ := fault.From(err)
	require.EqualValues(t, i.ID, f.Details["id"])
	body["source"] = "user_report"
	_, err = s.CreateAdjudicationItem(t.Context(), body)
	require.NoError(t, err, "another source")
	_, err = s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "dismissed", "reason": "It is not worth it."})
	require.NoError(t, err)
	delete(body, "source")
	_, err = s.CreateAdjudicationItem(t.Context(), body)
	require.NoError(t, err, "the first one is resolved")
	_, err = s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "open", "reason": "It is after all."})
	require.ErrorIs(t, err, adjudication.ErrExists)

	t.Run("however many ask at once", func(t *testing.T) {
		trace := s.AnsweredTrace(t, "Who?", "Me.")
		results := make(chan error, 12)
		for range cap(results) {
			go func() {
				_, err := s.CreateAdjudicationItem(t.Context(), map[string]any{"subject": map[string]any{"traceId": trace}})
				results <- err
			}()
		}
		made := 0
		for range cap(results) {
			if err := <-results; err == nil {
				made++
			} else {
				require.ErrorIs(t, err, adjudication.ErrExists)
				f, _ := fault.From(err)
				require.NotNil(t, f.Details["id"])
			}
		}
		require.Equal(t, 1, made)
	})
}

func TestSubjectsThatDoNotExist(t *testing.T) {
	t.Parallel()
	s, others := set(t), scene{}
	others.Client = s.kit.Org(t)
	theirs := others.AnsweredTrace(t, "Ours?", "No.")
	for _, one := range []struct {
		subject    map[string]any
		path, code string
	}{
		{map[string]any{}, "/subject", "one_of_required"},
		{map[string]any{"traceId": theirs}, "/subject/traceId", "unknown_reference"},
		{map[string]any{"evaluationRunId": "4711", "testCaseId": "1"}, "/subject/testCaseId", "unknown_reference"},
		{map[string]any{"evaluationRunId": "4711"}, "/subject/testCaseId", "required"},
		{map[string]any{"judgeResultIds": []int{4711}}, "/subject/judgeResultIds", "unknown_reference"},
		{map[string]any{"annotationItemId": 4711}, "/subject/annotationItemId", "unknown_reference"},
		{map[string]any{"traceId": theirs, "annotationItemId": 1}, "/subject", "mutually_exclusive"},
	} {
		_, err := s.CreateAdjudicationItem(t.Context(), map[string]any{"subject": one.subject})
		requireField(t, err, one.path, one.code)
	}
	_, err := s.CreateAdjudicationItem(t.Context(), map[string]any{"subject": map[string]any{"traceId": theirs}, "tittle": "Misspelt"})
	requireField(t, err, "/tittle", "unknown_field")
	narrow := s.kit.Key(t, s.Client, principal.AdminOrg)
	_, err = narrow.CreateAdjudicationItem(t.Context(), map[string]any{"subject": map[string]any{"traceId": s.AnsweredTrace(t, "a", "b")}})
	require.Equal(t, "insufficient_scope", adjudicationReason(t, err), "an answer of a trace is copied only for those who may read it")
}

//nolint:paralleltest // it moves the clock
func TestTheQueueIsOrderedByPriorityAndAge(t *testing.T) {
	s := in(t, testkit.Moving(t))
	var want []int64
	for _, p := range []string{"low", "normal", "high", "critical"} {
		want = append([]int64{s.opened(t, "Why "+p+"?", "So.", map[string]any{"priority": p}).ID}, want...)
	}
	older := want[2]
	s.kit.Clock.Advance(time.Hour)
	younger := s.opened(t, "Why younger?", "So.", nil).ID
	want = append(want[:3], younger, want[3])
	ids := func(query string) (all []int64) {
		items, err := s.ListAdjudicationItems(t.Context(), query)
		require.NoError(t, err)
		for i, one := range items.Items {
			all = append(all, one.ID)
			require.Nil(t, one.Content)
			if i > 0 {
				require.LessOrEqual(t, one.PriorityScore, items.Items[i-1].PriorityScore)
			}
		}
		return all
	}
	require.Equal(t, want, ids(""))
	require.Equal(t, []int64{older, younger}, ids("priority=normal"))
	require.Equal(t, want[:2], ids("priority=high&priority=critical"))
	require.Empty(t, ids("status=decided"))
	require.Equal(t, want[1:3], ids("limit=2&offset=1"))
	require.Empty(t, ids("assigneeId="+s.member.ID))
	_, err := s.AssignAdjudicationItem(t.Context(), older, map[string]any{"assigneeId": s.member.ID})
	require.NoError(t, err)
	require.Equal(t, []int64{older}, ids("assigneeId="+s.member.ID))
	i, err := s.GetAdjudicationItem(t.Context(), older)
	require.NoError(t, err)
	require.Equal(t, []int64{older}, ids("traceId="+*i.Subject.TraceID))

	s.kit.Clock.Advance(30 * 24 * time.Hour)
	fresh := s.opened(t, "Why fresh?", "So.", map[string]any{"priority": "high"}).ID
	all := ids("")
	require.Equal(t, fresh, all[len(all)-2], "what has waited for a month is more urgent than what is new, except for the item of low priority")
	_, err = s.UpdateAdjudicationItem(t.Context(), fresh, map[string]any{"priority": "critical", "title": "Now"})
	require.NoError(t, err)
	require.Equal(t, fresh, ids("search=NOW")[0])
}

func TestMovesOfAnItem(t *testing.T) {
	t.Parallel()
	s := set(t)
	to := map[string]func(testkit.AdjudicationItem) testkit.AdjudicationItem{
		"open": func(i testkit.AdjudicationItem) testkit.AdjudicationItem { return i },
		"assigned": func(i testkit.AdjudicationItem) testkit.AdjudicationItem {
			out, err := s.AssignAdjudicationItem(t.Context(), i.ID, map[string]any{"assigneeId": s.member.ID})
			require.NoError(t, err)
			require.Equal(t, s.member.ID, *out.AssigneeID)
			return out
		},
		"dismissed": func(i testkit.AdjudicationItem) testkit.AdjudicationItem {
			out, err := s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "dismissed", "reason": "Not worth it."})
			require.NoError(t, err)
			return out
		},
		"decided": func(i testkit.AdjudicationItem) testkit.AdjudicationItem { return s.decided(t, i, "pass") },
		"closed": func(i testkit.AdjudicationItem) testkit.AdjudicationItem {
			_, err := s.decider.CreateGroundTruth(t.Context(), s.decided(t, i, "pass").ID, map[string]any{})
			require.NoError(t, err)
			out, err := s.GetAdjudicationItem(t.Context(), i.ID)
			require.NoError(t, err)
			return out
		},
	}
	moves := map[string]func(id int64) error{
		"assign": func(id int64) error {
			_, err := s.AssignAdjudicationItem(t.Context(), id, map[string]any{"assigneeId": s.member.ID})
			return err
		},
		"release": func(id int64) error {
			_, err := s.AssignAdjudicationItem(t.Context(), id, map[string]any{"assigneeId": nil})
			return err
		},
		"decide": func(id int64) error {
			_, err := s.decider.DecideAdjudicationItem(t.Context(), id, map[string]any{"decision": "fail", "rationale": why})
			return err
		},
		"dismiss": func(id int64) error {
			_, err := s.UpdateAdjudicationItem(t.Context(), id, map[string]any{"status": "dismissed", "reason": "No."})
			return err
		},
		"reopen": func(id int64) error {
			_, err := s.UpdateAdjudicationItem(t.Context(), id, map[string]any{"status": "open", "reason": "Again.", "revokeGroundTruth": true})
			return err
		},
		"truth": func(id int64) error {
			_, err := s.decider.CreateGroundTruth(t.Context(), id, map[string]any{})
			return err
		},
		"calibrate": func(id int64) error {
			_, err := s.AddAdjudicationItemToCalibration(t.Context(), id, map[string]any{"split": "test"})
			return err
		},
	}
	allowed := map[string]string{
		"open assign": "assigned", "open release": "open", "open decide": "decided", "open dismiss": "dismissed", "open reopen": "open",
		"assigned assign": "assigned", "assigned release": "open", "assigned decide": "decided", "assigned dismiss": "dismissed",
		"decided reopen": "open", "decided truth": "closed",
		"closed reopen": "open", "closed calibrate": "closed",
		"dismissed reopen": "open", "dismissed dismiss": "dismissed",
	}
	n := 0
	for status, reach := range to {
		for move, do := range moves {
			n++
			i := reach(s.opened(t, fmt.Sprint("Question ", n), "So.", nil))
			require.Equal(t, status, i.Status)
			err := do(i.ID)
			after, findErr := s.GetAdjudicationItem(t.Context(), i.ID)
			require.NoError(t, findErr)
			want, ok := allowed[status+" "+move]
			if !ok {
				require.Error(t, err, "%s %s", status, move)
				require.Equal(t, i, after, "%s %s", status, move)
				if status+" "+move != "closed truth" {
					require.Equal(t, "invalid_transition", adjudicationReason(t, err), "%s %s", status, move)
					f, _ := fault.From(err)
					require.Equal(t, status, f.Details["currentState"])
					require.NotEmpty(t, f.Details["allowedTransitions"])
				}
				continue
			}
			require.NoError(t, err, "%s %s", status, move)
			require.Equal(t, want, after.Status, "%s %s", status, move)
		}
	}
}

//nolint:paralleltest // the steps share an organization, and what one leaves counts in the next
func TestADecisionIsOnePersons(t *testing.T) {
	t.Parallel()
	s := set(t)
	body := map[string]any{"decision": "fail", "rationale": why, "failureMode": "hallucination", "confidence": 0.9, "expectedOutput": "No."}

	t.Run("neither a service key's nor an asserted one", func(t *testing.T) {
		i := s.opened(t, "One?", "So.", nil)
		_, err := s.DecideAdjudicationItem(t.Context(), i.ID, body)
		require.Equal(t, "not_a_person", adjudicationReason(t, err))
		_, err = s.DecideAdjudicationItem(t.Context(), i.ID, body, testkit.OnBehalfOf(s.member.ID))
		require.Equal(t, "not_a_person", adjudicationReason(t, err))
		_, err = s.CreateGroundTruth(t.Context(), s.decided(t, i, "pass").ID, map[string]any{})
		require.Equal(t, "not_a_person", adjudicationReason(t, err))
	})

	t.Run("with a reason", func(t *testing.T) {
		i := s.opened(t, "Two?", "So.", nil)
		_, err := s.decider.DecideAdjudicationItem(t.Context(), i.ID, map[string]any{"decision": "fail", "rationale": "Too short"})
		requireField(t, err, "/rationale", "length")
	})

	t.Run("and not somebody else's", func(t *testing.T) {
		other, _ := s.Person(t, principal.Member)
		i := s.opened(t, "Three?", "So.", nil)
		_, err := s.AssignAdjudicationItem(t.Context(), i.ID, map[string]any{"assigneeId": other.ID})
		require.NoError(t, err)
		_, err = s.decider.DecideAdjudicationItem(t.Context(), i.ID, body)
		require.ErrorIs(t, err, adjudication.ErrNotAssignee)
		got, err := s.decider.DecideAdjudicationItem(t.Context(), i.ID, map[string]any{"decision": "fail", "rationale": why, "failureMode": "hallucination", "override": true})
		require.NoError(t, err)
		require.True(t, got.Decision.Override)
		require.Equal(t, s.member.ID, *got.Decision.DecidedBy.ID)
		require.Equal(t, "hallucination", *got.FailureMode)
		found, err := s.ListAdjudicationItems(t.Context(), "failureMode=hallucination")
		require.NoError(t, err)
		require.Len(t, found.Items, 1)
	})

	t.Run("independent unless they assessed the answer", func(t *testing.T) {
		i := s.opened(t, "Four?", "So.", nil)
		s.assessed(t, i)
		got, err := s.decider.DecideAdjudicationItem(t.Context(), i.ID, body)
		require.NoError(t, err)
		require.False(t, got.Decision.Independent)
		require.Equal(t, "requester", got.Decision.SeparationOfDuties)
		require.True(t, s.decided(t, s.opened(t, "Five?", "So.", nil), "pass").Decision.Independent)

		_, err = s.UpdateOrganization(t.Context(), map[string]any{"separationOfDuties": "key_owner"})
		require.NoError(t, err)
		i = s.opened(t, "Six?", "So.", nil)
		s.assessed(t, i)
		_, err = s.decider.DecideAdjudicationItem(t.Context(), i.ID, body)
		require.ErrorIs(t, err, adjudication.ErrSelfApproval)
		require.Equal(t, "key_owner", s.decided(t, s.opened(t, "Seven?", "So.", nil), "pass").Decision.SeparationOfDuties)
	})
}

// assessed records that the decider has assessed an item's trace.
func (s scene) assessed(t testing.TB, i testkit.AdjudicationItem) {
	t.Helper()
	require.NoError(t, s.kit.App.Score.Insert(t.Context(), s.Org, score.Score{
		Subject: score.Subject{Kind: score.KindTrace, ID: *i.Subject.TraceID}, Metric: "helpful", Source: score.Source{Kind: score.SourcePerson, ID: s.member.ID}, Record: 1, Label: "pass", At: s.kit.Clock.Now(),
	}))
}

func TestReopeningKeepsTheHistory(t *testing.T) {
	t.Parallel()
	s := set(t)
	i := s.decided(t, s.opened(t, "Why?", "So.", nil), "inconclusive")
	_, err := s.decider.CreateGroundTruth(t.Context(), i.ID, map[string]any{})
	require.ErrorIs(t, err, adjudication.ErrNoTruth)
	_, err = s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "closed"})
	requireField(t, err, "/reason", "required")
	i, err = s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "closed", "reason": "Nobody can know."})
	require.NoError(t, err)
	require.Equal(t, "closed", i.Status)
	require.Equal(t, "Nobody can know.", *i.Reason)
	_, err = s.PromoteAdjudicationItemToGolden(t.Context(), i.ID, map[string]any{"justification": "Why not"})
	require.ErrorIs(t, err, adjudication.ErrNoActive)
	i, err = s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "open", "reason": "Somebody found out."}, testkit.Header("If-Match", fmt.Sprintf(`"v%d"`, i.Version)))
	require.NoError(t, err)
	require.Nil(t, i.Decision)
	require.Len(t, i.DecisionHistory, 1)
	require.Equal(t, "Somebody found out.", *i.DecisionHistory[0].SupersededReason)
	i = s.decided(t, i, "pass")
	require.Equal(t, "pass", i.Decision.Decision)
	require.Len(t, i.DecisionHistory, 1)
	_, err = s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"status": "closed", "reason": "Enough."})
	require.ErrorIs(t, err, adjudication.ErrNotClosable)
	_, err = s.UpdateAdjudicationItem(t.Context(), i.ID, map[string]any{"notes": "x", "expectedVersion": 1})
	require.ErrorIs(t, err, adjudication.ErrConflict)
}

//nolint:paralleltest // it moves the clock
func TestTheSummaryCounts(t *testing.T) {
	s := in(t, testkit.Moving(t))
	empty, err := s.GetAdjudicationQueueSummary(t.Context())
	require.NoError(t, err)
	require.Nil(t, empty.OldestOpenAt)
	require.Nil(t, empty.JudgeOverturnRate)
	judge := s.judge(t, "helpful")
	for input, verdict := range map[string]string{"One?": "fail", "Two?": "pass"} {
		r, err := s.EvaluateWithJudge(t.Context(), map[string]any{"configId": judge.ID, "input": input, "output": "So [[score:1]]"})
		require.NoError(t, err)
		i, err := s.CreateAdjudicationItem(t.Context(), map[string]any{"subject": map[string]any{"judgeResultIds": []string{r.ID}}})
		require.NoError(t, err)
		s.decided(t, i, verdict)
	}
	late := s.opened(t, "Three?", "So.", map[string]any{"dueAt": s.kit.Clock.Now().Add(time.Hour), "source": "user_report"})
	_, err = s.AssignAdjudicationItem(t.Context(), late.ID, map[string]any{"assigneeId": s.member.ID})
	require.NoError(t, err)
	s.kit.Clock.Advance(2 * time.Hour)
	s.opened(t, "Four?", "So.", nil)
	sum, err := s.GetAdjudicationQueueSummary(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"open": 1, "assigned": 1, "decided": 2, "closed": 0, "dismissed": 0}, sum.ByStatus)
	require.EqualValues(t, 2, sum.OpenTotal)
	require.EqualValues(t, 1, sum.Unassigned)
	require.EqualValues(t, 1, sum.Overdue)
	require.EqualValues(t, 1, sum.BySource["user_report"])
	require.EqualValues(t, 1, sum.ByPriority["high"])
	require.EqualValues(t, 2, sum.DecidedLast7d)
	require.InDelta(t, 0.5, *sum.JudgeOverturnRate, 1e-9)
	require.InDelta(t, 7200, *sum.P90AgeSeconds, 30)
	require.Len(t, sum.ByAssignee, 1)
	require.EqualValues(t, 1, sum.ByAssignee[0].Open)
	require.EqualValues(t, 2, sum.ByAssignee[0].Decided7d)
}

func TestAssigningIsForMembers(t *testing.T) {
	t.Parallel()
	s := set(t)
	stranger, _ := s.kit.Org(t).Person(t, principal.Admin)
	i := s.opened(t, "Why?", "So.", nil)
	for _, user := range []string{stranger.ID, "nobody"} {
		_, err := s.AssignAdjudicationItem(t.Context(), i.ID, map[string]any{"assigneeId": user})
		requireField(t, err, "/assigneeId", "unknown_reference")
	}
	out, err := s.AssignAdjudicationItem(t.Context(), i.ID, map[string]any{"assigneeId": s.member.ID})
	require.NoError(t, err)
	again, err := s.AssignAdjudicationItem(t.Context(), i.ID, map[string]any{"assigneeId": s.member.ID})
	require.NoError(t, err)
	require.Equal(t, out.Version, again.Version)
	released, err := s.AssignAdjudicationItem(t.Context(), i.ID, map[string]any{"assigneeId": nil})
	require.NoError(t, err)
	require.Equal(t, "open", released.Status)
	require.Nil(t, released.AssigneeID)
}
