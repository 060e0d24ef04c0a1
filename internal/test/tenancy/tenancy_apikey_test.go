package tenancy_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

// soon is a time after now on the application's clock, as a request has it.
func soon(k *testkit.Kit, d time.Duration) *time.Time {
	return new(k.Clock.Now().Add(d).UTC())
}

var reading = []string{"eval:read"}

func TestCreateKey(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)

	t.Run("a key is shown once and its secret is never stored", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		made, err := us.CreateKey(ctx, testkit.NewKey{Name: "once", Scopes: reading})
		require.NoError(t, err)
		require.Regexp(t, `^asy_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$`, made.Key.Reveal())
		require.Equal(t, made.Key.Reveal()[:21], made.KeyPrefix)
		require.Equal(t, made.Key.Reveal()[len(made.Key.Reveal())-4:], made.Last4)
		require.Equal(t, "active", made.Status)
		me, err := us.GetMe(ctx)
		require.NoError(t, err)
		id, name := strconv.FormatInt(me.APIKeyID, 10), "everything"
		require.Equal(t, testkit.Actor{Type: "service_key", ID: &id, Name: &name}, made.CreatedBy)

		hidden := made.Key.Reveal()[22:54]
		path := "/api/developer/api-keys/" + strconv.FormatInt(made.ID, 10)
		for _, p := range []string{path, "/api/developer/api-keys?limit=1000", path + "/usage", "/api/audit-logs?limit=1000"} {
			res := get(t, us, p)
			require.Equal(t, http.StatusOK, res.Status, p)
			require.NotContains(t, string(res.Body), hidden, p)
		}
		read, err := us.GetAPIKey(ctx, made.ID)
		require.NoError(t, err)
		require.Equal(t, made.APIKey, read)
		conn := k.Runtime(t, us.Org)
		for table := range tableColumns(t, conn) {
			require.Zero(t, scalar[int](t, conn, "SELECT count(*) FROM "+table+" r WHERE r::text LIKE '%' || $1 || '%'", hidden), table)
		}
		_, err = us.With(secret.Text("asy_live_" + hidden)).GetMe(ctx)
		require.ErrorIs(t, err, tenancy.ErrKeyIncomplete)
	})

	t.Run("a repetition gets the key redacted and nothing remembers it", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		want := testkit.NewKey{Name: "repeated", Scopes: reading}
		first, err := us.CreateKey(ctx, want, testkit.Idempotent("repeat"))
		require.NoError(t, err)

		var again struct {
			ID  int64  `json:"id"`
			Key string `json:"key"`
		}
		res, err := us.Call(ctx, http.MethodPost, "/api/developer/api-keys", want, &again, testkit.Idempotent("repeat"))

		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, res.Status)
		require.Equal(t, "true", res.Header.Get("Idempotent-Replayed"))
		require.Equal(t, first.ID, again.ID)
		require.Equal(t, first.KeyPrefix+"_•••", again.Key)
		output := scalar[string](t, k.Runtime(t, us.Org), "SELECT convert_from(output, 'UTF8') FROM idempotency_keys WHERE key = 'repeat'")
		require.Contains(t, output, first.KeyPrefix)
		require.NotContains(t, output, first.Key.Reveal()[22:])
	})

	t.Run("a name is unique among active keys", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		_, err := us.CreateKey(ctx, testkit.NewKey{Name: "taken", Scopes: reading})
		require.NoError(t, err)
		_, err = us.CreateKey(ctx, testkit.NewKey{Name: "taken", Scopes: reading})
		require.ErrorIs(t, err, tenancy.ErrKeyNameTaken)
		refused(t, err, fault.Conflict, "already_exists")
		other, err := us.CreateKey(ctx, testkit.NewKey{Name: "not taken", Scopes: reading})
		require.NoError(t, err)
		_, err = us.UpdateAPIKey(ctx, other.ID, map[string]any{"name": "taken"})
		require.ErrorIs(t, err, tenancy.ErrKeyNameTaken)
		// Another organization's names are its own.
		_, err = k.Org(t).CreateKey(ctx, testkit.NewKey{Name: "taken", Scopes: reading})
		require.NoError(t, err)
	})

	t.Run("a request that makes no sense is refused", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		for name, c := range map[string]struct {
			body       map[string]any
			path, code string
		}{
			"unknown scope":    {map[string]any{"name": "x", "scopes": []string{"eval:everything"}}, "/scopes/0", "enum"},
			"no scopes":        {map[string]any{"name": "x", "scopes": []string{}}, "/scopes", "length"},
			"scopes missing":   {map[string]any{"name": "x"}, "/scopes", "required"},
			"name empty":       {map[string]any{"name": "", "scopes": reading}, "/name", "length"},
			"mode odd":         {map[string]any{"name": "x", "scopes": reading, "mode": "staging"}, "/mode", "enum"},
			"expiry past":      {map[string]any{"name": "x", "scopes": reading, "expiresAt": soon(k, -time.Minute)}, "/expiresAt", "min"},
			"personal, nobody": {map[string]any{"name": "x", "scopes": reading, "personal": true}, "/personal", "unknown_reference"},
			"misspelt field":   {map[string]any{"name": "x", "scopes": reading, "expiry": "never"}, "/expiry", "unknown_field"},
		} {
			_, err := us.Call(ctx, http.MethodPost, "/api/developer/api-keys", c.body, nil)
			require.Error(t, err, name)
			t.Log(name)
			invalid(t, err, c.path, c.code)
		}
	})

	t.Run("nobody grants a scope that they lack", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		narrow := k.Key(t, us, principal.AdminOrg, principal.EvalRead)

		_, err := narrow.CreateKey(ctx, testkit.NewKey{Name: "wider", Scopes: []string{"eval:read", "eval:write"}})
		require.ErrorIs(t, err, tenancy.ErrScopeEscalation)
		require.Equal(t, "eval:write", refused(t, err, fault.Forbidden, "scope_escalation")["scope"])

		made, err := narrow.CreateKey(ctx, testkit.NewKey{Name: "as wide", Scopes: []string{"eval:read"}})
		require.NoError(t, err)
		_, err = narrow.UpdateAPIKey(ctx, made.ID, map[string]any{"scopes": []string{"eval:write"}})
		require.ErrorIs(t, err, tenancy.ErrScopeEscalation)
		wide, err := us.CreateKey(ctx, testkit.NewKey{Name: "wide", Scopes: []string{"traces:read"}})
		require.NoError(t, err)
		_, err = narrow.RotateKey(ctx, wide.ID, 0)
		require.ErrorIs(t, err, tenancy.ErrScopeEscalation, "a successor would show the scopes to somebody who lacks them")
	})
}

