package agent_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/approval"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// scene is an organization whose agent asks for refunds, which need an approval.
type approvalScene struct {
	*testkit.Client // the agent's service key, made by the operator
	kit             *testkit.Kit
	ann, bob        *testkit.Client // administrators
	annID, bobID    string
	admin           func(testing.TB) (id string, c *testkit.Client)
}

func approvalSet(t testing.TB) approvalScene {
	t.Helper()
	return approvalIn(t, testkit.Shared(t))
}

func approvalIn(t testing.TB, k *testkit.Kit) approvalScene {
	t.Helper()
	operator := k.Org(t)
	s := approvalScene{Client: operator.Agent(t), kit: k}
	s.admin = func(t testing.TB) (string, *testkit.Client) {
		t.Helper()
		m, c := operator.Person(t, principal.Admin)
		return m.ID, c
	}
	s.annID, s.ann = s.admin(t)
	s.bobID, s.bob = s.admin(t)
	s.ann.Connector(t, "payments", map[string]string{"refund": "transact", "look_up": "read"})
	return s
}

// refund is the question about a refund of an amount.
func approvalRefund(amount string, more map[string]any) map[string]any {
	out := map[string]any{
		"runtimeKey": "refund-agent", "toolInvocation": map[string]any{"connectorKey": "payments", "toolName": "refund", "arguments": map[string]any{"order": "A-17", "amount": amount, "currency": "EUR"}},
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// asked is an approval that is pending.
func (s approvalScene) asked(t testing.TB, amount string, more map[string]any, opts ...testkit.Option) int64 {
	t.Helper()
	d, err := s.Evaluate(t.Context(), approvalRefund(amount, more), opts...)
	require.NoError(t, err)
	require.Equal(t, "require_approval", d["decision"], "%v", d)
	return d.Number("approval_id")
}

// used is what the policies say with an approval.
func (s approvalScene) used(t testing.TB, amount string, approval int64) (decision, code string) {
	t.Helper()
	d, err := s.Evaluate(t.Context(), approvalRefund(amount, map[string]any{"approvalId": approval}))
	require.NoError(t, err)
	reasons := d["reasons"].([]any)
	if len(reasons) > 0 {
		code = reasons[len(reasons)-1].(map[string]any)["code"].(string)
	}
	return d["decision"].(string), code
}

func reason(err error) string {
	f, ok := fault.From(err)
	if !ok {
		return ""
	}
	return f.Reason
}

var yes = map[string]any{"decision": "approved"}

func TestAnApprovalIsUsedOnceForWhatWasApproved(t *testing.T) {
	t.Parallel()
	s := approvalSet(t)
	ctx := t.Context()
	id := s.asked(t, "240.00", nil)
	require.Equal(t, id, s.asked(t, "240.00", nil), "the same action is asked for once")
	require.NotEqual(t, id, s.asked(t, "241.00", nil), "another action is another request")
	decision, code := s.used(t, "240.00", id)
	require.Equal(t, "require_approval", decision)
	require.Equal(t, "approval_pending", code)

	_, err := s.DecideApproval(ctx, id, yes)
	require.Equal(t, "not_a_person", reason(err))
	got, err := s.ann.DecideApproval(ctx, id, yes)
	require.NoError(t, err)
	require.Equal(t, "approved", got["state"])
	require.Equal(t, "approved", got["decision"])
	require.Len(t, got["votes"], 1)
	request := got["request"].(map[string]any)["tool_invocation"].(map[string]any)
	require.Equal(t, "240.00", request["arguments"].(map[string]any)["amount"], "whoever decides sees the action")

	decision, code = s.used(t, "250.00", id)
	require.Equal(t, "require_approval", decision)
	require.Equal(t, "approval_other_action", code)
	decision, _ = s.used(t, "240.00", id)
	require.Equal(t, "allow", decision)
	decision, code = s.used(t, "240.00", id)
	require.Equal(t, "require_approval", decision)
	require.Equal(t, "approval_consumed", code)
	read, err := s.GetEvidence(ctx, "approvals", id)
	require.NoError(t, err)
	require.Equal(t, "consumed", read["state"])
	require.EqualValues(t, 1, read["uses"])
	_, err = s.bob.DecideApproval(ctx, id, yes)
	require.Equal(t, "invalid_transition", reason(err))
}

//nolint:paralleltest // it moves the clock
func TestAnApproverCanOnlyNarrow(t *testing.T) {
	s := approvalIn(t, testkit.Moving(t))
	ctx := t.Context()
	id := s.asked(t, "240.00", nil)
	limit := func(amount string) map[string]any {
		return map[string]any{"decision": "approve", "constraints": map[string]any{"maxAmount": amount}}
	}
	_, err := s.ann.DecideApproval(ctx, id, limit("240.01"))
	require.Error(t, err, "more than was asked for")
	_, err = s.ann.DecideApproval(ctx, id, limit("-1"))
	require.Error(t, err)
	got, err := s.ann.DecideApproval(ctx, id, limit("100"))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"max_amount": "100"}, got["constraints"])
	decision, code := s.used(t, "240.00", id)
	require.Equal(t, "require_approval", decision)
	require.Equal(t, "approval_exceeded", code)
	decision, _ = s.used(t, "99.50", id)
	require.Equal(t, "allow", decision)

	id = s.asked(t, "50.00", nil)
	got, err = s.GetEvidence(ctx, "approvals", id)
	require.NoError(t, err)
	until, err := time.Parse(time.RFC3339, got["expires_at"].(string))
	require.NoError(t, err)
	_, err = s.ann.DecideApproval(ctx, id, map[string]any{"expiresAt": until.Add(time.Second).Format(time.RFC3339)})
	require.Error(t, err, "longer than it was")
	_, err = s.ann.DecideApproval(ctx, id, map[string]any{"decision": "approved", "expiresAt": s.kit.Clock.Now().Add(time.Minute).Format(time.RFC3339)})
	require.NoError(t, err)
	s.kit.Clock.Advance(2 * time.Minute)
	decision, code = s.used(t, "50.00", id)
	require.Equal(t, "require_approval", decision)
	require.Equal(t, "approval_expired", code)
}

