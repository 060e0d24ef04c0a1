package tenancy_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestPersonalKeysEndWithTheKeyThatMadeThem(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	mint := func(t *testing.T, with *testkit.Client, name string, expires *time.Time) testkit.Key {
		t.Helper()
		made, err := with.CreateMyKey(t.Context(), testkit.NewKey{Name: name, Scopes: reading, ExpiresAt: expires})
		require.NoError(t, err)
		return made
	}
	works := func(t *testing.T, us *testkit.Client, key testkit.Key) error {
		t.Helper()
		_, err := us.With(key.Key).GetMe(t.Context())
		return err
	}

	t.Run("when it is revoked, and so do those that they made", func(t *testing.T) {
		t.Parallel()
		us := k.Org(t)
		_, ada := us.Person(t, principal.Member)
		first := mint(t, ada, "first", nil)
		second := mint(t, us.With(first.Key), "second", nil)
		third := mint(t, us.With(second.Key), "third", nil)
		other := mint(t, ada, "other", nil)
		require.NoError(t, us.DeleteAPIKey(t.Context(), first.ID))
		for _, gone := range []testkit.Key{first, second, third} {
			require.ErrorIs(t, works(t, us, gone), tenancy.ErrKeyRevoked, gone.Name)
		}
		require.NoError(t, works(t, us, other))
		require.NoError(t, works(t, us, testkit.Key{Key: ada.Key}))
		log, err := us.ListAuditLogs(t.Context(), "action=api_key.revoked")
		require.NoError(t, err)
		require.Len(t, log.AuditLogs, 3, "each of them is in the audit log")
	})

	t.Run("when its person deletes it", func(t *testing.T) {
		t.Parallel()
		us := k.Org(t)
		_, ada := us.Person(t, principal.Member)
		first := mint(t, ada, "first", nil)
		second := mint(t, us.With(first.Key), "second", nil)
		require.NoError(t, ada.DeleteMyAPIKey(t.Context(), first.ID))
		require.ErrorIs(t, works(t, us, second), tenancy.ErrKeyRevoked)
	})

	t.Run("when it expires, and never later", func(t *testing.T) {
		t.Parallel()
		k := testkit.Moving(t)
		us := k.Org(t)
		_, ada := us.Person(t, principal.Member)
		end := soon(k, time.Hour)
		first := mint(t, ada, "first", end)
		with := us.With(first.Key)
		require.Equal(t, first.ExpiresAt, mint(t, with, "unsaid", nil).ExpiresAt, "without an end of its own it has its parent's")
		sooner := mint(t, with, "sooner", soon(k, time.Minute))
		require.Less(t, *sooner.ExpiresAt, *first.ExpiresAt)
		_, err := with.CreateMyKey(t.Context(), testkit.NewKey{Name: "later", Scopes: reading, ExpiresAt: soon(k, 2*time.Hour)})
		f, ok := fault.From(err)
		require.True(t, ok)
		require.Equal(t, fault.Validation, f.Kind)
		require.Contains(t, fmt.Sprint(f.Details["fields"]), "must not be after the end of the key that creates it")
		_, err = us.UpdateAPIKey(t.Context(), sooner.ID, map[string]any{"expiresAt": soon(k, 2*time.Hour)})
		require.Error(t, err)
		longest, err := us.UpdateAPIKey(t.Context(), sooner.ID, map[string]any{"expiresAt": nil})
		require.NoError(t, err)
		require.Equal(t, first.ExpiresAt, longest.ExpiresAt)

		shorter, err := us.UpdateAPIKey(t.Context(), first.ID, map[string]any{"expiresAt": soon(k, time.Minute)})
		require.NoError(t, err)
		got, err := us.GetAPIKey(t.Context(), sooner.ID)
		require.NoError(t, err)
		require.Equal(t, shorter.ExpiresAt, got.ExpiresAt, "a parent that ends earlier takes them with it")
		k.AgeKeys(t, us.Org, time.Minute)
		require.ErrorIs(t, works(t, us, sooner), tenancy.ErrKeyExpired)
	})

	t.Run("but live on with its successor", func(t *testing.T) {
		t.Parallel()
		us := k.Org(t)
		_, ada := us.Person(t, principal.Member)
		first := mint(t, ada, "first", nil)
		second := mint(t, us.With(first.Key), "second", nil)
		next, err := us.RotateKey(t.Context(), first.ID, 0)
		require.NoError(t, err)
		require.ErrorIs(t, works(t, us, first), tenancy.ErrKeyExpired)
		require.NoError(t, works(t, us, second))
		require.NoError(t, us.DeleteAPIKey(t.Context(), next.ID))
		require.ErrorIs(t, works(t, us, second), tenancy.ErrKeyRevoked)
	})

	t.Run("and what an administrator makes for someone does not", func(t *testing.T) {
		t.Parallel()
		us := k.Org(t)
		_, admin := us.Person(t, principal.Admin)
		ada, _ := us.Person(t, principal.Member)
		hers, err := admin.CreateKey(t.Context(), testkit.NewKey{Name: "hers", Scopes: reading, Personal: new(true)}, testkit.OnBehalfOf(ada.ID))
		require.NoError(t, err)
		service, err := admin.CreateKey(t.Context(), testkit.NewKey{Name: "service", Scopes: reading})
		require.NoError(t, err)
		me, err := admin.GetMe(t.Context())
		require.NoError(t, err)
		require.NoError(t, us.DeleteAPIKey(t.Context(), me.APIKeyID))
		require.NoError(t, works(t, us, hers))
		require.NoError(t, works(t, us, service))
	})
}

