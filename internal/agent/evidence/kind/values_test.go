package kind_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// call is a report about the call of a tool, of about the size that agents send.
const call = `{"idempotencyKey":"c-1","runtimeKey":"refund-agent","connectorKey":"payments","otelTraceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331",` +
	`"conversationId":"conv-77","invocationId":"call_9","toolName":"refund","toolType":"mcp","protocol":{"name":"mcp","version":"2025-11-25","method":"tools/call"},` +
	`"arguments":{"order":"A-17","amount":"240.00","currency":"EUR","lines":[{"sku":"x-1","quantity":2,"note":"the first of two"},{"sku":"x-2","quantity":1}]},` +
	`"argumentsDigest":"sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865","result":{"content":[{"type":"text","text":"Refunded 240.00 EUR to the card that ends in 4242."}]},` +
	`"resultDigest":"sha256:53c234e5e8472b6ac51c1ae1cab3fe06fad053beb8ebfd8977b010655bfdd3c3","isError":false,"status":"succeeded","sideEffectClass":"transact",` +
	`"annotations":{"readOnly":false,"destructive":true,"openWorld":true},"attempt":1,"startedAt":"2026-11-17T12:00:00.000Z","endedAt":"2026-11-17T12:00:01.250Z","latencyMs":1250.5,` +
	`"policyDecisionId":5120,"approvalId":88,"team":"billing","attributes":{"region":"eu-west-1"}}`

func TestValues(t *testing.T) {
	t.Parallel()

	t.Run("are written in order, and read again", func(t *testing.T) {
		t.Parallel()
		v := kind.Values{"b": jsontext.Value(`[1,"x"]`), "a": jsontext.Value(`{"é":"\u00e9"}`), "\"\\\n\u00e9": jsontext.Value("1"), "none": nil}
		text := v.JSON()
		require.Equal(t, jsontext.Value(`{"\"\\\né":1,"a":{"é":"\u00e9"},"b":[1,"x"],"none":null}`), text)
		got, err := kind.ParseValues(text)
		require.NoError(t, err)
		v["none"] = jsontext.Value("null")
		require.Equal(t, v, got)
		require.Equal(t, "{}", string(kind.Values(nil).JSON()))
	})

	t.Run("spaces between members are skipped", func(t *testing.T) {
		t.Parallel()
		got, err := kind.ParseValues([]byte(" { \"a\" : [1, 2] ,\n\"b\": null } "))
		require.NoError(t, err)
		require.Equal(t, kind.Values{"a": jsontext.Value("[1, 2]"), "b": jsontext.Value("null")}, got)
	})

	t.Run("what was not stored as an object is an error", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{``, `[]`, `null`, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1]`} {
			_, err := kind.ParseValues([]byte(text))
			require.Error(t, err, text)
		}
	})
}

func BenchmarkValues(b *testing.B) {
	d, fields := kind.Read(kind.Must("tool-invocation-evidence"), jsontext.Value(call), false)
	require.Empty(b, fields)
	text := d.Values.JSON()
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.Values.JSON()
		}
	})
	b.Run("write by reflection", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(d.Values, json.Deterministic(true)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := kind.ParseValues(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse by reflection", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var v kind.Values
			if err := json.Unmarshal(text, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	k := kind.Must("tool-invocation-evidence")
	b.ReportAllocs()
	b.SetBytes(int64(len(call)))
	for b.Loop() {
		if _, fields := kind.Read(k, jsontext.Value(call), false); len(fields) > 0 {
			b.Fatal(fields)
		}
	}
}
