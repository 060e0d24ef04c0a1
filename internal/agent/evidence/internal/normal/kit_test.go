package normal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
)

// at is when the events of these tests happened.
var at = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

// fixture is a message that was recorded.
type fixture struct {
	Name  string
	Event normal.Event
}

// fixtures are the messages of a format that were recorded, in the order of their names.
func fixtures(t testing.TB, format normal.Format) (out []fixture) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", string(format), "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var in struct {
			MadeBy string `json:"made_by"`
			Event  struct {
				ID, Source, Type, Subject, Traceparent string
				Time                                   time.Time
				Data                                   jsontext.Value
			} `json:"event"`
		}
		require.NoError(t, json.Unmarshal(text, &in, json.MatchCaseInsensitiveNames(true)), file)
		require.NotEmpty(t, in.MadeBy, file)
		out = append(out, fixture{strings.TrimSuffix(filepath.Base(file), ".json"), normal.Event{
			ID: in.Event.ID, Source: in.Event.Source, Type: in.Event.Type, Subject: in.Event.Subject,
			Traceparent: in.Event.Traceparent, Time: in.Event.Time, Data: in.Event.Data,
		}})
	}
	return out
}

// storable fails unless every report can be stored: a report that its kind refuses is a
// mistake of the mapping, whatever the event is. What it is checked to is what is stored:
// checking it again changes nothing.
func storable(t testing.TB, got normal.Result) {
	t.Helper()
	require.LessOrEqual(t, len(got.Reports), normal.MaxReports)
	for _, r := range got.Reports {
		text := r.Values.JSON()
		draft, fields := kind.Read(r.Kind, text, r.Partial)
		require.Empty(t, fields, "%s %s", r.Kind.Name, text)
		require.Equal(t, r.Values, draft.Values, "%s %s", r.Kind.Name, text)
		require.True(t, len(r.Ignored) == 0 || got.Format == normal.FormatNative, "%s %s", r.Kind.Name, text)
	}
}

// normalized is what an event says that its format accepts.
func normalized(t *testing.T, e normal.Event) normal.Result {
	t.Helper()
	got, fields := normal.Normalize(e, "agent-1")
	require.Empty(t, fields)
	storable(t, got)
	return got
}

// refused is the paths of what is wrong with an event that its format refuses.
func refused(t *testing.T, e normal.Event) (paths []string) {
	t.Helper()
	got, fields := normal.Normalize(e, "agent-1")
	require.Empty(t, got.Reports)
	require.NotEmpty(t, fields)
	for _, f := range fields {
		require.Equal(t, fault.Field{In: "body", Path: f.Path, Code: f.Code, Message: f.Message, Limit: f.Limit}, f)
		paths = append(paths, f.Path)
	}
	return paths
}

// only is the one report of a kind.
func only(t *testing.T, got normal.Result, name kind.Name) kind.Values {
	t.Helper()
	all := every(t, got, name)
	require.Len(t, all, 1)
	return all[0]
}

// every is the reports of a kind.
func every(t *testing.T, got normal.Result, name kind.Name) (out []kind.Values) {
	t.Helper()
	for _, r := range got.Reports {
		if r.Kind.Name == name {
			out = append(out, r.Values)
		}
	}
	return out
}

// event is an event of a format.
func event(format normal.Format, data string) normal.Event {
	return normal.Event{ID: "e-1", Source: "//tests", Time: at, Format: format, Data: jsontext.Value(data)}
}
