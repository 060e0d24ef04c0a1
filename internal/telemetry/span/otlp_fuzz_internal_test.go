package span

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/assayhq/assay/internal/telemetry/span/payload"
)

// FuzzOTLPTraces gives the decoder any bytes: it may refuse them, but it does
// not panic and makes no more of them than they are. Of bytes that are a
// request every span comes out once, in order, or is counted as rejected.
func FuzzOTLPTraces(f *testing.F) {
	for _, body := range fuzzSeeds(f) {
		f.Add(body)
		f.Add(inOrder(f, body))
		f.Add(body[:len(body)/2])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := new(Decoder)
		_, _, _ = readable(t, d, body)

		request := ptraceotlp.NewExportRequest()
		if request.UnmarshalProto(body) != nil {
			return
		}
		again, err := request.MarshalProto()
		require.NoError(t, err)
		want := spanNames(request.Traces())
		// The same decoder: nothing of the first request may be left.
		got, rejects, err := readable(t, d, again)
		if err != nil {
			require.NotErrorIs(t, err, errProtobuf)
			return
		}
		if rejects == 0 {
			require.Equal(t, want, got)
		}
		require.Len(t, want, len(got)+rejects)
	})
}

// FuzzOTLPJSON compares what is made of any JSON with what the OpenTelemetry
// library makes of it: whatever the library takes is taken, and becomes the same
// rows. What is made takes no more memory than it is said to.
func FuzzOTLPJSON(f *testing.F) {
	for _, body := range fuzzSeeds(f) {
		request := ptraceotlp.NewExportRequest()
		require.NoError(f, request.UnmarshalProto(body))
		text, err := request.MarshalJSON()
		require.NoError(f, err)
		f.Add(text)
		f.Add(snakeCase(text))
	}
	for _, text := range []string{
		``, `{`, `null`, `[]`, `{}`, ` {} `, `{} {}`, `{"resourceSpans":null}`, `{"resource_spans":[{"scope_spans":[{"spans":[{}]}]}]}`, `{"resourceSpans":[null,{"scopeSpans":[null,{"spans":[null]}]}]}`,
		`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"eee19b7ec3c1b174","name":"\ud800 \u0000","kind":"SPAN_KIND_CLIENT",` +
			`"startTimeUnixNano":"1544712660000000000","endTimeUnixNano":1544712661000000000,"status":{"code":2},"attributes":[` +
			`{"key":"i","value":{"intValue":"-9223372036854775808"}},{"key":"f","value":{"doubleValue":"NaN"}},{"key":"b","value":{"bytesValue":"AQI="}},{"key":"e","value":{}},` +
			`{"key":"l","value":{"arrayValue":{"values":[{"boolValue":true},{"kvlistValue":{"values":[{"key":"k","value":{"stringValue":"v"}}]}}]}}}],` +
			`"links":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"}]}]}]}]}`,
		`{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":{"stringValue":"\ud83d\ude00\"\\\/\b\f\n\r\t"}}]},"resource":{"attributes":[{"key":"b","value":null}]},"resource":null,` +
			`"unknown":[{"a":[1,2,{}]}],"scopeSpans":[{"scope":{"name":"s"},"spans":[{"trace_id":"5b8efff798038103d269b633813fc60c","span_id":"eee19b7ec3c1b174","parent_span_id":"","kind":4,` +
			`"start_time_unix_nano":1544712660000000000,"status":{"message":"m"},"status":{"code":"STATUS_CODE_ERROR"},"na\u006de":"n","attributes":[{"key":"k","value":{"stringValue":"a"},"value":{}},` +
			`{"value":{"int_value":7,"double_value":1.5}},{"key":"n","value":{"stringValue":null}}],"events":[{"name":"e","time_unix_nano":"5","attributes":null}]}]}]}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		body, err := TracesFromJSON(text, goOn)
		if err != nil {
			require.ErrorIs(t, err, ErrUnreadable)
		}
		require.LessOrEqual(t, len(body), JSONRatio*len(text))
		document := jsontext.Value(text)
		if !document.IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) {
			require.Error(t, err)
			return
		}
		theirs := ptraceotlp.NewExportRequest()
		// The library ends an object at a member without a name.
		if bytes.Contains(text, []byte(`"":`)) || bytes.Contains(text, []byte(`"" `)) || theirs.UnmarshalJSON(text) != nil {
			return
		}
		want, marshalled := theirs.MarshalProto()
		require.NoError(t, marshalled)
		wantRows, wantRejects, wantErr := sameRows(t, want)
		if wantErr != nil {
			return // nested too deep
		}
		require.NoError(t, err)
		rows, rejects, err := sameRows(t, body)
		require.NoError(t, err)
		require.Equal(t, wantRejects, rejects)
		require.Equal(t, wantRows, rows)
	})
}

// FuzzOTLPLogsJSON is FuzzOTLPJSON for log records.
func FuzzOTLPLogsJSON(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{},null]}]}]}`,
		`{"resource_logs":[{"scope_logs":[{"log_records":[{"trace_id":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","timeUnixNano":"5000","observed_time_unix_nano":7000,"severityText":"WARN",` +
			`"severityNumber":"SEVERITY_NUMBER_WARN","eventName":"e","body":{"kvlistValue":{"values":[{"key":"k","value":{"boolValue":false}}]}},"body":null,"attributes":[{"key":"event.name","value":{"stringValue":"x"}}]}]}]}]}`,
	} {
		f.Add([]byte(text))
	}
	read := func(body []byte) (all []string, err error) {
		var d LogDecoder
		err = d.Logs(body, func(r *LogRecord) error {
			if err := d.ReadTexts(); err != nil {
				return err
			}
			all = append(all, fmt.Sprintf("%x %d", r.ID(), r.Time))
			return nil
		})
		return all, err
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		body, err := LogsFromJSON(text, goOn)
		require.LessOrEqual(t, len(body), JSONRatio*len(text))
		theirs := plogotlp.NewExportRequest()
		document := jsontext.Value(text)
		if !document.IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) || bytes.Contains(text, []byte(`""`)) || theirs.UnmarshalJSON(text) != nil {
			return
		}
		want, marshalled := theirs.MarshalProto()
		require.NoError(t, marshalled)
		wantRecords, wantErr := read(want)
		if wantErr != nil {
			return // nested too deep
		}
		require.NoError(t, err)
		records, err := read(body)
		require.NoError(t, err)
		require.Equal(t, wantRecords, records)
	})
}