//nolint:paralleltest // it moves the clock
func TestApprovalsEnd(t *testing.T) {
	s := approvalIn(t, testkit.Moving(t))
	ctx := t.Context()
	rejected := s.asked(t, "1.00", nil)
	_, err := s.ann.DecideApproval(ctx, rejected, map[string]any{"decision": "rejected"})
	require.Error(t, err, "a rejection says why")
	got, err := s.ann.DecideApproval(ctx, rejected, map[string]any{"decision": "reject", "comment": "Too much."})
	require.NoError(t, err)
	require.Equal(t, "rejected", got["state"])
	decision, code := s.used(t, "1.00", rejected)
	require.Equal(t, []string{"require_approval", "approval_rejected"}, []string{decision, code})

	cancelled := s.asked(t, "2.00", nil)
	_, err = s.DecideApproval(ctx, cancelled, map[string]any{"state": "revoked", "comment": "Not yet."})
	require.Equal(t, "invalid_transition", reason(err))
	_, err = s.DecideApproval(ctx, cancelled, map[string]any{"state": "cancelled"})
	require.NoError(t, err, "taking back is not deciding")

	revoked := s.asked(t, "3.00", nil)
	_, err = s.ann.DecideApproval(ctx, revoked, yes)
	require.NoError(t, err)
	_, err = s.bob.DecideApproval(ctx, revoked, map[string]any{"state": "revoked", "comment": "I know more now."})
	require.NoError(t, err)
	decision, code = s.used(t, "3.00", revoked)
	require.Equal(t, []string{"require_approval", "approval_revoked"}, []string{decision, code})

	late := s.asked(t, "4.00", nil)
	s.kit.Clock.Advance(25 * time.Hour)
	_, err = s.ann.DecideApproval(ctx, late, yes)
	require.Equal(t, "approval_expired", reason(err))
	require.NotEqual(t, late, s.asked(t, "4.00", nil), "an expired request is not waited for")
	require.Eventually(t, func() bool {
		if _, err := s.kit.App.Outbox.Once(ctx); err != nil {
			return false
		}
		got, err := s.GetEvidence(ctx, "approvals", late)
		return err == nil && got["state"] == "expired"
	}, 10*time.Minute, 100*time.Millisecond, "time ends it")
	same, err := s.ann.DecideApproval(ctx, revoked, nil)
	require.NoError(t, err, "an empty body changes nothing")
	require.Equal(t, "revoked", same["state"])
}

