package agent_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/guard"
	"github.com/assayhq/assay/internal/test/testkit"
)

// scene is an organization with an agent that pays.
type guardScene struct {
	*testkit.Client
	kit *testkit.Kit
	ann *testkit.Client
	url string
}

const guardPayable = `@id("pay") @obligations("record_side_effect, verify_side_effect(within_seconds=60)")
permit (principal, action == Action::"tool.call", resource) when { context.tool_name == "pay" };
@id("large") @effect("require_approval") @reason("a refund needs an approval")
forbid (principal, action == Action::"tool.call", resource) when { context.tool_name == "refund" };
@id("refund") permit (principal, action == Action::"tool.call", resource) when { context.tool_name == "refund" };
@id("read") permit (principal, action == Action::"tool.call", resource) when { context.tool_name == "look_up" };`

func guardSet(t testing.TB) guardScene {
	t.Helper()
	return guardIn(t, testkit.Shared(t))
}

func guardIn(t testing.TB, k *testkit.Kit) guardScene {
	t.Helper()
	operator := k.Org(t)
	s := guardScene{Client: operator.Agent(t), kit: k, url: k.URL}
	_, s.ann = operator.Person(t, "admin")
	s.ann.Connector(t, "bank", map[string]string{"pay": "transact", "refund": "transact", "wire": "transact", "look_up": "read"})
	var page struct {
		Policies []struct {
			ID string `json:"id"`
		} `json:"policies"`
	}
	_, err := s.ann.Call(t.Context(), http.MethodGet, "/api/policies?policyKey=baseline", nil, &page)
	require.NoError(t, err)
	require.Len(t, page.Policies, 1)
	_, err = s.ann.Call(t.Context(), http.MethodPatch, "/api/policies/"+page.Policies[0].ID, map[string]any{"state": "retired"}, nil)
	require.NoError(t, err)
	_, err = s.ann.Call(t.Context(), http.MethodPost, "/api/policies", map[string]any{"policyKey": "payments", "source": guardPayable, "state": "active"}, nil)
	require.NoError(t, err)
	return s
}

func (s guardScene) guard(more func(*guard.Config)) *guard.Guard {
	c := guard.Config{URL: s.url, Key: s.Key.Reveal(), Runtime: "payer", Timeout: 3 * time.Minute}
	if more != nil {
		more(&c)
	}
	return guard.New(c)
}

// do calls a tool that ends in a way, and reports whether it was called.
func do(ctx context.Context, g *guard.Guard, tool guard.Tool, ends error) (called bool, err error) {
	tool.Connector = "bank"
	got, err := guard.Do(ctx, g, tool, map[string]any{"order": "A-17", "amount": "240.00"}, func(context.Context, string) (string, error) {
		called = true
		return "receipt", ends
	})
	if called && ends == nil && got != "receipt" {
		err = errors.Join(err, errors.New("the receipt is lost"))
	}
	return called, err
}

// entry is the side effect of a call.
func (s guardScene) entry(t testing.TB, call string) testkit.Evidence {
	t.Helper()
	all, _, err := s.ListEvidence(t.Context(), "side-effect-ledger", "invocationId="+call)
	require.NoError(t, err)
	require.Len(t, all, 1)
	return all[0]
}

func (s guardScene) entries(t testing.TB) int {
	t.Helper()
	all, _, err := s.ListEvidence(t.Context(), "side-effect-ledger", "")
	require.NoError(t, err)
	return len(all)
}

// pending is the approval that a person is asked for.
func (s guardScene) pending(t testing.TB) (id int64) {
	t.Helper()
	require.Eventually(t, func() bool {
		all, _, err := s.ListEvidence(t.Context(), "approvals", "state=pending")
		if err != nil || len(all) != 1 {
			return false
		}
		id = all[0].ID()
		return true
	}, 10*time.Minute, 50*time.Millisecond)
	return id
}

func finds(f guard.Finding) func(context.Context, string) (guard.Finding, error) {
	return func(context.Context, string) (guard.Finding, error) { return f, nil }
}

func TestAnActionIsAllowedRecordedAndVerified(t *testing.T) {
	t.Parallel()
	s := guardSet(t)
	g := s.guard(nil)
	refused := errors.Join(guard.ErrNotApplied, errors.New("no funds"))
	for _, c := range []struct {
		call  string
		ends  error
		finds guard.Finding
		state string
	}{
		{"paid", nil, guard.Confirmed, "verified"},
		{"lied", nil, guard.Absent, "not_applied"},
		{"changed", nil, guard.Different, "conflicting"},
		{"unclear", errors.New("timeout"), guard.Confirmed, "verified"},
		{"refused", refused, guard.Absent, "failed"},
	} {
		called, err := do(t.Context(), g, guard.Tool{Name: "pay", Invocation: c.call, Verify: finds(c.finds)}, c.ends)
		require.ErrorIs(t, err, c.ends, c.call)
		require.True(t, called, c.call)
		e := s.entry(t, c.call)
		require.Equal(t, c.state, e["state"], c.call)
		require.Equal(t, "allowed", e["authorization"], c.call)
	}
}

