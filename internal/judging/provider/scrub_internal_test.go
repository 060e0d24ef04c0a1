package provider

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func TestASecretIsTakenOutOfAnswers(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t/+é key=1"
	s := newScrubber(secret)
	var escaped strings.Builder
	for _, r := range secret {
		_, _ = fmt.Fprintf(&escaped, `\u%04x`, r)
	}
	for name, text := range map[string]string{
		"alone":       secret,
		"within":      "Bearer " + secret + ".",
		"in a query":  "?key=" + url.QueryEscape(secret),
		"in a path":   "/" + url.PathEscape(secret) + "/",
		"in base64":   base64.StdEncoding.EncodeToString([]byte(secret)),
		"for a user":  "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+secret)),
		"for another": base64.URLEncoding.EncodeToString([]byte("us:" + secret)),
		"for a third": base64.RawURLEncoding.EncodeToString([]byte("use:" + secret + "\n")),
	} {
		quoted, err := json.Marshal(map[string]any{"a": []any{1, text}, text: nil})
		require.NoError(t, err)

		got, err := s.value(quoted)

		require.NoError(t, err)
		require.True(t, got.IsValid(), "%s: %s", name, got)
		require.Contains(t, string(got), scrubbed, name)
		var all struct{ A []any }
		require.NoError(t, json.Unmarshal(got, &all, json.MatchCaseInsensitiveNames(true)))
		require.NotContains(t, fmt.Sprint(all.A...), "s3cr3t", name)
		plain, err := base64.StdEncoding.DecodeString(fmt.Sprint(all.A[1]))
		require.NotContains(t, string(plain), "cr3t/+é", "%s %v", name, err)
	}
	got, err := s.value(jsontext.Value(`{"a": "` + escaped.String() + `"}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"a":"[secret]"}`, string(got), "however it is escaped")

	same := jsontext.Value(`{ "b": 1.0, "a": "s3cr3t" }`)
	got, err = s.value(same)
	require.NoError(t, err)
	require.Equal(t, string(same), string(got), "what does not have it stays as it is")
	require.Nil(t, newScrubber("short"))
	got, err = newScrubber("").value(same)
	require.NoError(t, err)
	require.Equal(t, string(same), string(got))
}
