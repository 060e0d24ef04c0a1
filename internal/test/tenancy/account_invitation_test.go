package tenancy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/tenancy/account"
	"github.com/assayhq/assay/internal/test/testkit"
)

// invite adds a member and returns them with a link of the operator's.
func invite(t testing.TB, k *testkit.Kit, us *testkit.Client, role string) (testkit.Member, string) {
	t.Helper()
	m, err := us.InviteMember(t.Context(), testkit.NewMember{Email: "new-" + uuid.NewString() + "@example.com", Role: role})
	require.NoError(t, err)
	made, err := k.App.Account.Invite(t.Context(), us.Org, uuid.MustParse(m.ID))
	require.NoError(t, err)
	return m, made.Link.Reveal()
}

func TestAnInvitationIsAcceptedInATerminal(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	ctx, us := t.Context(), k.Org(t)
	_, ann := us.Person(t, principal.Admin)
	m, err := ann.InviteMember(ctx, testkit.NewMember{Email: "bob@example.com", Role: "annotator"})
	require.NoError(t, err)
	require.Equal(t, "invited", m.Status)
	link, err := ann.CreateInvitation(ctx, m.ID)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(link.URL, "/app/invitation?token="), "no host is known: %s", link.URL)

	anybody := us.With("")
	res, err := anybody.Send(ctx, "POST", link.URL, strings.NewReader(`{"password":"too short"}`))
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, res.Status, "%s", res.Body)

	res, err = anybody.Send(ctx, "POST", link.URL, strings.NewReader(`{"password":"`+testkit.Password+`"}`))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.Status, "%s", res.Body)
	var got struct {
		Organization string `json:"organization_id"`
		User         string `json:"user_id"`
		Key          string `json:"key"`
	}
	require.NoError(t, json.Unmarshal(res.Body, &got))
	require.Equal(t, us.Org.String()+" "+m.ID, got.Organization+" "+got.User)
	me, err := us.With(secret.Text(got.Key)).GetMe(ctx)
	require.NoError(t, err)
	require.Equal(t, m.ID, *me.UserID)
	require.Equal(t, []string{"eval:read", "eval:write"}, me.Scopes)

	res, err = anybody.Send(ctx, "POST", link.URL, strings.NewReader(`{"password":"`+testkit.Password+`"}`))
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, res.Status, "it works once: %s", res.Body)
	_, err = ann.CreateInvitation(ctx, m.ID)
	require.ErrorIs(t, err, account.ErrAccepted, "nobody takes an account over")
	after, err := us.GetMember(ctx, m.ID)
	require.NoError(t, err)
	require.Equal(t, "active", after.Status)
}

//nolint:paralleltest // it moves the clock
func TestAnInvitationWorksOnceAndNotForEver(t *testing.T) {
	k := testkit.Moving(t)
	ctx, us := t.Context(), k.Org(t)
	_, old := invite(t, k, us, "member")
	a := k.App.Account
	m, link := invite(t, k, us, "member")
	again, err := a.Invite(ctx, us.Org, uuid.MustParse(m.ID))
	require.NoError(t, err)
	_, err = a.Accept(ctx, testkit.TokenOf(link), testkit.Password)
	require.ErrorIs(t, err, account.ErrInvitation, "another one has taken its place")

	token := testkit.TokenOf(again.Link.Reveal())
	results := make(chan error, 8)
	for range cap(results) {
		go func() {
			_, err := a.Accept(ctx, token, testkit.Password)
			results <- err
		}()
	}
	accepted := 0
	for range cap(results) {
		if err := <-results; err == nil {
			accepted++
		} else {
			require.ErrorIs(t, err, account.ErrInvitation)
		}
	}
	require.Equal(t, 1, accepted)

	k.Clock.Advance(8 * 24 * time.Hour)
	_, err = a.Accept(ctx, testkit.TokenOf(old), testkit.Password)
	require.ErrorIs(t, err, account.ErrInvitation)
	for _, wrong := range []string{"", "x", token + "A", strings.Repeat("A", 64)} {
		_, err = a.Accept(ctx, wrong, testkit.Password)
		require.ErrorIs(t, err, account.ErrInvitation)
	}
}

func TestOnlyOwnersLetOwnersIn(t *testing.T) {
	t.Parallel()
	ctx, us := t.Context(), testkit.Shared(t).Org(t)
	_, admin := us.Person(t, principal.Admin)
	_, owner := us.Person(t, principal.Owner)
	m, err := us.InviteMember(ctx, testkit.NewMember{Email: "second@example.com", Role: "owner"})
	require.NoError(t, err)
	_, err = admin.CreateInvitation(ctx, m.ID)
	require.ErrorIs(t, err, tenancy.ErrOwnersOnly)
	_, err = owner.CreateInvitation(ctx, m.ID)
	require.NoError(t, err)
	_, stranger := testkit.Shared(t).Org(t).Person(t, principal.Owner)
	_, err = stranger.CreateInvitation(ctx, m.ID)
	require.ErrorIs(t, err, tenancy.ErrMemberNotFound)
}

// passwordsAreNotGuessed tries some, where two attempts a minute are let through for each account.
func passwordsAreNotGuessed(t *testing.T, k *testkit.Kit, us *testkit.Client) {
	t.Helper()
	ctx := t.Context()
	m, err := us.InviteMember(ctx, testkit.NewMember{Email: "ann@example.com", Role: "member"})
	require.NoError(t, err)
	us.SignedIn(t, m.ID)
	try := func(email, password string) error {
		_, err := k.App.Account.SignIn(ctx, us.Org, email, password, "")
		return err
	}
	require.ErrorIs(t, try("ann@example.com", "wrong wrong wrong"), account.ErrSignIn)
	require.NoError(t, try(" ANN@example.com", testkit.Password))
	require.ErrorIs(t, try("ann@example.com", testkit.Password), account.ErrTooManyAttempts, "of one account")
	require.ErrorIs(t, try("nobody@example.com", testkit.Password), account.ErrSignIn, "nobody learns who has an account")
	require.ErrorIs(t, try("another@example.com", testkit.Password), account.ErrSignIn)
	require.ErrorIs(t, try("a-third@example.com", testkit.Password), account.ErrSignIn)
	require.ErrorIs(t, try("bob@example.com", testkit.Password), account.ErrTooManyAttempts, "from one address")
}
