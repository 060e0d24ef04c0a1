package simulated_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

func TestServe(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	addr, done := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		done <- simulated.Serve(ctx, "127.0.0.1:0", rules(simulated.Rule{Fault: simulated.FaultHang, Contains: "hang"}), func(a net.Addr) { addr <- a })
	}()
	url := "http://" + (<-addr).String() + "/v1/chat/completions"
	post := func(text string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"model":"echo","messages":[{"role":"user","content":"`+text+`"}]}`))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer x")
		return http.DefaultClient.Do(r)
	}
	res, err := post("hello")
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), `"content":"hello"`)

	hung := make(chan error, 1)
	go func() {
		_, err := post("hang")
		hung <- err
	}()
	cancel()
	require.NoError(t, <-done)
	require.Error(t, <-hung, "a call in flight is cut off")

	require.ErrorContains(t, simulated.Serve(t.Context(), "127.0.0.1:-1", simulated.Options{}, nil), "listen on 127.0.0.1:-1")
	require.Error(t, simulated.Serve(t.Context(), "127.0.0.1:0", rules(simulated.Rule{Fault: "fire"}), nil))
}
