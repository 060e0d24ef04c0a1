// Package temporaltest keeps what workflows have done, and replays it.
package temporaltest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/worker"

	"github.com/assayhq/assay/internal/platform/temporal"
)

var record = flag.String("record", "", "record histories of workflows on the real engine, in files whose names end in this")

// Scene starts a workflow on the real engine and says which. Its history is
// recorded when it has ended.
type Scene func(t *testing.T) (engine temporal.Config, id string)

// Histories replays what workflows of released binaries have done: a workflow
// that is running while the binary is replaced goes on with the new code. New
// files are recorded beside the old ones, as in -record _3; an old one is never
// replaced. The workflow is a function, or a []any of those of a package; the noun is the
// folder of its histories.
func Histories(t *testing.T, noun string, workflow any, scenes map[string]Scene) {
	t.Helper()
	folder := "testdata/history/" + noun + "/"
	workflows, several := workflow.([]any)
	if !several {
		workflows = []any{workflow}
	}
	if *record != "" {
		for name, scene := range scenes {
			keep(t, folder+name+*record+".json", scene)
		}
	}
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), len(scenes), "each scene is recorded: run the test with -record _1")
	for _, f := range files {
		t.Run(f.Name(), func(t *testing.T) {
			t.Parallel()
			replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
			require.NoError(t, err)
			for _, w := range workflows {
				replayer.RegisterWorkflow(w)
			}
			require.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(nil, folder+f.Name()))
		})
	}
}

func keep(t *testing.T, file string, scene Scene) {
	t.Helper()
	cfg, id := scene(t)
	engine, err := temporal.Open(cfg, nil)
	require.NoError(t, err)
	t.Cleanup(engine.Close)
	id = cfg.QueuePrefix + ":" + id
	require.NoError(t, engine.GetWorkflow(t.Context(), id, "").Get(t.Context(), nil))
	var h history.History
	events := engine.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(t, err)
		h.Events = append(h.Events, e)
	}
	text, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(&h)
	require.NoError(t, err)
	require.NoFileExists(t, file)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, text, 0o644))
	t.Logf("recorded %s: %d events", file, len(h.Events))
}
