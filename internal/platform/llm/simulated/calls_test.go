package simulated_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	o := rules(simulated.Rule{Fault: simulated.FaultRateLimit, First: 1, Contains: "storm"}, simulated.Rule{Fault: simulated.FaultDisconnect, Contains: "gone"})
	k := newKit(t, o)
	to := llm.Endpoint{Provider: "openai", BaseURL: "http://x.example/v1", Secret: "key"}
	ask := func(text, key string) {
		span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
		r := llm.Request{Model: "echo", IdempotencyKey: key, Messages: []llm.Message{{Role: llm.RoleUser, Content: text}}}
		_, _ = k.client.Complete(trace.ContextWithSpanContext(t.Context(), span), to, r)
	}
	ask("a", "1")
	ask("a", "1") // paid twice
	ask("b", "2")
	ask("a storm", "3")
	ask("a storm", "3") // the second is paid
	ask("gone", "")
	_, err := k.client.Complete(t.Context(), to, llm.Request{Model: "missing", Messages: []llm.Message{{Role: llm.RoleUser, Content: "x"}}})
	require.Equal(t, llm.NotFound, kindOf(err))

	got := k.Calls()

	require.Equal(t, simulated.Calls{
		Total: 7, Paid: 4, MaxInFlight: 1,
		Status:          map[string]int64{"200": 4, "429": 1, "404": 1, "none": 1},
		Faults:          map[simulated.Fault]int64{"rate_limit": 1, "disconnect": 1},
		Prompts:         simulated.Repeats{Distinct: 4, Repeated: 2, Most: 2, MostPaid: 2, ExtraPaid: 1},
		IdempotencyKeys: simulated.Repeats{Distinct: 3, Repeated: 2, Most: 2, MostPaid: 2, ExtraPaid: 1},
		Traces:          simulated.Repeats{Distinct: 1, Repeated: 1, Most: 6, MostPaid: 4, ExtraPaid: 3},
	}, got)

	k.Forget()
	require.Equal(t, simulated.Calls{Status: map[string]int64{}, Faults: map[simulated.Fault]int64{}}, k.Calls())
	ask("a storm", "3")
	require.Equal(t, int64(1), k.Calls().Faults[simulated.FaultRateLimit], "a prompt that was forgotten comes for the first time")
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	for remember, want := range map[int]simulated.Repeats{
		10: {Distinct: 10, Repeated: 10, Most: 2, MostPaid: 2, ExtraPaid: 10, Forgotten: 180},
		-1: {},
	} {
		k := newKit(t, simulated.Options{Remember: remember})
		for range 2 {
			for i := range 100 {
				_, err := k.ask(t.Context(), "openai", "echo", strconv.Itoa(i))
				require.NoError(t, err)
			}
		}
		require.Equal(t, want, k.Calls().Prompts)
		require.Equal(t, int64(200), k.Calls().Total)
	}
}

func TestCountsHoldUnderConcurrency(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				_, _ = k.ask(t.Context(), "anthropic", "echo", strconv.Itoa(i))
				if i%50 == 0 {
					_ = k.Calls()
					_ = k.SetFaults(simulated.Faults{})
				}
			}
		})
	}
	wg.Wait()
	got := k.Calls()
	require.Equal(t, int64(1600), got.Total)
	require.Equal(t, simulated.Repeats{Distinct: 200, Repeated: 200, Most: 8, MostPaid: 8, ExtraPaid: 1400}, got.Prompts)
}

func TestControl(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{})

	const faults = `{"latency":{"median":"1ms","sigma":0.5},"rules":[{"fault":"rate_limit","share":0.1,"first":1,"every":"10s","for":"3s","retry_after":"2s"}]}`
	status, text := k.call(t, "PUT", "/simulated/faults", faults)
	require.Equal(t, 200, status, text)
	require.JSONEq(t, faults, text)
	_, text = k.call(t, "GET", "/simulated/faults", "")
	require.JSONEq(t, faults, text)
	_, text = k.call(t, "DELETE", "/simulated/faults", "")
	require.Equal(t, "{}\n", text)

	const script = `{"default":{"do":"judge","wrong":0.1},"models":{"m":{"do":"fixed","text":"t"}}}`
	status, text = k.call(t, "PUT", "/simulated/script", script)
	require.Equal(t, 200, status, text)
	_, text = k.call(t, "GET", "/simulated/script", "")
	require.JSONEq(t, script, text)

	for path, body := range map[string]string{
		"/simulated/faults": `{"rules":[{"fault":"fire"}]}`, "/simulated/faults?": `{"latency":{"fixed":"soon"}}`, "/simulated/faults?2": `{"latncy":{}}`,
		"/simulated/faults?3": `{"latency":{"fixed":5}}`, "/simulated/script": `{"default":{"do":"sing"}}`,
	} {
		status, text = k.call(t, "PUT", path, body)
		require.Equal(t, 400, status, body)
		require.Contains(t, text, `{"error":"`)
	}

	for range 3 {
		_, err := k.ask(t.Context(), "openai", "echo", "thrice")
		require.NoError(t, err)
	}
	_, err := k.ask(t.Context(), "openai", "echo", "once")
	require.NoError(t, err)
	status, text = k.call(t, "GET", "/simulated/calls?list=prompts", "")
	require.Equal(t, 200, status)
	got := decode[struct {
		Total int64             `json:"total"`
		List  []simulated.Tally `json:"list"`
	}](t, text)
	require.Equal(t, int64(4), got.Total)
	require.Len(t, got.List, 1)
	require.Equal(t, uint32(3), got.List[0].Paid)
	_, text = k.call(t, "GET", "/simulated/calls?list=prompts&least=1", "")
	require.Len(t, decode[struct {
		List []simulated.Tally `json:"list"`
	}](t, text).List, 2)
	for _, q := range []string{"list=all", "list=traces&least=x"} {
		status, _ = k.call(t, "GET", "/simulated/calls?"+q, "")
		require.Equal(t, 400, status)
	}
	_, text = k.call(t, "DELETE", "/simulated/calls", "")
	require.Contains(t, text, `{"total":0,`)
}