func TestKeyUpdate(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)

	t.Run("a rename and an expiry are set and cleared", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		made, err := us.CreateKey(ctx, testkit.NewKey{Name: "old name", Scopes: reading})
		require.NoError(t, err)
		got, err := us.UpdateAPIKey(ctx, made.ID, map[string]any{"name": "new name", "expiresAt": soon(k, time.Hour)})
		require.NoError(t, err)
		require.Equal(t, "new name", got.Name)
		require.NotEmpty(t, got.ExpiresAt)

		_, err = us.UpdateAPIKey(ctx, made.ID, map[string]any{"expiresAt": soon(k, -time.Hour)})
		invalid(t, err, "/expiresAt", "min")
		got, err = us.UpdateAPIKey(ctx, made.ID, map[string]any{"expiresAt": nil})
		require.NoError(t, err)
		require.Empty(t, got.ExpiresAt)
		same, err := us.UpdateAPIKey(ctx, made.ID, map[string]any{})
		require.NoError(t, err)
		require.Equal(t, got, same)
	})

	t.Run("narrower scopes hold at once", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		made, err := us.CreateKey(ctx, testkit.NewKey{Name: "narrowed", Scopes: []string{"eval:read", "eval:write"}})
		require.NoError(t, err)
		robot := us.With(made.Key)
		_, err = robot.CreateDataset(ctx, testkit.NewDataset{Name: "before"})
		require.NoError(t, err)

		_, err = us.UpdateAPIKey(ctx, made.ID, map[string]any{"scopes": reading})
		require.NoError(t, err)

		_, err = robot.CreateDataset(ctx, testkit.NewDataset{Name: "after"})
		require.Equal(t, "eval:write", refused(t, err, fault.Unauthorized, "insufficient_scope")["requiredScope"])
	})

	t.Run("another organization's key is not found", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		them := k.Org(t)
		theirs, err := them.GetMe(ctx)
		require.NoError(t, err)
		_, err = us.GetAPIKey(ctx, theirs.APIKeyID)
		require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
		_, err = us.UpdateAPIKey(ctx, theirs.APIKeyID, map[string]any{"name": "ours"})
		require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
		_, err = us.RotateKey(ctx, theirs.APIKeyID, 0)
		require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
		require.ErrorIs(t, us.DeleteAPIKey(ctx, theirs.APIKeyID), tenancy.ErrKeyNotFound)
		_, err = us.GetAPIKeyUsage(ctx, theirs.APIKeyID, "")
		require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
	})
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()

	// Each case has a clock of its own.
	setup := func(t *testing.T, expires time.Duration) (*testkit.Kit, *testkit.Client, testkit.Key) {
		t.Helper()
		k := testkit.Moving(t)
		us := k.Org(t)
		n := testkit.NewKey{Name: "turning", Scopes: reading, Mode: new("test")}
		if expires != 0 {
			n.ExpiresAt = soon(k, expires)
		}
		made, err := us.CreateKey(t.Context(), n)
		require.NoError(t, err)
		return k, us, made
	}

	t.Run("without a grace the old key ends at once", func(t *testing.T) {
		t.Parallel()
		_, us, old := setup(t, 0)
		_, err := us.With(old.Key).GetMe(t.Context())
		require.NoError(t, err)

		next, err := us.RotateKey(t.Context(), old.ID, 0)

		require.NoError(t, err)
		require.Equal(t, old.Name, next.Name)
		require.Equal(t, old.Scopes, next.Scopes)
		require.Equal(t, "test", next.Mode)
		require.NotEqual(t, old.KeyPrefix, next.KeyPrefix)
		_, err = us.With(next.Key).GetMe(t.Context())
		require.NoError(t, err)
		_, err = us.With(old.Key).GetMe(t.Context())
		require.ErrorIs(t, err, tenancy.ErrKeyExpired)
	})

	t.Run("with a grace it works until the grace is over", func(t *testing.T) {
		t.Parallel()
		k, us, old := setup(t, 0)
		_, err := us.RotateKey(t.Context(), old.ID, 600)
		require.NoError(t, err)

		k.AgeKeys(t, us.Org, 500*time.Second)
		_, err = us.With(old.Key).GetMe(t.Context())
		require.NoError(t, err)
		k.AgeKeys(t, us.Org, 101*time.Second)
		_, err = us.With(old.Key).GetMe(t.Context())
		require.ErrorIs(t, err, tenancy.ErrKeyExpired)
		got, err := us.GetAPIKey(t.Context(), old.ID)
		require.NoError(t, err)
		require.Equal(t, "expired", got.Status)
	})

	t.Run("a grace does not outlast the old key's expiry", func(t *testing.T) {
		t.Parallel()
		k, us, old := setup(t, time.Minute)
		next, err := us.RotateKey(t.Context(), old.ID, 600)
		require.NoError(t, err)
		require.Equal(t, old.ExpiresAt, next.ExpiresAt)
		k.AgeKeys(t, us.Org, 61*time.Second)
		_, err = us.With(old.Key).GetMe(t.Context())
		require.ErrorIs(t, err, tenancy.ErrKeyExpired)
	})

	t.Run("a key that has ended cannot be rotated or changed", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		k, us, expiring := setup(t, time.Minute)
		revoked, err := us.CreateKey(ctx, testkit.NewKey{Name: "revoked", Scopes: reading})
		require.NoError(t, err)
		require.NoError(t, us.DeleteAPIKey(ctx, revoked.ID))
		k.Clock.Advance(time.Minute + time.Second)

		_, err = us.RotateKey(ctx, expiring.ID, 0)
		details := refused(t, err, fault.Conflict, "invalid_transition")
		require.Equal(t, "expired", details["currentState"])
		require.Empty(t, details["allowedTransitions"])
		_, err = us.UpdateAPIKey(ctx, expiring.ID, map[string]any{"name": "again"})
		require.Equal(t, "expired", refused(t, err, fault.Conflict, "invalid_transition")["currentState"])
		_, err = us.RotateKey(ctx, revoked.ID, 0)
		require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
		_, err = us.UpdateAPIKey(ctx, revoked.ID, map[string]any{"name": "again"})
		require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
	})

	t.Run("a rotated key has one successor", func(t *testing.T) {
		t.Parallel()
		_, us, old := setup(t, 0)
		_, err := us.RotateKey(t.Context(), old.ID, 600)
		require.NoError(t, err)
		_, err = us.RotateKey(t.Context(), old.ID, 600)
		require.ErrorIs(t, err, tenancy.ErrKeyEnded)
	})

	t.Run("a grace has bounds", func(t *testing.T) {
		t.Parallel()
		_, us, old := setup(t, 0)
		for _, grace := range []int{-1, 86_401} {
			_, err := us.RotateKey(t.Context(), old.ID, grace)
			refused(t, err, fault.Validation, "invalid_request")
		}
		_, err := us.RotateKey(t.Context(), old.ID, 86_400)
		require.NoError(t, err)
	})
}

