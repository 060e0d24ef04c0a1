package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A signal to the process would end every test, so the context is ended here.
func TestInterruptedWaiting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cancel bool
		code   int
		says   string
		posts  int
	}{
		"leaves the run running":        {false, exitUnknown, "interrupted; run 42 is still in progress: `assay runs attach 7 42` follows it", 1},
		"cancels it if it is told that": {true, exitFailed, "interrupted; run 42 is cancelled, results so far are kept: `assay results 7 42` shows them", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			posts := 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPost:
					posts++
				case strings.HasSuffix(r.URL.Path, "/progress"):
					defer interrupt()
				}
				w.Header().Set("Content-Type", "application/json")
				id := "7"
				if strings.Contains(r.URL.Path, "/runs") {
					id = "42"
				}
				_, _ = io.WriteString(w, `{"id":"`+id+`","name":"x","status":"running"}`)
			}))
			defer srv.Close()
			var out, errOut bytes.Buffer
			e := &Environment{Context: ctx, Environ: []string{"SERVICE_API_KEY=k"}, Out: &out, ErrOut: &errOut}

			err := runCommand{Evaluation: "7", remote: remote{URL: srv.URL}, Wait: true, waitFlags: waitFlags{Timeout: time.Hour, CancelOnInterrupt: c.cancel}}.Run(e)

			var coded *ExitError
			require.ErrorAs(t, err, &coded)
			require.Equal(t, c.code, coded.Code)
			require.ErrorContains(t, err, c.says)
			require.Equal(t, c.posts, posts)
			require.Empty(t, out.String())
		})
	}
}

func TestTheGuardPassesWholeLines(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	g := &guard{to: &b}
	for _, part := range []string{"a ::b\n:", ":error::x\n", "  ::warning::y\nz ##[er", "ror]\n", "end"} {
		n, err := io.WriteString(g, part)
		require.NoError(t, err)
		require.Equal(t, len(part), n)
	}
	require.Equal(t, "a ::b\n: :error::x\n  : :warning::y\nz ## [error]\n", b.String())
}
