package normal

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Format names what the data of an event is.
type Format string

// The formats.
const (
	FormatSpan          Format = "otel.span"
	FormatLog           Format = "otel.log"
	FormatOpenInference Format = "openinference.span"
	FormatMCP           Format = "mcp.message"
	FormatA2A           Format = "a2a.event"
	FormatOPA           Format = "opa.decision"
	FormatNative        Format = "native"
)

// Formats are all formats.
var Formats = []Format{FormatSpan, FormatLog, FormatOpenInference, FormatMCP, FormatA2A, FormatOPA, FormatNative}

// versions are the mappings by format.
var versions = map[Format]string{
	FormatSpan: "otel/1", FormatLog: "otel/1", FormatOpenInference: "openinference/1",
	FormatMCP: "mcp/2", FormatA2A: "a2a/1", FormatOPA: "opa/1", FormatNative: "native/1",
}

// Report is what an event says about one record, checked against its kind. Other reports
// of the same record complete one that is partial.
type Report struct {
	kind.Draft
	// Adds says that the report can only add to a record that another report made. If
	// there is none, the event does not speak of this kind of thing, and the report is to
	// be dropped.
	Adds bool
}

// MaxReports is how many records one event can speak of. It bounds what a request can
// ask to be stored: an envelope has a thousand events, and a span of a few bytes makes a
// record.
const MaxReports = 1_000

// Result is what an event says.
type Result struct {
	// Format is empty if nothing tells it.
	Format Format
	// Version is that of the mapping, such as mcp/1.
	Version string
	// Reports are empty if the event is not understood, and at most MaxReports.
	Reports  []Report
	Warnings []string
	// Left are those of the warnings that say what of the event is in no record.
	Left []string
}

// Normalize reads an event of a runtime. The fields say what is wrong with an event
// that its format refuses; their paths begin at the event. An event that is well
// formed but not understood gives no reports and no fields.
func Normalize(e Event, runtimeKey string) (Result, []fault.Field) {
	if e.Format != "" && !slices.Contains(Formats, e.Format) {
		return Result{}, []fault.Field{invalid("/format", "enum", "must be one of "+formatNames())}
	}
	if !e.Checked && !e.Data.IsValid() {
		return Result{}, []fault.Field{invalid("/data", "format", "cannot be read as JSON: a name may occur once, and text must be UTF-8")}
	}
	if e.Format == "" {
		e.Format = infer(e)
	}
	n := &normalizer{event: e, runtime: runtimeKey, result: Result{Format: e.Format, Version: versions[e.Format]}}
	n.trace, n.span = Traceparent(e.Traceparent)
	n.read()
	if len(n.fields) > 0 {
		n.result.Reports = nil
	}
	return n.result, n.fields
}

// normalizer reads one event.
type normalizer struct {
	event   Event
	runtime string
	// trace and span are what the event's traceparent names, if it has one.
	trace, span string
	result      Result
	fields      []fault.Field
	exchange    exchange
	// full says that the event speaks of more records than MaxReports.
	full bool
}

func (n *normalizer) read() {
	switch n.event.Format {
	case FormatSpan, FormatOpenInference:
		n.readSpans()
	case FormatLog:
		n.readLogs()
	case FormatMCP:
		n.each(n.readMCP)
	case FormatA2A:
		n.each(n.readA2A)
	case FormatOPA:
		n.each(n.readDecision)
	case FormatNative:
		n.readNative()
	}
}

// each calls read for the object that the data is, or for each object of a list: older
// revisions of MCP send batches, and OPA sends its log in pieces.
func (n *normalizer) each(read func(kind.Values)) {
	switch n.event.Data.Kind() {
	case '{':
		read(object(n.event.Data))
	case '[':
		n.eachOf(kind.Elements(n.event.Data), read)
	default:
		n.refuse("/data", "type", "must be an object")
	}
}

// eachOf calls read for each object of a list. What is refused is left out, unless nothing
// else is left.
func (n *normalizer) eachOf(all []jsontext.Value, read func(kind.Values)) {
	refused := map[string]int{}
	var reasons []fault.Field
	for _, one := range all {
		if one.Kind() != '{' {
			n.refuse("/data", "type", "must be a list of objects")
			return
		}
		had := len(n.result.Reports)
		if read(object(one)); n.full {
			return
		}
		if len(n.fields) == 0 {
			continue
		}
		why := n.fields[0]
		if refused[why.Path+why.Message]++; refused[why.Path+why.Message] == 1 {
			reasons = append(reasons, why)
		}
		n.fields, n.result.Reports = nil, n.result.Reports[:had]
	}
	if len(n.result.Reports) == 0 {
		n.fields = reasons
		return
	}
	for _, why := range reasons {
		n.leaveOut(strconv.Itoa(refused[why.Path+why.Message]) + " of the list are left out: " + strings.TrimPrefix(why.Path, "/data/") + " " + why.Message)
	}
}

func (n *normalizer) refuse(path, code, message string) {
	n.fields = append(n.fields, invalid(path, code, message))
}

// errFull ends the reading of an event that speaks of too many records.
var errFull = errors.New("the event speaks of too many records")

// add takes a report, unless there are too many: the event is then refused, and needs
// not be read further.
func (n *normalizer) add(r Report) {
	if n.full {
		return
	}
	if n.full = len(n.result.Reports) == MaxReports; n.full {
		f := invalid("/data", "length", "must speak of at most "+strconv.Itoa(MaxReports)+" records: send fewer per event")
		f.Limit = MaxReports
		n.fields = append(n.fields, f)
		return
	}
	n.result.Reports = append(n.result.Reports, r)
}

// unlessFull is the error that ends the reading of an event, if it must end.
func (n *normalizer) unlessFull() error {
	if n.full {
		return errFull
	}
	return nil
}

// warn notes something once.
func (n *normalizer) warn(text string) {
	if !slices.Contains(n.result.Warnings, text) {
		n.result.Warnings = append(n.result.Warnings, text)
	}
}

// leaveOut notes once that a part of the event is in no record.
func (n *normalizer) leaveOut(text string) {
	if !slices.Contains(n.result.Left, text) {
		n.result.Left = append(n.result.Left, text)
	}
	n.warn(text)
}

// timed reports whether the event has a time, without which some records cannot be.
func (n *normalizer) timed() bool {
	if storable(n.event.Time) {
		return true
	}
	n.refuse("/time", "required", "is required, and must not be before 2000")
	return false
}

func invalid(path, code, message string) fault.Field {
	return fault.Field{In: "body", Path: path, Code: code, Message: message}
}

func formatNames() string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// object is the members of an object; nil if the value is something else. The data of an
// event was checked as a whole: neither it nor a part of it is checked again.
func object(v jsontext.Value) kind.Values { return kind.Values{"": v}.Within("") }

// either is the first of several spellings that is there.
func either(v kind.Values, names ...string) jsontext.Value {
	for _, name := range names {
		if got, ok := v[name]; ok && got.Kind() != 'n' {
			return got
		}
	}
	return nil
}

// words is a text; empty if the value is something else.
func words(v jsontext.Value) string { return kind.Values{"": v}.Text("") }

// Traceparent reads the ids of W3C's header; both are empty if it is not one.
func Traceparent(text string) (trace, id string) {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || strings.EqualFold(parts[0], "ff") {
		return "", ""
	}
	t, ok := span.ParseTraceID(parts[1])
	s, also := span.ParseID(parts[2])
	if !ok || !also {
		return "", ""
	}
	return t.String(), s.String()
}