// TestPersonalKeysAreFew has a person make keys at the same time, each with
// another of their keys.
func TestPersonalKeysAreFew(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	_, ada := us.Person(t, principal.Member)
	_, bob := us.Person(t, principal.Member)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var made []testkit.Key
	for i := range 25 {
		wg.Go(func() {
			key, err := ada.CreateMyKey(t.Context(), testkit.NewKey{Name: "key " + strconv.Itoa(i), Scopes: reading})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made = append(made, key)
				return
			}
			if f, ok := fault.From(err); !ok || f.Reason != "too_many_api_keys" {
				t.Errorf("key %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	require.Len(t, made, 19, "twenty with the first")
	_, err := us.With(made[0].Key).CreateMyKey(t.Context(), testkit.NewKey{Name: "child", Scopes: reading})
	require.ErrorIs(t, err, tenancy.ErrTooManyKeys)
	_, err = bob.CreateMyKey(t.Context(), testkit.NewKey{Name: "bob's", Scopes: reading})
	require.NoError(t, err, "another person has their own")
	require.NoError(t, ada.DeleteMyAPIKey(t.Context(), made[0].ID))
	_, err = ada.CreateMyKey(t.Context(), testkit.NewKey{Name: "again", Scopes: reading})
	require.NoError(t, err)
}

// TestManyKeysShareTheOrganizationsLimit mints keys to get around the limit of
// one: together they are admitted five times as much, and a request that the
// organization's limit refuses is not counted against the key's.
//
//nolint:paralleltest // it moves the clock
func TestManyKeysShareTheOrganizationsLimit(t *testing.T) {
	k := testkit.Moving(t)
	us := k.Org(t)
	var keys []*testkit.Client
	for range 8 {
		keys = append(keys, k.Key(t, us, principal.EvalRead))
	}
	require.NoError(t, k.App.Tenancy.SetPlan(t.Context(), us.Org, tenancy.PlanEnterprise, 10))
	k.Clock.Advance(2 * time.Second)
	admitted := 0
	var last sent
	for _, c := range keys {
		for range 10 {
			last = serve(t, k, c.Key, http.MethodGet, "/api/me")
			if last.res.Code == http.StatusOK {
				admitted++
			}
		}
	}
	require.Equal(t, 50, admitted)
	require.Equal(t, http.StatusTooManyRequests, last.res.Code)
	require.Equal(t, "50", last.res.Header().Get("X-RateLimit-Limit"), "the limit that refused")
	require.Positive(t, header(t, last, "Retry-After"))
	o, err := k.App.Tenancy.Organization(t.Context(), us.Org)
	require.NoError(t, err)
	require.Equal(t, 10, o.HourlyLimit)
	seventh, err := k.App.Tenancy.Authenticate(t.Context(), keys[6].Key.Reveal())
	require.NoError(t, err)
	key, err := k.App.Tenancy.Key(t.Context(), us.Org, seventh.Key)
	require.NoError(t, err)
	d, err := k.App.Tenancy.Standing(t.Context(), us.Org, key)
	require.NoError(t, err)
	require.Equal(t, 10, d.Remaining, "a refusal spends nothing")
}

func TestAKeyMayBeMadeWithoutTheRightToDelete(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Shared(t)
	us := k.Org(t)
	no := false
	exporter, err := us.CreateKey(ctx, testkit.NewKey{Name: "exporter", Scopes: []string{"traces:write", "eval:write", "eval:read", "admin:org"}, CanDelete: &no})
	require.NoError(t, err)
	require.False(t, exporter.CanDelete)
	usual, err := us.CreateKey(ctx, testkit.NewKey{Name: "usual", Scopes: []string{"traces:write"}})
	require.NoError(t, err)
	require.True(t, usual.CanDelete)
	with := us.With(exporter.Key)
	trace, err := with.CreateTrace(ctx, map[string]any{"name": "kept"})
	require.NoError(t, err)

	err = with.DeleteTrace(ctx, trace.ID)
	refused(t, err, fault.Forbidden, "key_may_not_delete")
	d := with.Dataset(t, testkit.NewDataset{})
	refused(t, with.DeleteDataset(ctx, d.ID), fault.Forbidden, "key_may_not_delete")

	_, err = with.CreateKey(ctx, testkit.NewKey{Name: "stronger", Scopes: []string{"traces:write"}})
	require.ErrorIs(t, err, tenancy.ErrDeleteEscalation)
	_, err = with.UpdateAPIKey(ctx, exporter.ID, map[string]any{"canDelete": true})
	require.ErrorIs(t, err, tenancy.ErrDeleteEscalation)
	_, err = with.RotateKey(ctx, usual.ID, 60)
	require.ErrorIs(t, err, tenancy.ErrDeleteEscalation)
	_, err = with.CreateKey(ctx, testkit.NewKey{Name: "as weak", Scopes: []string{"traces:write"}, CanDelete: &no})
	require.NoError(t, err)
	next, err := with.RotateKey(ctx, exporter.ID, 60)
	require.NoError(t, err)
	require.False(t, next.CanDelete, "a successor has no more rights")

	changed, err := us.UpdateAPIKey(ctx, next.ID, map[string]any{"canDelete": true})
	require.NoError(t, err)
	require.True(t, changed.CanDelete)
	err = us.With(next.Key).DeleteTrace(ctx, trace.ID)
	require.NoError(t, err)
}
