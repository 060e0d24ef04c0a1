package normal_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

// TestRecorded compares what official libraries said with the records that follow from
// it.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, format := range normal.Formats {
		all := fixtures(t, format)
		if format == normal.FormatNative {
			require.Empty(t, all)
			continue
		}
		require.NotEmpty(t, all, format)
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			results := map[string]written{}
			for _, f := range all {
				got := outcomeOf(f.Event)
				storable(t, got.Result)
				require.Equal(t, format, got.Result.Format, f.Name)
				results[f.Name] = got.written()

				untyped := f.Event
				untyped.Type = "com.example.event"
				require.Equal(t, got, outcomeOf(untyped), "the shape of %s tells its format as its type does", f.Name)
			}
			compare(t, filepath.Join("testdata", string(format)+".golden.json"), results)
		})
	}
}

// outcome is what became of an event. One of those recorded is refused: a client sent it
// to see how its server refuses it.
type outcome struct {
	Result normal.Result
	Fields []fault.Field
}

func outcomeOf(e normal.Event) outcome {
	got, fields := normal.Normalize(e, "agent-1")
	return outcome{got, fields}
}

// written is an outcome as the files of testdata have it.
type written struct {
	Result struct {
		Format   normal.Format
		Version  string
		Reports  []writtenReport
		Warnings []string
	}
	Fields []fault.Field
}

type writtenReport struct {
	Kind    kind.Name
	Body    jsontext.Value
	Partial bool
	Adds    bool `json:",omitzero"`
}

func (o outcome) written() (w written) {
	w.Result.Format, w.Result.Version, w.Result.Warnings, w.Fields = o.Result.Format, o.Result.Version, o.Result.Warnings, o.Fields
	for _, r := range o.Result.Reports {
		w.Result.Reports = append(w.Result.Reports, writtenReport{r.Kind.Name, r.Values.JSON(), r.Partial, r.Adds})
	}
	return w
}

func compare(t *testing.T, file string, got any) {
	t.Helper()
	text, err := json.Marshal(got, json.Deterministic(true), jsontext.WithIndent("  "))
	require.NoError(t, err)
	text = append(text, '\n')
	if *update {
		require.NoError(t, os.WriteFile(file, text, 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(text))
}
