package span

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

// sentSpan is a span as a library sends it. The members of its attributes
// keep their order.
type sentSpan struct {
	Resource   json.RawMessage `json:"resource"`
	Name       string          `json:"name"`
	Kind       int32           `json:"kind"`
	Attributes json.RawMessage `json:"attributes"`
	Events     []struct {
		AfterMillis int64           `json:"after_ms"`
		Name        string          `json:"name"`
		Attributes  json.RawMessage `json:"attributes"`
	} `json:"events"`
}

// sentAt is when every span of these tests starts.
const sentAt = 1_760_000_000_000_000_000

// encode is a request with these spans, all of the first one's resource.
func encode(t testing.TB, spans ...sentSpan) []byte {
	t.Helper()
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	fillMap(t, rs.Resource().Attributes(), spans[0].Resource)
	ss := rs.ScopeSpans().AppendEmpty()
	for i, s := range spans {
		span := ss.Spans().AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1, byte(i >> 8), byte(i)})
		span.SetSpanID(pcommon.SpanID{2, byte(i >> 8), byte(i)})
		span.SetName(s.Name)
		span.SetKind(ptrace.SpanKind(s.Kind))
		span.SetStartTimestamp(sentAt)
		span.SetEndTimestamp(sentAt + 2_000_000_000)
		fillMap(t, span.Attributes(), s.Attributes)
		for _, e := range s.Events {
			event := span.Events().AppendEmpty()
			event.SetName(e.Name)
			event.SetTimestamp(pcommon.Timestamp(sentAt + e.AfterMillis*1_000_000))
			fillMap(t, event.Attributes(), e.Attributes)
		}
	}
	body, err := ptraceotlp.NewExportRequestFromTraces(traces).MarshalProto()
	require.NoError(t, err)
	return body
}

// inOrder is the same request with its fields in the order of their numbers,
// as libraries write them; the Collector writes them backwards.
func inOrder(t testing.TB, body []byte) []byte {
	t.Helper()
	var request coltracepb.ExportTraceServiceRequest
	require.NoError(t, proto.Unmarshal(body, &request))
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(&request)
	require.NoError(t, err)
	return out
}

func fillMap(t testing.TB, to pcommon.Map, object json.RawMessage) {
	t.Helper()
	if len(object) == 0 {
		return
	}
	d := jsontext.NewDecoder(bytes.NewReader(object))
	_, err := d.ReadToken()
	require.NoError(t, err)
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		require.NoError(t, err)
		name := key.String()
		fillValue(t, to.PutEmpty(name), d)
	}
}

func fillValue(t testing.TB, to pcommon.Value, d *jsontext.Decoder) {
	t.Helper()
	raw, err := d.ReadValue()
	require.NoError(t, err)
	raw = raw.Clone()
	switch raw.Kind() {
	case '"':
		var s string
		require.NoError(t, json.Unmarshal(raw, &s))
		to.SetStr(s)
	case '0':
		if bytes.ContainsAny(raw, ".eE") {
			var f float64
			require.NoError(t, json.Unmarshal(raw, &f))
			to.SetDouble(f)
			return
		}
		var n int64
		require.NoError(t, json.Unmarshal(raw, &n))
		to.SetInt(n)
	case 't', 'f':
		to.SetBool(raw.Kind() == 't')
	case '{':
		fillMap(t, to.SetEmptyMap(), json.RawMessage(raw))
	case '[':
		list := to.SetEmptySlice()
		in := jsontext.NewDecoder(bytes.NewReader(raw))
		_, err := in.ReadToken()
		require.NoError(t, err)
		for in.PeekKind() != ']' {
			fillValue(t, list.AppendEmpty(), in)
		}
	}
}

