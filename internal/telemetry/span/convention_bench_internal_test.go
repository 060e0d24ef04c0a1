package span

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// narrowSpan is a span of a web server: ten attributes that mean nothing to
// the conventions.
func narrowSpan(i int) sentSpan {
	return sentSpan{
		Resource: json.RawMessage(`{"service.name":"checkout","service.version":"1.4.2","deployment.environment.name":"production","host.name":"node-7"}`),
		Name:     "GET /api/cart/{id}", Kind: 2,
		Attributes: json.RawMessage(fmt.Sprintf(`{
			"http.request.method":"GET","http.route":"/api/cart/{id}","http.response.status_code":200,"url.path":"/api/cart/%d",
			"url.scheme":"https","server.address":"shop.example.com","server.port":443,"client.address":"203.0.113.%d",
			"user_agent.original":"Mozilla/5.0 (X11; Linux x86_64)","network.protocol.version":"1.1"}`, i, i%250)),
	}
}

func genAISpan(i int) sentSpan {
	return sentSpan{
		Resource: json.RawMessage(`{"service.name":"assistant","service.version":"1.4.2","deployment.environment.name":"production"}`),
		Name:     "chat gpt-4o", Kind: 3,
		Attributes: json.RawMessage(fmt.Sprintf(`{
			"gen_ai.operation.name":"chat","gen_ai.provider.name":"openai","gen_ai.request.model":"gpt-4o","gen_ai.response.model":"gpt-4o-2024-08-06",
			"gen_ai.request.temperature":0.2,"gen_ai.request.max_tokens":500,"gen_ai.conversation.id":"conv_%d","gen_ai.response.id":"chatcmpl-%d",
			"gen_ai.usage.input_tokens":210,"gen_ai.usage.output_tokens":64,"gen_ai.usage.cache_read.input_tokens":128,
			"gen_ai.input.messages":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Do you have gravel bikes in size %d?\"}]}]",
			"gen_ai.output.messages":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Yes, the Rambler 3 and the Stony are in stock.\"}],\"finish_reason\":\"stop\"}]",
			"server.address":"api.openai.com","user.id":"user-%d"}`, i, i, i, i%100)),
	}
}

// turns are the messages of a conversation of n turns, about 2.5 KB each.
func turns(n int) []map[string]any {
	const words = "The customer's order left the warehouse on Tuesday and reached the sorting centre in Lyon; \"delivered\" is expected tomorrow. "
	var out []map[string]any
	for i := range n {
		out = append(out,
			map[string]any{"role": "user", "content": fmt.Sprintf("Question %d: %s", i, strings.Repeat(words, 3))},
			map[string]any{"role": "assistant", "content": fmt.Sprintf("Answer %d:\n%s", i, strings.Repeat(words, 8))},
			map[string]any{"role": "tool", "content": fmt.Sprintf(`{"order":"A-%d","note":"%s"}`, i, strings.Repeat("parcel scanned; ", 50))})
	}
	return append(out, map[string]any{"role": "user", "content": "And what about the second parcel?"})
}

func agentSpan(t testing.TB) sentSpan {
	t.Helper()
	messages, err := json.Marshal(turns(12))
	require.NoError(t, err)
	attributes, err := json.Marshal(map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude-sonnet-4-5",
		"gen_ai.usage.input_tokens": 9100, "gen_ai.usage.output_tokens": 210, "gen_ai.conversation.id": "c-1",
		"gen_ai.input.messages": string(messages),
		"gen_ai.output.messages": `[{"role":"assistant","parts":[{"type":"text","content":"` +
			strings.Repeat("The second parcel is still in customs. ", 20) + `"}],"finish_reason":"stop"}]`,
	})
	require.NoError(t, err)
	return sentSpan{Name: "chat claude-sonnet-4-5", Kind: 3, Attributes: attributes}
}

