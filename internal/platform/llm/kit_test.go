package llm_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/platform/secret"
)

const key = secret.Text("sk-canary-0123456789abcdef")

// protocols are one provider of each.
var protocols = []string{"openai", "anthropic", "google"}

// way is one way to a simulated provider.
type way struct {
	name     string
	provider *simulated.Provider
	client   *llm.Client
	url      string
}

func (w way) to(provider string) llm.Endpoint {
	return llm.Endpoint{Provider: provider, BaseURL: w.url, Secret: key}
}

// ways lead to a provider of their own: over the network, through the rules of
// egress, and within the process.
func ways(t *testing.T, o simulated.Options) []way {
	t.Helper()
	return []way{network(t, o, egress.Options{}), local(t, o)}
}

func network(t *testing.T, o simulated.Options, e egress.Options) way {
	t.Helper()
	s := simulated.Start(t, o)
	out, err := egress.New(egress.Config{Allow: []string{s.Addr}})
	require.NoError(t, err)
	t.Cleanup(out.Close)
	return way{"network", s.Provider, llm.New(out.HTTP(e)), s.URL}
}

func local(t *testing.T, o simulated.Options) way {
	t.Helper()
	p, err := simulated.New(o)
	require.NoError(t, err)
	return way{"local", p, llm.New(simulated.Transport(p)), "http://local.example/v1"}
}

// answering is a client whose provider answers everything with one answer.
func answering(h http.HandlerFunc) *llm.Client { return llm.New(simulated.Transport(h)) }

func say(text string) llm.Request {
	return llm.Request{Model: "echo", Messages: []llm.Message{{Role: llm.RoleUser, Content: text}}}
}

func failed(t *testing.T, err error) *llm.Error {
	t.Helper()
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.LessOrEqual(t, len(e.Message), llm.MaxExcerpt)
	require.NotContains(t, err.Error(), "canary")
	require.False(t, e.Retryable() && e.Fatal())
	return e
}