// shownRow is a row as the golden files show it.
type shownRow struct {
	Primitive     string         `json:"primitive_type,omitempty"`
	Service       string         `json:"service_name,omitempty"`
	Environment   string         `json:"environment,omitempty"`
	Release       string         `json:"release_id,omitempty"`
	Agent         string         `json:"agent_name,omitempty"`
	Model         string         `json:"model,omitempty"`
	Provider      string         `json:"provider,omitempty"`
	Tool          string         `json:"tool_name,omitempty"`
	Conversation  string         `json:"conversation_id,omitempty"`
	User          string         `json:"user_id,omitempty"`
	InputTokens   uint32         `json:"input_tokens,omitempty"`
	OutputTokens  uint32         `json:"output_tokens,omitempty"`
	Cached        uint32         `json:"cached_tokens,omitempty"`
	CacheWrite    uint32         `json:"cache_write_tokens,omitempty"`
	Reasoning     uint32         `json:"reasoning_tokens,omitempty"`
	Cost          *float64       `json:"cost_usd,omitempty"`
	FirstToken    uint32         `json:"first_token_us,omitempty"`
	Tags          []string       `json:"tags,omitempty"`
	Input         any            `json:"input,omitempty"`
	Output        any            `json:"output,omitempty"`
	System        any            `json:"system,omitempty"`
	Tools         any            `json:"tools,omitempty"`
	Events        any            `json:"events,omitempty"`
	InputPreview  string         `json:"input_preview,omitempty"`
	OutputPreview string         `json:"output_preview,omitempty"`
	Search        []string       `json:"search_text,omitempty"`
	Attributes    map[string]any `json:"attributes"`
}

func show(r *Record) shownRow {
	out := shownRow{
		Primitive: r.Primitive, Service: string(r.Service), Environment: string(r.Environment), Release: string(r.Release),
		Agent: string(r.Agent), Model: string(r.Model), Provider: string(r.Provider), Tool: string(r.Tool),
		Conversation: string(r.Conversation), User: string(r.User),
		InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, Cached: r.CachedTokens, CacheWrite: r.CacheWriteTokens,
		Reasoning: r.ReasoningTokens, FirstToken: r.FirstToken,
		Input: shown(r.Input), Output: shown(r.Output), System: shown(r.System), Tools: shown(r.Tools), Events: shown(r.Events),
		InputPreview: string(r.InputPreview()), OutputPreview: string(r.OutputPreview()),
		Attributes: map[string]any{},
	}
	if text := string(r.SearchText()); text != "" {
		out.Search = strings.Split(text, "\n")
	}
	if r.CostSent {
		cost := r.Cost
		out.Cost = &cost
	}
	for _, tag := range r.Tags {
		out.Tags = append(out.Tags, string(tag))
	}
	for _, a := range r.Attributes {
		if a.JSON {
			out.Attributes[string(a.Key)] = json.RawMessage(bytes.Clone(a.Value))
		} else {
			out.Attributes[string(a.Key)] = string(a.Value)
		}
	}
	return out
}

// shown is a payload as JSON if it is a list or an object.
func shown(text []byte) any {
	switch {
	case len(text) == 0:
		return nil
	case (text[0] == '[' || text[0] == '{') && json.Valid(text):
		return json.RawMessage(bytes.Clone(text))
	default:
		return string(text)
	}
}

// decode reads a request that has one span.
func decode(t testing.TB, body []byte) shownRow {
	t.Helper()
	var out []shownRow
	var bad Rejected
	d := new(Decoder)
	require.NoError(t, d.Traces(body, &bad, func(r *Record) error {
		out = append(out, show(r))
		return nil
	}))
	require.Zero(t, bad.Count, bad.Reason)
	require.Len(t, out, 1)
	return out[0]
}