//nolint:paralleltest // it moves the clock
func TestKeysEnd(t *testing.T) {
	ctx := t.Context()
	k := testkit.Moving(t)
	us := k.Org(t)

	made, err := us.CreateKey(ctx, testkit.NewKey{Name: "ending", Scopes: reading})
	require.NoError(t, err)
	_, err = us.With(made.Key).GetMe(ctx)
	require.NoError(t, err)
	require.NoError(t, us.DeleteAPIKey(ctx, made.ID))
	res, err := us.With(made.Key).Call(ctx, http.MethodGet, "/api/me", nil, nil)
	require.ErrorIs(t, err, tenancy.ErrKeyRevoked, "at once")
	require.Equal(t, http.StatusUnauthorized, res.Status)
	require.Equal(t, `Bearer error="invalid_token"`, res.Header.Get("WWW-Authenticate"))
	require.ErrorIs(t, us.DeleteAPIKey(ctx, made.ID), tenancy.ErrKeyNotFound, "twice")
	_, err = us.GetAPIKey(ctx, made.ID)
	require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
	_, err = us.GetAPIKeyUsage(ctx, made.ID, "")
	require.ErrorIs(t, err, tenancy.ErrKeyNotFound)

	// What was deleted is listed for those who ask.
	page, err := us.ListAPIKeys(ctx, "includeTotal=true&search=ending")
	require.NoError(t, err)
	require.Empty(t, page.APIKeys)
	require.Zero(t, *page.Total)
	page, err = us.ListAPIKeys(ctx, "includeTotal=true&search=ending&status=revoked")
	require.NoError(t, err)
	require.Len(t, page.APIKeys, 1)
	require.Equal(t, "revoked", page.APIKeys[0].Status)

	// The name of a key that has ended is free.
	_, err = us.CreateKey(ctx, testkit.NewKey{Name: "ending", Scopes: reading, ExpiresAt: soon(k, time.Minute)})
	require.NoError(t, err)
	k.Clock.Advance(2 * time.Minute)
	next, err := us.CreateKey(ctx, testkit.NewKey{Name: "ending", Scopes: reading})
	require.NoError(t, err, "an expired key is not active")
	_, err = us.UpdateAPIKey(ctx, next.ID, map[string]any{"name": "still going"})
	require.NoError(t, err)
}