//nolint:paralleltest // it moves the clock
func TestAnApprovalHoldsNoLongerThanTheRulesSay(t *testing.T) {
	s := approvalIn(t, testkit.Moving(t))
	ctx := t.Context()
	posted := func(amount string) (testkit.Evidence, time.Duration) {
		t.Helper()
		d, err := s.Evaluate(ctx, approvalRefund(amount, nil))
		require.NoError(t, err)
		a, err := s.PostEvidence(ctx, "approvals", map[string]any{
			"title": "Refunds", "reason": "All month.", "policyDecisionId": d.ID(), "maxUses": 1000, "expiresAt": s.kit.Clock.Now().Add(30 * 24 * time.Hour).Format(time.RFC3339),
		})
		require.NoError(t, err)
		_, err = s.ann.DecideApproval(ctx, a.ID(), yes)
		require.NoError(t, err)
		made, err := time.Parse(time.RFC3339, a["created_at"].(string))
		require.NoError(t, err)
		until, err := time.Parse(time.RFC3339, a["expires_at"].(string))
		require.NoError(t, err)
		return a, until.Sub(made)
	}
	older, holds := posted("240.00")
	require.Equal(t, 24*time.Hour, holds, "a rule that does not say how long gives a day")

	_, err := s.ann.Call(ctx, http.MethodPost, "/api/policies", map[string]any{"policyKey": "soon", "state": "active", "source": `@effect("require_approval") @expires_in("3600")
forbid (principal, action, resource) when { context.side_effect_class == "transact" };`}, nil)
	require.NoError(t, err)
	newer, holds := posted("241.00")
	require.Equal(t, time.Hour, holds)
	decision, _ := s.used(t, "241.00", newer.ID())
	require.Equal(t, "allow", decision)
	decision, _ = s.used(t, "240.00", older.ID())
	require.Equal(t, "allow", decision)

	s.kit.Clock.Advance(time.Hour)
	decision, code := s.used(t, "241.00", newer.ID())
	require.Equal(t, []string{"require_approval", "approval_expired"}, []string{decision, code})
	decision, code = s.used(t, "240.00", older.ID())
	require.Equal(t, []string{"require_approval", "approval_expired"}, []string{decision, code}, "the rules of now count, though it was asked for under others")
}

func TestTheVotesOfThoseWhoMayDecideNowCount(t *testing.T) {
	t.Parallel()
	s := approvalSet(t)
	ctx := t.Context()
	carolID, carol := s.admin(t)
	given := s.asked(t, "1.00", nil)
	_, err := carol.DecideApproval(ctx, given, yes)
	require.NoError(t, err)
	d, err := s.Evaluate(ctx, approvalRefund("2.00", nil))
	require.NoError(t, err)
	two, err := s.PostEvidence(ctx, "approvals", map[string]any{"title": "A refund", "reason": "Two people", "policyDecisionId": d.ID(), "minApprovals": 2, "maxUses": 5})
	require.NoError(t, err)
	_, err = carol.DecideApproval(ctx, two.ID(), yes)
	require.NoError(t, err)

	_, err = s.ann.UpdateMember(ctx, carolID, map[string]any{"role": "member"})
	require.NoError(t, err)
	decision, code := s.used(t, "1.00", given)
	require.Equal(t, []string{"require_approval", "approval_insufficient"}, []string{decision, code}, "a member is not an approver")
	got, err := s.ann.DecideApproval(ctx, two.ID(), yes)
	require.NoError(t, err)
	require.Equal(t, "pending", got["state"], "nor is the vote counted that carol gave as an admin")
	got, err = s.bob.DecideApproval(ctx, two.ID(), yes)
	require.NoError(t, err)
	require.Equal(t, "approved", got["state"])
	decision, _ = s.used(t, "2.00", two.ID())
	require.Equal(t, "allow", decision)

	require.NoError(t, s.ann.RemoveMember(ctx, s.bobID))
	decision, code = s.used(t, "2.00", two.ID())
	require.Equal(t, []string{"require_approval", "approval_insufficient"}, []string{decision, code}, "the request asked for two people, and one has left")
}