// A process that died may have sent its call: under the same name it is sent again only if
// that is harmless.
func TestACallIsSentOnceUnderItsName(t *testing.T) {
	t.Parallel()
	s := guardSet(t)
	g := s.guard(nil)
	pay := func(name string, idempotent bool, ends error, found guard.Finding) (bool, error) {
		return do(t.Context(), g, guard.Tool{Name: "pay", Invocation: name, Idempotent: idempotent, Verify: finds(found)}, ends)
	}
	called, err := pay("A-17", false, nil, guard.Confirmed)
	require.NoError(t, err)
	require.True(t, called)

	called, err = pay("A-17", false, nil, guard.Confirmed)
	require.ErrorIs(t, err, guard.ErrRepeated)
	require.False(t, called)
	require.Equal(t, "verified", s.entry(t, "A-17")["state"], "what was not sent is not in the ledger")
	twice, _, err := s.ListEvidence(t.Context(), "failures", "failureMode=duplicate_side_effect")
	require.NoError(t, err)
	require.Empty(t, twice, "nor is it a failure")
	called, err = pay("A-17", true, nil, guard.Confirmed)
	require.NoError(t, err)
	require.True(t, called, "the bank recognizes the key")

	called, err = pay("A-18", false, guard.ErrNotApplied, guard.Absent)
	require.ErrorIs(t, err, guard.ErrNotApplied)
	require.True(t, called)
	called, err = pay("A-18", false, nil, guard.Confirmed)
	require.NoError(t, err)
	require.True(t, called, "the first is known to have done nothing")
	called, err = pay("A-18", false, nil, guard.Confirmed)
	require.ErrorIs(t, err, guard.ErrRepeated, "and the second is not")
	require.False(t, called)
}

// A platform that does not know how to refuse notes what guard then does not send.
func TestAnOlderPlatformDoesNotRefuse(t *testing.T) {
	t.Parallel()
	s := guardSet(t)
	to, err := url.Parse(s.url)
	require.NoError(t, err)
	old := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.URL.RawQuery = ""
	}})
	t.Cleanup(old.Close)
	g := s.guard(func(c *guard.Config) { c.URL = old.URL })
	pay := guard.Tool{Name: "pay", Invocation: "A-17", Verify: finds(guard.Confirmed)}
	called, err := do(t.Context(), g, pay, nil)
	require.NoError(t, err)
	require.True(t, called)

	called, err = do(t.Context(), g, pay, nil)

	require.ErrorIs(t, err, guard.ErrRepeated)
	require.False(t, called)
	require.Equal(t, 2, s.entries(t))
}

func TestAnEffectBelongsToItsTrace(t *testing.T) {
	t.Parallel()
	s := guardSet(t)
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	called, err := do(t.Context(), s.guard(nil), guard.Tool{Name: "pay", Invocation: "traced", TraceID: trace, SpanID: span, Verify: finds(guard.Confirmed)}, nil)
	require.NoError(t, err)
	require.True(t, called)

	all, _, err := s.ListEvidence(t.Context(), "side-effect-ledger", "traceId="+trace)

	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, span, all[0]["span_id"])
}

func TestADeniedActionIsNotTaken(t *testing.T) {
	t.Parallel()
	s := guardSet(t)
	g := s.guard(nil)
	called, err := do(t.Context(), g, guard.Tool{Name: "wire"}, nil)
	require.ErrorIs(t, err, guard.ErrDenied, "nothing permits it")
	require.False(t, called)

	called, err = do(t.Context(), g, guard.Tool{Name: "pay"}, nil)
	require.ErrorIs(t, err, guard.ErrDenied, "it cannot be verified, and has to be")
	require.False(t, called)

	called, err = do(t.Context(), g, guard.Tool{Name: "look_up"}, nil)
	require.NoError(t, err)
	require.True(t, called)
	require.Zero(t, s.entries(t), "reading has no effect")
}

func TestAnActionWaitsForAPerson(t *testing.T) {
	t.Parallel()
	s := guardSet(t)
	ctx := t.Context()
	called, err := do(ctx, s.guard(nil), guard.Tool{Name: "refund"}, nil)
	require.ErrorIs(t, err, guard.ErrApproval)
	require.False(t, called)
	var waits *guard.ApprovalError
	require.ErrorAs(t, err, &waits)
	_, err = s.ann.DecideApproval(ctx, waits.Approval, map[string]any{"decision": "approved"})
	require.NoError(t, err)
	called, err = do(ctx, s.guard(nil), guard.Tool{Name: "refund", Approval: waits.Approval}, nil)
	require.NoError(t, err, "an approval can be used later")
	require.True(t, called)
	called, err = do(ctx, s.guard(nil), guard.Tool{Name: "refund"}, nil)
	require.ErrorIs(t, err, guard.ErrApproval)
	require.False(t, called)

	_, err = s.ann.DecideApproval(ctx, s.pending(t), map[string]any{"decision": "rejected", "comment": "Not today."})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		called, err := do(ctx, s.guard(func(c *guard.Config) { c.ApprovalWait = 3 * time.Minute }), guard.Tool{Name: "refund", Invocation: "waits"}, nil)
		if !called {
			err = errors.Join(err, errors.New("not called"))
		}
		done <- err
	}()
	id := s.pending(t)
	_, err = s.ann.DecideApproval(ctx, id, map[string]any{"decision": "approved"})
	require.NoError(t, err)
	require.NoError(t, <-done)
	require.Equal(t, id, s.entry(t, "waits").Number("approval_id"))

	called, err = do(ctx, s.guard(nil), guard.Tool{Name: "refund"}, nil)
	require.ErrorIs(t, err, guard.ErrApproval, "an approval is for one use")
	require.False(t, called)
}

