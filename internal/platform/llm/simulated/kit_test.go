package simulated_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

// kit is a provider in the process and a client that asks it.
type kit struct {
	*simulated.Provider
	client *llm.Client
}

func newKit(t testing.TB, o simulated.Options) kit {
	t.Helper()
	p, err := simulated.New(o)
	require.NoError(t, err)
	return kit{p, llm.New(simulated.Transport(p))}
}

func (k kit) ask(ctx context.Context, provider, model, text string) (llm.Reply, error) {
	to := llm.Endpoint{Provider: provider, BaseURL: "http://simulated.example/v1", Secret: "any-key-will-do"}
	return k.client.Complete(ctx, to, llm.Request{Model: model, Messages: []llm.Message{{Role: llm.RoleUser, Content: text}}})
}

// call makes a raw HTTP call in the process.
func (k kit) call(t *testing.T, method, path, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://simulated.example"+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := simulated.Transport(k.Provider).RoundTrip(r)
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return v
}

func rules(r ...simulated.Rule) simulated.Options {
	return simulated.Options{Faults: simulated.Faults{Rules: r}}
}

// kindOf is the kind of an error of a provider, or "" if it is none.
func kindOf(err error) llm.Kind {
	var e *llm.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}