func TestNobodyApprovesWhatTheyAskedFor(t *testing.T) {
	t.Parallel()
	s := approvalSet(t)
	ctx := t.Context()
	n := 0
	next := func() string { n++; return fmt.Sprintf("%d.00", n) }

	id := s.asked(t, next(), nil, testkit.OnBehalfOf(s.annID))
	_, err := s.ann.DecideApproval(ctx, id, yes)
	require.Equal(t, "self_approval", reason(err), "named by the header")
	_, err = s.ann.DecideApproval(ctx, id, map[string]any{"decision": "rejected", "comment": "I changed my mind."})
	require.NoError(t, err, "anybody may say no")

	for _, name := range []string{s.annID, " " + s.annID} {
		id = s.asked(t, next(), map[string]any{"subjectUser": name})
		_, err = s.ann.DecideApproval(ctx, id, yes)
		require.Equal(t, "self_approval", reason(err), "named as the user")
	}

	amount := next()
	id = s.asked(t, amount, map[string]any{"subjectUser": s.annID})
	require.Equal(t, id, s.asked(t, amount, map[string]any{"subjectUser": s.bobID}))
	for _, c := range []*testkit.Client{s.ann, s.bob} {
		_, err = c.DecideApproval(ctx, id, yes)
		require.Equal(t, "self_approval", reason(err), "whoever asks for the same asks too")
	}

	amount = next()
	id = s.asked(t, amount, nil)
	_, err = s.ann.DecideApproval(ctx, id, yes)
	require.NoError(t, err)
	d, err := s.Evaluate(ctx, approvalRefund(amount, map[string]any{"approvalId": id, "subjectUser": s.annID}))
	require.NoError(t, err)
	require.Equal(t, "require_approval", d["decision"], "and nobody uses what they approved")
	decision, _ := s.used(t, amount, id)
	require.Equal(t, "allow", decision)

	d, err = s.ann.Evaluate(ctx, approvalRefund(next(), nil))
	require.NoError(t, err)
	_, err = s.ann.DecideApproval(ctx, d.Number("approval_id"), yes)
	require.Equal(t, "self_approval", reason(err), "a key of her own asks for her")
	posted, err := s.PostEvidence(ctx, "approvals", map[string]any{"title": "Refund", "reason": "The agent asks for Ann.", "policyDecisionId": d.ID()})
	require.NoError(t, err)
	_, err = s.ann.DecideApproval(ctx, posted.ID(), yes)
	require.Equal(t, "self_approval", reason(err), "whoever posts the request, she asked for the decision")

	made, err := s.ann.CreateKey(ctx, testkit.NewKey{Name: "for bob", Scopes: []string{"admin:org"}, Personal: new(true)}, testkit.OnBehalfOf(s.bobID))
	require.NoError(t, err)
	id = s.asked(t, next(), map[string]any{"subjectUser": s.annID})
	_, err = s.With(made.Key).DecideApproval(ctx, id, yes)
	require.Equal(t, "not_a_person", reason(err), "a key that she made for another is nobody")

	puppet, err := s.CreateKey(ctx, testkit.NewKey{Name: "bob, made by the agent", Scopes: []string{"admin:org"}, Personal: new(true)}, testkit.OnBehalfOf(s.bobID))
	require.NoError(t, err)
	id = s.asked(t, next(), nil)
	_, err = s.With(puppet.Key).DecideApproval(ctx, id, yes)
	require.Equal(t, "not_a_person", reason(err), "nor is a key that the agent made")

	_, err = s.ann.UpdateOrganization(ctx, map[string]any{"separationOfDuties": "key_owner"})
	require.NoError(t, err)
	service, err := s.ann.CreateKey(ctx, testkit.NewKey{Name: "an agent", Scopes: []string{"traces:write"}})
	require.NoError(t, err)
	d, err = s.With(service.Key).Evaluate(ctx, approvalRefund(next(), nil))
	require.NoError(t, err)
	_, err = s.ann.DecideApproval(ctx, d.Number("approval_id"), yes)
	require.Equal(t, "self_approval", reason(err), "her agent is hers")
	_, err = s.bob.DecideApproval(ctx, d.Number("approval_id"), yes)
	require.NoError(t, err)
}

