package app_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/testkit"
)

func masterKey(t testing.TB) secret.Text {
	t.Helper()
	key, err := secret.NewMasterKey()
	require.NoError(t, err)
	return key
}

func TestNewMasterKey(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 3 {
		got := run(nil, "admin", "new-master-key")
		require.Zero(t, got.Code, got.Err)
		line, rest, _ := strings.Cut(got.Out, "\n")
		text, ok := strings.CutPrefix(line, "ASSAY_SECRET_MASTER_KEY=")
		require.True(t, ok, got.Out)
		require.Contains(t, rest, "Keep a copy")
		require.NoError(t, secret.Config{MasterKey: secret.Text(text)}.Validate())
		require.False(t, seen[text])
		seen[text] = true
	}
}

// TestRotateKeys replaces the master key of a deployment, interrupted after
// the first batch, and then runs without the old one.
func TestRotateKeys(t *testing.T) {
	t.Parallel()
	const orgs = 103 // more than one batch
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sk-0123456789abcdef" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(provider.Close)
	was, is := masterKey(t), masterKey(t)
	cfg := testkit.Config(t)
	cfg.Secret.MasterKey = was
	before := testkit.NewWith(t, cfg)
	keys := map[*testkit.Client]int64{}
	for range orgs {
		c := before.Org(t)
		k, err := c.CreateProviderKey(t.Context(), map[string]any{"provider": "custom", "name": "judge", "secret": "sk-0123456789abcdef", "baseUrl": provider.URL})
		require.NoError(t, err)
		keys[c] = k.ID
	}

	// The new key alone opens nothing yet.
	alone := cfg
	alone.Secret = secret.Config{MasterKey: is}
	after := testkit.NewWith(t, alone)
	for c, id := range keys {
		_, err := c.At(after).TestProviderKey(t.Context(), id)
		f, ok := fault.From(err)
		require.True(t, ok)
		require.Equal(t, fault.Internal, f.Kind)
		break
	}
	got := run(withSecrets(alone), "admin", "rotate-keys")
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Err, "run the command again")

	// Both keys: the rotation is stopped after its first batch and continued.
	both := cfg
	both.Secret = secret.Config{MasterKey: is, OtherMasterKeys: was}
	during := testkit.NewWith(t, both)
	ctx, stop := context.WithCancel(t.Context())
	done, err := during.App.Provider.RotateMasterKey(ctx, func(done, left int64) {
		require.EqualValues(t, 100, done)
		require.EqualValues(t, orgs-100, left)
		stop()
	})
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 100, done)
	for c, id := range keys { // half old, half new, and all of them open
		res, err := c.At(during).TestProviderKey(t.Context(), id)
		require.NoError(t, err)
		require.True(t, res.OK, res.Message)
	}
	got = run(withSecrets(both), "admin", "rotate-keys")
	require.Zero(t, got.Code, got.Err)
	require.Equal(t, "3 re-encrypted, 0 left\nAll data keys are encrypted with the current master key (3 re-encrypted now).\n", got.Out)
	got = run(withSecrets(both), "admin", "rotate-keys")
	require.Equal(t, "All data keys are encrypted with the current master key (0 re-encrypted now).\n", got.Out)

	// The old key can go.
	for c, id := range keys {
		res, err := c.At(after).TestProviderKey(t.Context(), id)
		require.NoError(t, err)
		require.True(t, res.OK, res.Message)
	}

	none := cfg
	none.Secret = secret.Config{}
	got = run(withSecrets(none), "admin", "rotate-keys")
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Err, "ASSAY_SECRET_MASTER_KEY")
}

// withSecrets is the environment of a process that has master keys.
func withSecrets(cfg app.Config) []string {
	return append(environ(cfg),
		"ASSAY_SECRET_MASTER_KEY="+cfg.Secret.MasterKey.Reveal(),
		"ASSAY_SECRET_OTHER_MASTER_KEYS="+cfg.Secret.OtherMasterKeys.Reveal())
}

// TestCertificate reads a certificate as an auditor does: from what the
// command prints, and nothing else.
func TestCertificate(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its worker starts later")
	us := k.Org(t)
	env := environ(k.App.Config)
	got := run(env, "admin", "certificate", us.Org.String())
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Err, "No organization with this id was deleted here")
	got = run(env, "admin", "certificate", "our-team")
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Err, "UUID")

	us.Dataset(t, testkit.NewDataset{})
	require.NoError(t, us.DeleteOrganization(t.Context(), "confirm="+us.Org.String()))
	got = run(env, "admin", "certificate", us.Org.String())
	require.Zero(t, got.Code, got.Err)
	var cert map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.Out), &cert))
	require.Nil(t, cert["completed_at"])
	require.Nil(t, cert["digest"])

	k.Work(t)
	// The erasure runs in the worker; nothing tells the test when it is done.
	require.Eventually(t, func() bool {
		got = run(env, "admin", "certificate", us.Org.String())
		return got.Code == 0 && strings.Contains(got.Out, "sha256:")
	}, 10*time.Minute, 200*time.Millisecond)
	clear(cert)
	require.NoError(t, json.Unmarshal([]byte(got.Out), &cert))
	digest := cert["digest"]
	delete(cert, "digest")
	text, err := json.Marshal(cert)
	require.NoError(t, err)
	canonical := jsontext.Value(text)
	require.NoError(t, canonical.Canonicalize())
	require.Equal(t, fmt.Sprintf("sha256:%x", sha256.Sum256(canonical)), digest)
	require.Equal(t, us.Org.String(), cert["organization"])
	require.InDelta(t, 1, cert["erased"].(map[string]any)["postgres"].(map[string]any)["datasets"], 0)
	require.Regexp(t, `Z$`, cert["completed_at"])
	require.Regexp(t, `Z$`, cert["requested_at"])
}

//nolint:paralleltest // it moves the clock
func TestOperatorsCommands(t *testing.T) {
	ctx := t.Context()
	k := testkit.Moving(t)
	us := k.Org(t)
	env := environ(k.App.Config)
	org := us.Org.String()

	got := run(env, "admin", "plan", org, "enterprise", "--limit", "4321")
	require.Equal(t, result{}, got)
	o, err := us.GetOrganization(ctx)
	require.NoError(t, err)
	require.Equal(t, "enterprise", o.Plan)
	require.EqualValues(t, 4321, o.HourlyLimit)

	require.Equal(t, result{}, run(env, "admin", "suspend", org))
	k.Clock.Advance(2 * time.Second) // another process did it: the replica's cache ends first
	_, err = us.GetMe(ctx)
	require.ErrorContains(t, err, "suspended")
	require.Equal(t, 1, run(env, "admin", "suspend", org).Code, "it is suspended already")
	require.Equal(t, result{}, run(env, "admin", "resume", org))
	k.Clock.Advance(2 * time.Second)
	_, err = us.GetMe(ctx)
	require.NoError(t, err)

	require.Equal(t, 2, run(env, "admin", "plan", org, "gold").Code)
	for _, command := range []string{"suspend", "resume", "certificate"} {
		require.Equal(t, 1, run(env, "admin", command, "01900000-0000-7000-8000-000000000001").Code, command)
		require.Equal(t, 1, run(env, "admin", command, "nonsense").Code, command)
	}
	require.Equal(t, 1, run(env, "admin", "plan", "01900000-0000-7000-8000-000000000001", "free").Code)
}
