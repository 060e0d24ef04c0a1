package trace

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/tenancy/price"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// BenchmarkSpanJSON reads a span of a model call and adds it to a block.
func BenchmarkSpanJSON(b *testing.B) {
	redactor, err := redact.New(nil)
	require.NoError(b, err)
	settings := &orgSettings{retention: 90, redactor: redactor, prices: price.NewTable(nil)}
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	text := jsontext.Value(`{"spanId":"00f067aa0ba902b7","name":"chat","kind":"client","startTime":"2026-02-28T23:00:00.123456Z","endTime":"2026-02-28T23:00:01Z",` +
		`"attributes":{"gen_ai.operation.name":"chat","gen_ai.request.model":"gpt-4o","gen_ai.usage.input_tokens":812,"gen_ai.usage.output_tokens":95,"http.status":200,"region":"eu"},` +
		`"input":[{"role":"user","content":"` + strings.Repeat("What is the best way to do it? ", 30) + `"}],"output":{"text":"` + strings.Repeat("It depends. ", 40) + `"}}`)
	r := span.JSONReader{Trace: span.TraceID{1}}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		sent, fields := r.Read(0, text)
		if len(fields) > 0 {
			b.Fatal(fields)
		}
		w := batch{spans: []span.JSONSpan{sent}}
		in := newIntake(principal.NewOrgID(), settings, now)
		if err := in.read(b.Context(), len(text), func() error { return w.addSpans(in, &Receipt{}) }); err != nil {
			b.Fatal(err)
		}
		in.rows.Release()
	}
}
