package span

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
)

// FuzzSpanJSON reads arbitrary texts as spans: a span is refused with a reason,
// or read whole by the decoder of telemetry.
func FuzzSpanJSON(f *testing.F) {
	for _, seed := range []string{
		`{"name":"x","startTime":"2026-01-01T00:00:00Z"}`,
		`{"spanId":"00f067aa0ba902b7","parentSpanId":"00f067aa0ba902b8","name":"chat","kind":"client","primitiveType":"model_call","startTime":"2026-01-01T00:00:00.123456Z","durationMs":1.5,` +
			`"status":{"code":"error","message":"no"},"attributes":{"a":"b","n":1,"f":1.5,"t":true,"z":null,"l":[1,[2,{"x":"y"}]],"gen_ai.request.model":"m"},` +
			`"events":[{"name":"e","time":"2026-01-01T00:00:00Z","attributes":{"k":"v"}}],"links":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7"}],` +
			`"input":["i"],"output":{"o":1},"model":"m","provider":"p","usage":{"inputTokens":1,"outputTokens":2},"costUsd":0.1}`,
		`{"name":"\u0000","startTime":"2026-01-01T00:00:00Z"}`,
		`{"name":"x","startTime":1}`, `{"name":"x","startTime":"2026-01-01T00:00:00Z","endTime":"2025-01-01T00:00:00Z"}`,
		`{"name":"x","startTime":"9999-12-31T23:59:59Z"}`, `{"name":"x","startTime":"2026-01-01T00:00:00Z","attributes":[]}`,
		`[]`, `null`, `{}`, `{"name":"x","name":"y"}`, `{"Name":"x"}`, ``, `{`,
		`{"name":"x","startTime":"2026-01-01T00:00:00Z","attributes":` + strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40) + "}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := JSONReader{Trace: TraceID{1}}
		span, fields := r.Read(3, jsontext.Value(text))
		if len(fields) > 0 {
			for _, field := range fields {
				require.NotEmpty(t, field.Code)
				require.NotEmpty(t, field.Message)
				require.Equal(t, "body", field.In)
			}
			return
		}
		require.NotEqual(t, ID{}, span.ID)
		require.NotEmpty(t, span.name)
		var d Decoder
		got, reason, err := d.JSON(&span)
		require.NoError(t, err)
		require.Empty(t, reason)
		require.Equal(t, span.ID, got.ID)
		require.True(t, utf8.ValidString(string(got.Name)))
		require.GreaterOrEqual(t, got.Start, int64(Earliest))
		require.True(t, got.End == 0 || got.End >= got.Start)
	})
}

func TestReadSpan(t *testing.T) {
	t.Parallel()
	const base = `"name":"x","startTime":"2026-02-28T23:00:00Z"`
	read := func(index int, text string) (JSONSpan, []fault.Field) {
		r := JSONReader{Trace: TraceID{1}}
		return r.Read(index, jsontext.Value(text))
	}

	t.Run("what is wrong is named with its place", func(t *testing.T) {
		t.Parallel()
		for text, want := range map[string]string{
			`5`:            " type",
			`null`:         " required",
			`{"name":"x"}`: "/startTime required",
			`{"name":"","startTime":"2026-02-28T23:00:00Z"}`:                       "/name length",
			`{` + base + `,"spanId":"12"}`:                                         "/spanId pattern",
			`{` + base + `,"spanId":"0000000000000000"}`:                           "/spanId pattern",
			`{` + base + `,"parentSpanId":"x"}`:                                    "/parentSpanId pattern",
			`{` + base + `,"endTime":"2026-02-28T22:00:00Z"}`:                      "/endTime min",
			`{` + base + `,"durationMs":-1}`:                                       "/durationMs min",
			`{` + base + `,"durationMs":"1"}`:                                      "/durationMs type",
			`{` + base + `,"status":"ok"}`:                                         "/status type",
			`{` + base + `,"status":{"code":"OK"}}`:                                "/status/code enum",
			`{` + base + `,"status":{"CODE":"ok"}}`:                                "/status/CODE unknown_field",
			`{` + base + `,"usage":{"inputTokens":1.5}}`:                           "/usage/inputTokens type",
			`{` + base + `,"usage":{"outputTokens":4294967296}}`:                   "/usage/outputTokens max",
			`{` + base + `,"costUsd":-0.1}`:                                        "/costUsd min",
			`{` + base + `,"attributes":[1]}`:                                      "/attributes type",
			`{` + base + `,"events":{}}`:                                           "/events type",
			`{` + base + `,"events":[null]}`:                                       "/events/0 required",
			`{` + base + `,"links":[{"traceId":"1","spanId":"00f067aa0ba902b7"}]}`: "/links/0/traceId pattern",
			`{` + base + `,"model":"` + strings.Repeat("é", 257) + `"}`:            "/model length",
			`{` + base + `,"model":"a\u0000b"}`:                                    "/model format",
			`{` + base + `,"kind":1}`:                                              "/kind type",
			`{` + base + `,"primitiveType":"x"}`:                                   "/primitiveType enum",
			`{"name":"x","startTime":"yesterday"}`:                                 "/startTime format",
			`{"name":"x","startTime":"1999-02-28T23:00:00Z"}`:                      "/startTime min",
		} {
			_, fields := read(0, text)
			require.NotEmpty(t, fields, text)
			require.Equal(t, want, fields[0].Path+" "+fields[0].Code, text)
			require.Len(t, fields, 1, text)
		}
	})

	t.Run("null is absent", func(t *testing.T) {
		t.Parallel()
		_, fields := read(0, `{`+base+`,"spanId":null,"parentSpanId":null,"kind":null,"endTime":null,"durationMs":null,"status":null,"attributes":null,"events":null,"links":null,"input":null,"usage":{"inputTokens":null},"costUsd":null,"model":null}`)
		require.Empty(t, fields)
	})

	t.Run("an end wins over a duration, and a duration makes an end", func(t *testing.T) {
		t.Parallel()
		for text, want := range map[string]int64{
			`,"durationMs":1500`: 1_500_000,
			`,"durationMs":0`:    0,
			`,"endTime":"2026-02-28T23:00:02Z","durationMs":1`: 2_000_000,
		} {
			s, fields := read(0, `{`+base+text+`}`)
			require.Empty(t, fields)
			var d Decoder
			reason, err := d.span(s.otlp)
			require.NoError(t, err)
			require.Empty(t, reason)
			require.Equal(t, want, d.record.End-d.record.Start, text)
		}
	})

	t.Run("ids that are made come from the content", func(t *testing.T) {
		t.Parallel()
		a, _ := read(0, `{"name":"x","startTime":"2026-02-28T23:00:00Z"}`)
		b, _ := read(0, `{ "startTime":"2026-02-28T23:00:00Z","name":"x" }`)
		c, _ := read(1, `{"name":"x","startTime":"2026-02-28T23:00:00Z"}`)
		require.Equal(t, a.ID, b.ID)
		require.NotEqual(t, a.ID, c.ID)
	})
}