// TestAnotherApprovalOfTheActionHelpsNobody asks for an action in one request and approves it in
// another.
func TestAnotherApprovalOfTheActionHelpsNobody(t *testing.T) {
	t.Parallel()
	s := approvalSet(t)
	ctx := t.Context()
	post := func(decision testkit.Evidence) int64 {
		r, err := s.PostEvidence(ctx, "approvals", map[string]any{"title": "Refund", "reason": "The goods came back.", "policyDecisionId": decision.ID()})
		require.NoError(t, err)
		return r.ID()
	}

	d, err := s.Evaluate(ctx, approvalRefund("1.00", nil))
	require.NoError(t, err)
	other := post(d)
	hers, err := s.ann.Evaluate(ctx, approvalRefund("1.00", nil))
	require.NoError(t, err)
	require.Equal(t, d.Number("approval_id"), hers.Number("approval_id"))
	_, err = s.ann.DecideApproval(ctx, other, yes)
	require.Equal(t, "self_approval", reason(err), "she asked for the same action")
	_, err = s.bob.DecideApproval(ctx, other, yes)
	require.NoError(t, err)

	d, err = s.Evaluate(ctx, approvalRefund("2.00", map[string]any{"mode": "dry_run", "subjectUser": s.annID}))
	require.NoError(t, err)
	_, err = s.ann.DecideApproval(ctx, post(d), yes)
	require.Equal(t, "self_approval", reason(err), "a dry run named her")

	d, err = s.Evaluate(ctx, approvalRefund("3.00", nil))
	require.NoError(t, err)
	two, err := s.PostEvidence(ctx, "approvals", map[string]any{"title": "Refund", "reason": "Two people.", "policyDecisionId": d.ID(), "minApprovals": 2})
	require.NoError(t, err)
	_, err = s.ann.DecideApproval(ctx, two.ID(), yes)
	require.NoError(t, err)
	s.asked(t, "3.00", map[string]any{"subjectUser": s.annID})
	_, err = s.bob.DecideApproval(ctx, two.ID(), yes)
	require.NoError(t, err)
	decision, code := s.used(t, "3.00", two.ID())
	require.Equal(t, []string{"require_approval", "self_approval"}, []string{decision, code}, "she was named while the other still voted")
}

// TestPermissionComesBeforeState votes on an approval that is decided already.
func TestPermissionComesBeforeState(t *testing.T) {
	t.Parallel()
	s := approvalSet(t)
	ctx := t.Context()
	id := s.asked(t, "1.00", nil, testkit.OnBehalfOf(s.annID))
	_, err := s.bob.DecideApproval(ctx, id, map[string]any{"decision": "rejected", "comment": "No."})
	require.NoError(t, err)
	_, err = s.ann.DecideApproval(ctx, id, yes)
	require.Equal(t, "self_approval", reason(err))
	_, err = s.bob.DecideApproval(ctx, id, yes)
	require.Equal(t, "invalid_transition", reason(err))
}

// TestWhoeverAsksLaterApprovesNothing asks for an action while others still vote on it.
func TestWhoeverAsksLaterApprovesNothing(t *testing.T) {
	t.Parallel()
	s := approvalSet(t)
	ctx := t.Context()
	_, err := s.ann.Call(ctx, http.MethodPost, "/api/policies", map[string]any{"policyKey": "two", "state": "active", "source": `@id("two") @effect("require_approval") @min_approvals("2")
forbid (principal, action == Action::"tool.call", resource) when { context.tool_name == "refund" };`}, nil)
	require.NoError(t, err)
	id := s.asked(t, "5.00", nil)
	_, err = s.ann.DecideApproval(ctx, id, yes)
	require.NoError(t, err)
	require.Equal(t, id, s.asked(t, "5.00", map[string]any{"subjectUser": s.annID}))
	got, err := s.bob.DecideApproval(ctx, id, yes)
	require.NoError(t, err)
	require.Equal(t, "approved", got["state"])
	decision, code := s.used(t, "5.00", id)
	require.Equal(t, "require_approval", decision)
	require.Equal(t, "self_approval", code)
}