// TestConventions reads what libraries send, written down in
// testdata/convention, and compares all of the row with the golden file.
func TestConventions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/convention/*.json")
	require.NoError(t, err)
	cases := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".golden.json") {
			continue
		}
		cases++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var span sentSpan
			d := json.NewDecoder(bytes.NewReader(text))
			d.DisallowUnknownFields()
			require.NoError(t, d.Decode(&span))
			_, err = d.Token()
			require.ErrorIs(t, err, io.EOF)

			var got bytes.Buffer
			e := json.NewEncoder(&got)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			require.NoError(t, e.Encode(decode(t, encode(t, span))))

			golden := strings.TrimSuffix(file, ".json") + ".golden.json"
			if *update {
				require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o644))
				return
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got.String())
		})
	}
	require.Greater(t, cases, 20)
}

// TestAttributesComeInAnyOrder shows that a row does not depend on the order
// in which its attributes were sent.
func TestAttributesComeInAnyOrder(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/convention/*.golden.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(strings.Replace(file, ".golden", "", 1))
		require.NoError(t, err)
		var span sentSpan
		require.NoError(t, json.Unmarshal(text, &span))
		want := decode(t, encode(t, span))
		require.Equal(t, want, decode(t, inOrder(t, encode(t, span))), file)
		span.Attributes = reversed(t, span.Attributes)
		got := decode(t, encode(t, span))
		require.ElementsMatch(t, want.Tags, got.Tags, file)
		got.Tags = want.Tags
		require.Equal(t, want, got, file)
	}
}

// reversed is an object with its members in the opposite order.
func reversed(t *testing.T, object json.RawMessage) json.RawMessage {
	t.Helper()
	var members []string
	d := jsontext.NewDecoder(bytes.NewReader(object))
	_, err := d.ReadToken()
	require.NoError(t, err)
	for d.PeekKind() == '"' {
		key, err := d.ReadValue()
		require.NoError(t, err)
		name := string(key)
		value, err := d.ReadValue()
		require.NoError(t, err)
		members = append([]string{name + ":" + string(value)}, members...)
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// TestNameOfOperation shows that an operation of the AI SDK has the name that
// the program gave it, and the calls within it keep theirs.
func TestNameOfOperation(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"ai.generateText": "shop", "ai.generateText.doGenerate": "sent", "ai.toolCall": "sent"} {
		var bad Rejected
		body := encode(t, sentSpan{Name: "sent", Attributes: json.RawMessage(`{"ai.operationId":"` + id + `","ai.telemetry.functionId":"shop"}`)})
		require.NoError(t, new(Decoder).Traces(body, &bad, func(r *Record) error {
			require.Equal(t, want, string(r.Name), id)
			return nil
		}))
	}
}

// TestNameOfTool shows that both sides of a request of MCP name the tool, also if
// only the name of the span has it.
func TestNameOfTool(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"tools/call get_weather": "get_weather", "MCP send tools/call get_weather": "get_weather", "weather": "weather"} {
		var bad Rejected
		body := encode(t, sentSpan{Name: name, Attributes: json.RawMessage(`{"mcp.method.name":"tools/call"}`)})
		require.NoError(t, new(Decoder).Traces(body, &bad, func(r *Record) error {
			require.Equal(t, []string{"tool_call", want}, []string{r.Primitive, string(r.Tool)}, name)
			return nil
		}))
	}
}

// TestRemoteParent shows that a span whose sender knows that its parent is in
// another process says so.
func TestRemoteParent(t *testing.T) {
	t.Parallel()
	for flags, want := range map[uint32]bool{0: false, 0x1: false, 0x100: false, 0x200: false, 0x301: true} {
		traces := ptrace.NewTraces()
		s := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		s.SetTraceID(pcommon.TraceID{1})
		s.SetSpanID(pcommon.SpanID{1})
		s.SetParentSpanID(pcommon.SpanID{2})
		s.SetFlags(flags)
		request := ptraceotlp.NewExportRequestFromTraces(traces)
		body, err := request.MarshalProto()
		require.NoError(t, err)
		text, err := request.MarshalJSON()
		require.NoError(t, err)
		fromJSON, err := TracesFromJSON(text, goOn)
		require.NoError(t, err)
		for _, sent := range [][]byte{body, fromJSON} {
			var bad Rejected
			require.NoError(t, new(Decoder).Traces(sent, &bad, func(r *Record) error {
				require.Equal(t, want, len(r.Attributes) == 1 && string(r.Attributes[0].Key) == KeyRemoteParent, "%x", flags)
				return nil
			}))
		}
	}
}