// flatSpan is the same conversation as OpenInference flattens it.
func flatSpan(t testing.TB) sentSpan {
	t.Helper()
	attributes := map[string]any{"openinference.span.kind": "LLM", "llm.model_name": "claude-sonnet-4-5", "llm.token_count.prompt": 9100}
	for i, m := range turns(12) {
		attributes[fmt.Sprintf("llm.input_messages.%d.message.role", i)] = m["role"]
		attributes[fmt.Sprintf("llm.input_messages.%d.message.content", i)] = m["content"]
	}
	attributes["llm.output_messages.0.message.role"] = "assistant"
	attributes["llm.output_messages.0.message.content"] = strings.Repeat("The second parcel is still in customs. ", 20)
	text, err := json.Marshal(attributes)
	require.NoError(t, err)
	return sentSpan{Name: "Messages", Attributes: text}
}

// benchmarkDecode measures our decoder, beside what making OpenTelemetry's
// own structures of the same bytes costs.
func benchmarkDecode(b *testing.B, spans []sentSpan) {
	fromCollector := encode(b, spans...)
	body := inOrder(b, fromCollector)
	b.Run("collector", func(b *testing.B) { benchmarkRows(b, fromCollector, len(spans), func(*Record) {}) })
	b.Run("decode", func(b *testing.B) { benchmarkRows(b, body, len(spans), func(*Record) {}) })
	b.Run("decode+search", func(b *testing.B) {
		benchmarkRows(b, body, len(spans), func(r *Record) {
			r.InputPreview()
			r.OutputPreview()
			r.SearchText()
		})
	})
	b.Run("pdata", func(b *testing.B) {
		measure(b, body, len(spans), func() {
			if err := ptraceotlp.NewExportRequest().UnmarshalProto(body); err != nil {
				b.Fatal(err)
			}
		})
	})
}

func benchmarkRows(b *testing.B, body []byte, spans int, use func(*Record)) {
	d, bad := new(Decoder), Rejected{}
	read := func() {
		seen := 0
		if err := d.Traces(body, &bad, func(r *Record) error {
			use(r)
			seen++
			return nil
		}); err != nil || seen != spans {
			b.Fatal(seen, err)
		}
	}
	read()
	measure(b, body, spans, read)
}

// measure reports the processor's time for a span beside the clock's, because
// a busy machine stretches the clock.
func measure(b *testing.B, body []byte, spans int, read func()) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	began := processorTime(b)
	for b.Loop() {
		read()
	}
	n := float64(b.N) * float64(spans)
	b.ReportMetric(float64(processorTime(b)-began)/n, "cpu-ns/span")
	b.ReportMetric(float64(b.Elapsed())/n, "ns/span")
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkDecodeNarrow(b *testing.B) {
	spans := make([]sentSpan, 1000)
	for i := range spans {
		spans[i] = narrowSpan(i)
	}
	benchmarkDecode(b, spans)
}

func BenchmarkDecodeGenAI(b *testing.B) {
	spans := make([]sentSpan, 1000)
	for i := range spans {
		spans[i] = genAISpan(i)
	}
	benchmarkDecode(b, spans)
}

func BenchmarkDecodeAgent30KB(b *testing.B) {
	spans := make([]sentSpan, 32)
	for i := range spans {
		spans[i] = agentSpan(b)
	}
	benchmarkDecode(b, spans)
}

func BenchmarkDecodeFlat30KB(b *testing.B) {
	spans := make([]sentSpan, 32)
	for i := range spans {
		spans[i] = flatSpan(b)
	}
	benchmarkDecode(b, spans)
}

// BenchmarkLift is the cost of one attribute that means nothing.
func BenchmarkLift(b *testing.B) {
	for _, key := range []string{"http.request.method", "server.address", "user_agent.original", "gen_ai.request.temperature", "gen_ai.usage.input_tokens"} {
		b.Run(key, func(b *testing.B) {
			r, v, k := new(Record), value{kind: valueInt, num: 7}, []byte(key)
			b.ReportAllocs()
			for b.Loop() {
				r.lift(k, &v)
			}
		})
	}
}