func TestARequestWithADigestOnlyIsNeverUsed(t *testing.T) {
	t.Parallel()
	s := approvalSet(t)
	ctx := t.Context()
	d, err := s.Evaluate(ctx, approvalRefund("240.00", nil))
	require.NoError(t, err)
	blind, err := s.PostEvidence(ctx, "approvals", map[string]any{"title": "One cent", "reason": "Trust me", "inputDigest": d["input_digest"], "amount": "0.01", "frameDigest": d["input_digest"]})
	require.NoError(t, err)
	require.Nil(t, blind["frame_digest"])
	_, err = s.ann.DecideApproval(ctx, blind.ID(), yes)
	require.NoError(t, err)
	decision, code := s.used(t, "240.00", blind.ID())
	require.Equal(t, []string{"require_approval", "approval_unseen"}, []string{decision, code})

	seen, err := s.PostEvidence(ctx, "approvals", map[string]any{"title": "A refund", "reason": "The goods came back", "policyDecisionId": d.ID(), "request": map[string]any{"amount": "0.01"}, "maxUses": 2})
	require.NoError(t, err)
	request := seen["request"].(map[string]any)["tool_invocation"].(map[string]any)
	require.Equal(t, "240.00", request["arguments"].(map[string]any)["amount"], "the request shows what was asked, not what its sender says")
	_, err = s.ann.DecideApproval(ctx, seen.ID(), yes)
	require.NoError(t, err)
	two, err := s.PostEvidence(ctx, "approvals", map[string]any{"title": "A refund", "reason": "Two people", "policyDecisionId": d.ID(), "minApprovals": 2})
	require.NoError(t, err)
	half, err := s.ann.DecideApproval(ctx, two.ID(), yes)
	require.NoError(t, err)
	require.Equal(t, "pending", half["state"], "a request can ask for more people than the policies do")
	whole, err := s.bob.DecideApproval(ctx, two.ID(), yes)
	require.NoError(t, err)
	require.Equal(t, "approved", whole["state"])
	for range 2 {
		decision, _ = s.used(t, "240.00", seen.ID())
		require.Equal(t, "allow", decision)
	}
	_, code = s.used(t, "240.00", seen.ID())
	require.Equal(t, "approval_consumed", code)
}

// TestTwoApprovalsAreTwoPeople tries to be two people: with keys for others, and as members whose
// invitations the voter has seen.
func TestTwoApprovalsAreTwoPeople(t *testing.T) {
	t.Parallel()
	s := approvalSet(t)
	ctx := t.Context()
	_, err := s.ann.Call(ctx, http.MethodPost, "/api/policies", map[string]any{"policyKey": "two", "state": "active", "source": `@id("two") @effect("require_approval") @min_approvals("2")
forbid (principal, action == Action::"tool.call", resource) when { context.tool_name == "refund" };`}, nil)
	require.NoError(t, err)
	id := s.asked(t, "5.00", nil)
	_, err = s.ann.DecideApproval(ctx, id, yes)
	require.NoError(t, err)

	member, minted := s.ann.Minted(t, principal.Admin)
	_, err = minted.DecideApproval(ctx, id, yes)
	require.Equal(t, "not_a_person", reason(err))
	_, err = s.ann.DecideApproval(ctx, id, yes, testkit.OnBehalfOf(member.ID))
	require.Equal(t, "not_a_person", reason(err))
	_, puppet := testkit.LetIn(t, s.ann, principal.Admin)
	_, err = puppet.DecideApproval(ctx, id, yes)
	require.ErrorIs(t, err, approval.ErrSameHand, "she could have accepted that invitation herself")
	_, second := testkit.LetIn(t, puppet, principal.Admin)
	_, err = second.DecideApproval(ctx, id, yes)
	require.ErrorIs(t, err, approval.ErrSameHand)

	got, err := s.bob.DecideApproval(ctx, id, yes)
	require.NoError(t, err)
	require.Equal(t, "approved", got["state"])

	id = s.asked(t, "6.00", nil)
	_, third := testkit.LetIn(t, puppet, principal.Admin)
	_, err = third.DecideApproval(ctx, id, yes)
	require.NoError(t, err)
	_, err = second.DecideApproval(ctx, id, yes)
	require.ErrorIs(t, err, approval.ErrSameHand, "one of the organization has let both in")
}