func TestAnApprovalOfLessIsNotEnough(t *testing.T) {
	t.Parallel()
	s := guardSet(t)
	ctx := t.Context()
	type outcome struct {
		called bool
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		called, err := do(ctx, s.guard(func(c *guard.Config) { c.ApprovalWait = 3 * time.Minute }), guard.Tool{Name: "refund"}, nil)
		done <- outcome{called, err}
	}()
	first := s.pending(t)
	_, err := s.ann.DecideApproval(ctx, first, map[string]any{"decision": "approved", "constraints": map[string]any{"maxAmount": "100"}})
	require.NoError(t, err)

	got := <-done

	require.False(t, got.called)
	var again *guard.ApprovalError
	require.ErrorAs(t, got.err, &again)
	require.Equal(t, s.pending(t), again.Approval, "the action waits for another approval")
	require.NotEqual(t, first, again.Approval)
}

// The clocks of an agent and of the platform differ.
//
//nolint:paralleltest // it moves the clock
func TestADecisionHoldsByTheClockOfTheAgent(t *testing.T) {
	s := guardIn(t, testkit.Moving(t))
	s.kit.Clock.Advance(-5 * time.Minute)
	called, err := do(t.Context(), s.guard(nil), guard.Tool{Name: "pay", Verify: finds(guard.Confirmed)}, nil)
	require.NoError(t, err)
	require.True(t, called)
}

// An agent whose key cannot read waits for nothing, and says why.
func TestAnAgentThatCannotReadDoesNotWait(t *testing.T) {
	t.Parallel()
	s := guardSet(t)
	key, err := s.CreateKey(t.Context(), testkit.NewKey{Name: "writer", Scopes: []string{"traces:write"}})
	require.NoError(t, err)
	g := s.guard(func(c *guard.Config) { c.Key, c.ApprovalWait = key.Key.Reveal(), 3*time.Minute })
	called, err := do(t.Context(), g, guard.Tool{Name: "refund"}, nil)
	require.False(t, called)
	require.ErrorIs(t, err, guard.ErrApproval)
	require.ErrorContains(t, err, "traces:read")
}

// What an answer quotes does not decide whether it is one.
func TestASuccessThatQuotesARefusalIsOne(t *testing.T) {
	t.Parallel()
	s := guardSet(t)
	g := s.guard(nil)
	called := false
	_, err := guard.Do(t.Context(), g, guard.Tool{Connector: "bank", Name: "pay", Verify: finds(guard.Confirmed)}, map[string]any{"status": "idempotency_in_progress"}, func(context.Context, string) (string, error) {
		called = true
		return "", nil
	})
	require.NoError(t, err)
	require.True(t, called)
}

func TestNothingIsDoneWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := guardSet(t)
	behind, err := url.Parse(s.url)
	require.NoError(t, err)
	for _, broken := range []string{"/policy/evaluate", "/side-effect-ledger"} {
		proxy := httputil.NewSingleHostReverseProxy(behind)
		half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, broken) {
				http.Error(w, "away", http.StatusServiceUnavailable)
				return
			}
			proxy.ServeHTTP(w, r)
		}))
		defer half.Close()
		g := s.guard(func(c *guard.Config) { c.URL, c.Timeout = half.URL, time.Second })
		called, err := do(t.Context(), g, guard.Tool{Name: "pay", Verify: finds(guard.Confirmed)}, nil)
		require.ErrorIs(t, err, guard.ErrUnavailable, broken)
		require.False(t, called, broken)
	}
	require.Zero(t, s.entries(t))
}

func TestAnOutcomeThatCannotBeNotedIsAnError(t *testing.T) {
	t.Parallel()
	s := guardSet(t)
	behind, err := url.Parse(s.url)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(behind)
	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			http.Error(w, "away", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer half.Close()
	g := s.guard(func(c *guard.Config) { c.URL = half.URL })
	called, err := do(t.Context(), g, guard.Tool{Name: "pay", Invocation: "noted", Verify: finds(guard.Confirmed)}, nil)
	require.ErrorIs(t, err, guard.ErrUnrecorded)
	require.True(t, called)
	require.Equal(t, "dispatched", s.entry(t, "noted")["state"], "what was sent is known, and will be overdue")
}