// TestTheDatabasesClockEndsKeys asks replicas whose clocks are an hour ahead and
// an hour behind: a key works as long as the database says.
func TestTheDatabasesClockEndsKeys(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cfg := testkit.Config(t)
	k := testkit.NewWith(t, cfg)
	us := k.Org(t)
	key, err := us.CreateKey(ctx, testkit.NewKey{Name: "ending", Scopes: reading, ExpiresAt: soon(k, time.Minute)})
	require.NoError(t, err)
	var replicas []*testkit.Kit
	for _, skew := range []time.Duration{time.Hour, -time.Hour} {
		var clock testkit.Clock
		clock.Advance(skew)
		replicas = append(replicas, testkit.NewAt(t, cfg, &clock))
	}
	for _, r := range replicas {
		_, err = us.At(r).With(key.Key).GetMe(ctx)
		require.NoError(t, err)
	}
	k.AgeKeys(t, us.Org, time.Minute)
	for _, r := range replicas {
		r.Clock.Advance(2 * time.Second)
		_, err = us.At(r).With(key.Key).GetMe(ctx)
		require.ErrorIs(t, err, tenancy.ErrKeyExpired)
	}
}

func TestPepperRotation(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cfg := testkit.Config(t)
	before := testkit.NewWith(t, cfg)
	us := before.Org(t)

	cfg.Key = tenancy.Config{Pepper: "another pepper, also of 32 characters or more", PepperVersion: 2, PreviousPepper: testkit.Pepper, FailuresMinute: 1000}
	after := testkit.NewWith(t, cfg)
	made, err := us.At(after).CreateKey(ctx, testkit.NewKey{Name: "newer", Scopes: reading})
	require.NoError(t, err, "a key of the previous pepper works")
	conn := after.Runtime(t, us.Org)
	require.Equal(t, 2, scalar[int](t, conn, "SELECT pepper_version FROM api_keys WHERE id = $1", made.ID))
	require.Equal(t, 1, scalar[int](t, conn, "SELECT pepper_version FROM api_keys WHERE id <> $1", made.ID))
	_, err = us.At(after).With(made.Key).GetMe(ctx)
	require.NoError(t, err)
	_, err = us.With(made.Key).GetMe(ctx)
	require.ErrorIs(t, err, tenancy.ErrKeyUnknown, "a replica that was not told the new pepper")

	// A new pepper under an old number opens nothing.
	cfg.Key.PreviousPepper = ""
	_, err = us.At(testkit.NewWith(t, cfg)).GetMe(ctx)
	require.ErrorIs(t, err, tenancy.ErrKeyUnknown)
}