func goOn() error { return nil }

// snakeCase writes the names of fields as protobuf does.
func snakeCase(text []byte) []byte {
	return regexp.MustCompile(`"[a-z]+([A-Z][a-z]+)+":`).ReplaceAllFunc(text, func(name []byte) []byte {
		var out []byte
		for _, c := range name {
			if c >= 'A' && c <= 'Z' {
				out = append(out, '_', c+'a'-'A')
			} else {
				out = append(out, c)
			}
		}
		return out
	})
}

// TestJSONTakesLittleMemory reads the body that grows most.
//
//nolint:paralleltest // it counts the allocations of the whole process
func TestJSONTakesLittleMemory(t *testing.T) {
	body := []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{}` + strings.Repeat(`,{}`, 1<<20) + `]}]}]}`)
	got := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			_, err := TracesFromJSON(body, goOn)
			require.NoError(b, err)
		}
	})
	require.Less(t, got.AllocedBytesPerOp(), int64(4*len(body)))
	require.Less(t, got.AllocsPerOp(), int64(1000), "spans cost no memory of their own")
}

// comparedRow is all of a row that is stored.
type comparedRow struct {
	shownRow

	ID         string
	Parent     ID
	Name       string
	Kind       int8
	Start, End int64
	Status     string
	Links      string
	Resource   string
}

// sameRows decodes a body for a comparison.
func sameRows(t *testing.T, body []byte) (rows []comparedRow, rejects int, err error) {
	t.Helper()
	var bad Rejected
	d := new(Decoder)
	_, _, _ = readable(t, d, body)
	err = d.Traces(body, &bad, func(r *Record) error {
		rows = append(rows, comparedRow{
			shownRow: show(r), ID: r.TraceID.String() + " " + r.ID.String(), Parent: r.ParentID, Name: string(r.Name), Kind: r.Kind,
			Start: r.Start, End: r.End, Status: fmt.Sprint(r.Status, " ", string(r.StatusMessage)), Links: string(r.Links),
			Resource: cmp.Or(string(r.Resource), "{}"), // the library writes one where there is none
		})
		return nil
	})
	return rows, bad.Count, err
}

// readable decodes a body and checks the limits of every row.
func readable(t *testing.T, d *Decoder, body []byte) (names []string, rejects int, err error) {
	t.Helper()
	var bad Rejected
	err = d.Traces(body, &bad, func(r *Record) error {
		name := r.Name
		if k := r.convention.meaning; k != nil && len(k.function) > 0 {
			name = nil // the program may have named the step
		}
		names = append(names, fmt.Sprintf("%s %s %q", r.TraceID, r.ID, name))
		require.LessOrEqual(t, len(names), len(body), "more spans than bytes")
		require.LessOrEqual(t, len(r.Attributes), maxAttributes+4)
		require.LessOrEqual(t, len(r.Tags), MaxTags)
		require.LessOrEqual(t, len(r.SearchText()), payload.MaxSearch+1)
		require.LessOrEqual(t, len(r.InputPreview()), 4*payload.MaxPreview)
		require.LessOrEqual(t, len(r.OutputPreview()), 4*payload.MaxPreview)
		for _, a := range r.Attributes {
			if a.JSON {
				require.True(t, json.Valid(a.Value), "%s: %s", a.Key, a.Value)
			}
		}
		for _, text := range [][]byte{r.Events, r.Links} {
			require.True(t, len(text) == 0 || json.Valid(text), "%s", text)
		}
		return nil
	})
	return names, bad.Count, err
}

func spanNames(traces ptrace.Traces) []string {
	var names []string
	for _, rs := range traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				name := s.Name()
				for key, v := range s.Attributes().All() {
					if key == "ai.telemetry.functionId" && v.Type() == pcommon.ValueTypeStr && len(v.Str()) > 0 && len(v.Str()) <= maxLabel {
						name = ""
					}
				}
				names = append(names, fmt.Sprintf("%s %s %q", TraceID(s.TraceID()), ID(s.SpanID()), name))
			}
		}
	}
	return names
}

// fuzzSeeds are the requests of every convention, a few hostile ones and one
// with several resources.
func fuzzSeeds(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/convention/*.golden.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var all []sentSpan
	var bodies [][]byte
	for _, file := range files {
		text, err := os.ReadFile(strings.Replace(file, ".golden", "", 1))
		require.NoError(t, err)
		var span sentSpan
		require.NoError(t, json.Unmarshal(text, &span))
		all = append(all, span)
		bodies = append(bodies, encode(t, span))
	}
	bodies = append(bodies, encode(t, all...), encode(t, hostileSpan()), append(encode(t, all[0]), encode(t, all[1])...))
	return bodies
}

// hostileSpan names elements that are far apart, too many and too large.
func hostileSpan() sentSpan {
	var b strings.Builder
	b.WriteString(`{"a":{"b":[[[[{"c":[1,null,true]}]]]]}`)
	for _, n := range []string{"4095", "4096", "99999999999999999999", "-1", "", "01", "1."} {
		fmt.Fprintf(&b, `,"llm.input_messages.%s.message.content":"x","gen_ai.prompt.%s.tool_calls.%s.name":"y"`, n, n, n)
	}
	b.WriteString(`}`)
	return sentSpan{Name: "hostile", Attributes: json.RawMessage(b.String())}
}

// TestFlattenedIndices shows that what lies beyond the limits stays an
// attribute, and that a gap costs nothing.
func TestFlattenedIndices(t *testing.T) {
	t.Parallel()
	got := decode(t, encode(t, hostileSpan()))
	require.JSONEq(t, `[
		{"role":"user","tool_calls":[{"type":"function","function":{"name":"y"}}],"content":"x"},
		{"role":"user","tool_calls":[{"type":"function","function":{"name":"y"}}],"content":"x"}]`, string(got.Input.(json.RawMessage)))
	require.Contains(t, got.Attributes, "llm.input_messages.4096.message.content")
	require.Contains(t, got.Attributes, "llm.input_messages.99999999999999999999.message.content")
	require.Contains(t, got.Attributes, "gen_ai.prompt.-1.tool_calls.-1.name")
	require.NotContains(t, got.Attributes, "llm.input_messages.4095.message.content")
}

// TestManyParts shows that a span with more flattened fields than are taken
// is read in time that grows with its size, and keeps the rest.
func TestManyParts(t *testing.T) {
	t.Parallel()
	r := new(Record)
	v := value{kind: valueText, text: []byte("x")}
	stayed := 0
	for i := 3 * maxParts; i > 0; i-- {
		if !r.lift(fmt.Appendf(nil, "llm.input_messages.%d.message.tool_calls.%d.tool_call.id", i%maxIndex, i/maxIndex), &v) {
			stayed++
		}
	}
	require.Equal(t, 2*maxParts, stayed)
	r.finish()
	require.True(t, json.Valid(r.Input))
}

// TestSpanFactsStayWithTheirSpan shows that a span's own release and
// environment do not reach the next span, nor the next resource.
func TestSpanFactsStayWithTheirSpan(t *testing.T) {
	t.Parallel()
	resource := json.RawMessage(`{"service.name":"s","service.version":"1","deployment.environment":"prod"}`)
	plain := sentSpan{Resource: resource, Name: "plain", Attributes: json.RawMessage(`{"http.route":"/"}`)}
	own := sentSpan{Resource: resource, Name: "own", Attributes: json.RawMessage(`{"assay.release_id":"2","langfuse.environment":"test"}`)}
	bare := sentSpan{Name: "bare", Attributes: json.RawMessage(`{"user.id":"u"}`)}
	body := encode(t, plain, own, own, plain, bare)
	body = append(body, encode(t, bare, own, plain)...)

	var got []string
	d := new(Decoder)
	for range 2 {
		require.NoError(t, d.Traces(body, new(Rejected), func(r *Record) error {
			got = append(got, fmt.Sprintf("%s %s/%s", r.Name, r.Environment, r.Release))
			return nil
		}))
	}
	once := []string{"plain prod/1", "own test/2", "own test/2", "plain prod/1", "bare prod/1", "bare /", "own test/2", "plain /"}
	require.Equal(t, append(once, once...), got)
}

// TestConventionsAllocateNothing holds for everything that is kept as it was
// sent.
//
//nolint:paralleltest // it counts the allocations of the whole process
func TestConventionsAllocateNothing(t *testing.T) {
	attributes := [][2]string{
		{"gen_ai.operation.name", "chat"},
		{"gen_ai.request.model", "gpt-4o"},
		{"gen_ai.usage.input_tokens", "12"},
		{"gen_ai.input.messages", `[{"role":"user","content":"a \"b\" c"},{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":\"b\"}"}}]}]`},
		{"langfuse.observation.usage_details", `{"input":1,"output":2}`},
		{"langfuse.observation.completion_start_time", `"2025-10-09T08:53:20.488Z"`},
		{"llm.input_messages.0.message.content", "hello"},
		{"tag.tags", `["a","b"]`},
		{"http.route", "/"},
	}
	r := new(Record)
	var keys, values [][]byte
	for _, a := range attributes {
		keys, values = append(keys, []byte(a[0])), append(values, []byte(a[1]))
	}
	read := func() {
		r.reset()
		for i := range keys {
			v := value{kind: valueText, text: values[i]}
			if err := r.attribute(keys[i], &v); err != nil {
				panic(err)
			}
		}
		r.finish()
		r.InputPreview()
		r.OutputPreview()
		r.SearchText()
	}
	read()
	require.Zero(t, testing.AllocsPerRun(100, read))
}

// TestFaultsReachTheCaller shows that a nested value that cannot be read is
// reported, whichever convention it belongs to.
func TestFaultsReachTheCaller(t *testing.T) {
	t.Parallel()
	broken := []byte{0x0a, 0x7f} // an element that is longer than the list
	for _, key := range []string{"gen_ai.input.messages", "llm.input_messages.0.message.content", "ai.prompt.tools", "tag.tags", "http.route"} {
		r := new(Record)
		err := r.attribute([]byte(key), &value{kind: valueList, text: broken})
		require.ErrorIs(t, err, errProtobuf, key)
	}
}
