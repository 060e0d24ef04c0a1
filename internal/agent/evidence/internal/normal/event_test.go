package normal_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
)

// FuzzRead reads events as an envelope carries them. One that is not refused can be
// normalized.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"id":"1","source":"//tests","type":"agent-evidence.failures","time":"2026-01-31T12:00:00Z","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","data":{"failureMode":"loop","severity":"low"}}`,
		`{"id":7,"source":null,"type":"","time":"yesterday","format":"carrier.pigeon","subject":["s"],"dataschema":"x","data":null}`,
		`{"id":"a\u0000","source":"b","type":"c","data":1}`, `{"data":[{}],"data":{}}`, `[]`, `"x"`, `{`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, fields := normal.Read(jsontext.Value(text))
		if len(fields) > 0 || !jsontext.Value(text).IsValid() {
			return
		}
		require.NotEmpty(t, e.ID)
		require.NotEmpty(t, e.Source)
		require.True(t, e.Data.IsValid(), "a part of what is JSON is JSON")
		got, _ := normal.Normalize(e, "agent")
		storable(t, got)
		e.Checked = false
		unchecked, _ := normal.Normalize(e, "agent")
		require.Equal(t, unchecked, got)
	})
}