//nolint:paralleltest // it moves the clock
func TestLastUse(t *testing.T) {
	ctx := t.Context()
	k := testkit.Moving(t)
	us := k.Org(t)
	made, err := us.CreateKey(ctx, testkit.NewKey{Name: "used", Scopes: reading})
	require.NoError(t, err)
	require.Empty(t, made.LastUsedAt)

	use := func() time.Time {
		_, err := us.With(made.Key).GetMe(ctx)
		require.NoError(t, err)
		k.App.Tenancy.FlushMeter(ctx)
		got, err := us.GetAPIKey(ctx, made.ID)
		require.NoError(t, err)
		return *got.LastUsedAt
	}
	first := use()
	require.WithinDuration(t, k.Clock.Now(), first, time.Minute)
	require.Equal(t, first, use(), "to the minute")
	k.Clock.Advance(2 * time.Minute)
	require.WithinDuration(t, first.Add(2*time.Minute), use(), time.Minute)
}

//nolint:paralleltest // it moves the clock
func TestListKeys(t *testing.T) {
	ctx := t.Context()
	k := testkit.Moving(t)
	us := k.Org(t)
	them := k.Org(t)
	_, err := them.CreateKey(ctx, testkit.NewKey{Name: "theirs", Scopes: reading})
	require.NoError(t, err)
	for i := range 4 {
		_, err := us.CreateKey(ctx, testkit.NewKey{Name: "key " + strconv.Itoa(i), Scopes: reading, ExpiresAt: soon(k, time.Duration(i+1)*time.Hour)})
		require.NoError(t, err)
	}
	k.Clock.Advance(90 * time.Minute)

	var names, statuses []string
	for offset := 0; offset < 5; offset += 2 {
		page, err := us.ListAPIKeys(ctx, "includeTotal=true&limit=2&offset="+strconv.Itoa(offset))
		require.NoError(t, err)
		require.EqualValues(t, 5, api.Value(page.Total))
		require.EqualValues(t, 2, page.Limit)
		require.EqualValues(t, offset, page.Offset)
		require.Equal(t, offset < 4, page.HasMore)
		for _, key := range page.APIKeys {
			names, statuses = append(names, key.Name), append(statuses, key.Status)
		}
	}
	require.Equal(t, []string{"key 3", "key 2", "key 1", "key 0", "everything"}, names)
	require.Equal(t, []string{"active", "active", "active", "expired", "active"}, statuses)
	page, err := us.ListAPIKeys(ctx, "includeTotal=true&offset=5")
	require.NoError(t, err)
	require.Empty(t, page.APIKeys)
	require.NotNil(t, page.APIKeys)
	require.False(t, page.HasMore)
	for _, query := range []string{"limit=0", "limit=1001", "offset=-1", "limit=x"} {
		_, err := us.ListAPIKeys(ctx, "includeTotal=true&"+query)
		refused(t, err, fault.Validation, "invalid_request")
	}
}

// TestOtherKeysAreNotAccepted pastes what people paste by mistake, and reads
// everything that was logged meanwhile.
//
//nolint:paralleltest // it replaces the process's logger
func TestOtherKeysAreNotAccepted(t *testing.T) {
	var log bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { slog.SetDefault(was) })
	k := testkit.Shared(t)
	us := k.Org(t)

	for text, want := range map[string]error{
		"sk-proj-abcdefghijklmnopqrstuvwxyz0123456789": tenancy.ErrProviderKey,
		"sk-ant-api03-abcdefghijklmnopqrstuvwxyz":      tenancy.ErrProviderKey,
		"AIzaSyAbcdefghijklmnopqrstuvwxyz012345":       tenancy.ErrProviderKey,
		"gsk_abcdefghijklmnopqrstuvwxyz0123456789":     tenancy.ErrProviderKey,
		"hf_abcdefghijklmnopqrstuvwxyz":                tenancy.ErrProviderKey,
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln":    tenancy.ErrProviderKey,
		"something-else-entirely-0123456789":           tenancy.ErrKeyUnknown,
		"asy_live_abcdefghijkl_tooshort":               tenancy.ErrKeyIncomplete,
	} {
		res, err := us.With(secret.Text(text)).Call(t.Context(), http.MethodGet, "/api/me", nil, nil)
		require.ErrorIs(t, err, want, text)
		require.Equal(t, http.StatusUnauthorized, res.Status)
		require.NotContains(t, string(res.Body), text)
		require.NotContains(t, log.String(), text[:20])
	}
	require.Contains(t, log.String(), "status=401", "the log was read")
}
