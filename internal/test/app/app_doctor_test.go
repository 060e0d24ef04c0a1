package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

const otherPepper = "another pepper, also of 32 or more characters"

func TestAnotherPepperDoesNotStart(t *testing.T) {
	t.Parallel()
	env := append(environ(testkit.Config(t)), "ASSAY_HTTP_ADDR=127.0.0.1:0", "ASSAY_HTTP_INTERNAL_ADDR=", "ASSAY_TRACE_GRPC_ADDR=", "ASSAY_BLOB_URL=file://"+t.TempDir())
	first := run(env, "admin", "bootstrap", "--organization=First")
	require.Zero(t, first.Code, first.Err)

	pasted := append(env, "ASSAY_KEY_PEPPER="+otherPepper)
	for _, args := range [][]string{{"admin", "bootstrap", "--organization=Second"}, {"serve"}} {
		got := run(pasted, args...)
		require.Equal(t, 1, got.Code, args)
		require.Regexp(t, `ASSAY_KEY_PEPPER is not the pepper that the API keys of this database were made with, so no key would work: its fingerprint is [0-9a-f]{16}, and pepper 1 has [0-9a-f]{16}\. `+
			`Set the old pepper again\. To replace it, set ASSAY_KEY_PREVIOUS_PEPPER to the old one and ASSAY_KEY_PEPPER_VERSION to 2\.\n$`, got.Err)
		require.NotContains(t, got.Err, otherPepper)
	}

	replaced := append(env, "ASSAY_KEY_PEPPER="+otherPepper, "ASSAY_KEY_PREVIOUS_PEPPER="+testkit.Pepper, "ASSAY_KEY_PEPPER_VERSION=2")
	got := run(replaced, "admin", "bootstrap", "--organization=Second")
	require.Zero(t, got.Code, got.Err)
	wrong := append(replaced, "ASSAY_KEY_PREVIOUS_PEPPER="+otherPepper)
	got = run(wrong, "admin", "bootstrap", "--organization=Third")
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Err, "ASSAY_KEY_PREVIOUS_PEPPER is not the pepper")
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	k := testkit.NewWith(t, cfg)
	c := k.Org(t)
	user := []string{"ASSAY_URL=" + k.URL, "ASSAY_API_KEY=" + c.Key.Reveal()}
	lines := func(got result) map[string]string {
		found := map[string]string{}
		for line := range strings.Lines(got.Out) {
			if parts := strings.Fields(line); len(parts) > 2 {
				found[parts[1]] = parts[0] + " " + strings.Join(parts[2:], " ")
			}
		}
		return found
	}

	var well result
	// On a busy machine an engine may answer too late.
	require.Eventually(t, func() bool {
		well = run(append(environ(cfg), user...), "doctor", "--target=https://app.example.com/answer")
		return well.Code == 0
	}, 10*time.Minute, time.Millisecond)
	found := lines(well)
	for _, name := range []string{"server", "postgres", "clickhouse", "blobs", "temporal", "clock", "key", "settings", "pepper", "egress"} {
		require.True(t, strings.HasPrefix(found[name], "✓ "), "%s in\n%s", name, well.Out)
	}
	require.True(t, strings.HasPrefix(found["traces"], "– none has arrived yet: where your application runs, set OTEL_EXPORTER_OTLP_ENDPOINT="+k.URL), found["traces"])
	_, err := c.CreateTrace(t.Context(), map[string]any{"name": "first", "status": "completed"})
	require.NoError(t, err)
	require.Contains(t, lines(run(user, "doctor"))["traces"], "✓ the newest began")
	require.Contains(t, lines(run(user, "doctor"))["settings"], "– the server's settings are not in this environment")

	bad := run(append(environ(cfg), user[0], "ASSAY_API_KEY=asy_live_x", "ASSAY_KEY_PEPPER="+otherPepper), "doctor", "--target=http://127.0.0.1:5005/")
	require.Equal(t, 1, bad.Code)
	found = lines(bad)
	require.Contains(t, found["key"], "✗ the key in ASSAY_API_KEY was rejected: ")
	require.Contains(t, found["egress"], "ASSAY_EGRESS_ALLOW=127.0.0.1:5005")
	require.Contains(t, bad.Out, "problems found.\n")

	down := run([]string{"ASSAY_URL=http://127.0.0.1:1", user[1]}, "doctor")
	require.Equal(t, 1, down.Code)
	require.Contains(t, lines(down)["server"], "✗ no response from http://127.0.0.1:1")
	keyless := run([]string{user[0]}, "doctor")
	require.Equal(t, 1, keyless.Code)
	require.Contains(t, lines(keyless)["key"], "✗ there is no API key for "+k.URL)
}
