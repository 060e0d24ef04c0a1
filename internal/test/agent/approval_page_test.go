package agent_test

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// visit asks for a page of a person, or sends a form, and returns what comes of it.
func visit(t *testing.T, k *testkit.Kit, session, path string, form url.Values) (int, string) {
	t.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(t.Context(), method, k.URL+path, body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.AddCookie(&http.Cookie{Name: "__Host-assay", Value: session})
	once := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := once.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}

func TestAnApprovalIsDecidedOnItsPage(t *testing.T) {
	t.Parallel()
	s := approvalSet(t)
	ctx := t.Context()
	enter := func(role principal.Role) string {
		m, err := s.InviteMember(ctx, testkit.NewMember{Email: string(role) + "@pages.example.com", Role: string(role)})
		require.NoError(t, err)
		return s.SignedIn(t, m.ID).Token.Reveal()
	}
	carol := enter(principal.Admin)
	first, second := s.asked(t, "240.00", nil), s.asked(t, "241.00", nil)
	status, body := visit(t, s.kit, carol, "/app/approvals", nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "240.00")
	require.Contains(t, body, "payments/refund")
	at := func(id int64) string { return "/app/approvals/" + strconv.FormatInt(id, 10) }
	require.Contains(t, body, at(first))

	yes := url.Values{"version": {"1"}, "decision": {"approved"}, "reason": {"The goods are back."}}
	status, _ = visit(t, s.kit, carol, at(first), url.Values{"version": {"1"}, "decision": {"approved"}})
	require.Equal(t, http.StatusBadRequest, status, "without a reason")
	status, _ = visit(t, s.kit, carol, at(first), url.Values{"version": {"7"}, "decision": {"approved"}, "reason": {"x"}})
	require.Equal(t, http.StatusConflict, status, "another version was shown")
	status, _ = visit(t, s.kit, carol, at(first), yes)
	require.Equal(t, http.StatusSeeOther, status)
	status, _ = visit(t, s.kit, carol, at(second), url.Values{"version": {"1"}, "decision": {"rejected"}, "reason": {"Too late."}})
	require.Equal(t, http.StatusSeeOther, status)
	got, err := s.GetEvidence(ctx, "approvals", first)
	require.NoError(t, err)
	require.Equal(t, "approved", got["state"])
	_, body = visit(t, s.kit, carol, "/app/approvals", nil)
	require.Contains(t, body, "Nothing waits for you.")
	decision, _ := s.used(t, "240.00", first)
	require.Equal(t, "allow", decision)

	status, _ = visit(t, s.kit, enter(principal.Member), "/app/approvals", nil)
	require.Equal(t, http.StatusForbidden, status, "members do not decide")
	status, _ = visit(t, s.kit, "nonsense", at(first), yes)
	require.Equal(t, http.StatusSeeOther, status, "to sign in")
}
