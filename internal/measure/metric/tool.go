package metric

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/schema"
)

// maxCalls bounds the calls of one side.
const maxCalls = 1000

// ToolCallsIn returns the tool calls that a JSON value holds, in their order,
// and whether it is a value that holds calls at all. It reads
//
//   - an object with a list under tool_calls;
//   - a list of calls;
//   - a chat message, and a list of chat messages: the calls of all of them, in
//     tool_calls or among the parts of the content.
//
// A call is an object with its name under name, tool_name or function.name and
// its arguments under arguments, args, input, parameters or function.arguments.
// Arguments that are JSON inside a string are what is in the string. A text under
// error says that the call failed.
func ToolCallsIn(v jsontext.Value) (calls []ToolCall, ok bool) {
	w := work{schema.NewWork()}
	doc, err := w.Decode(v)
	if err != nil {
		return nil, false
	}
	found, ok := w.callsIn(doc)
	if !ok || len(found) > maxCalls {
		return nil, false
	}
	calls = make([]ToolCall, len(found))
	for i, c := range found {
		calls[i] = ToolCall{Name: c.name, Error: c.failed}
		if c.given {
			calls[i].Arguments = appendPlain(nil, c.arguments)
		}
	}
	return calls, true
}

// call is a tool call that was read. An expected one may give no arguments, in
// which case it does not say which they should be.
type call struct {
	name      string
	arguments any
	given     bool
	failed    string            // what the tool answered when it did
	args      map[string]string // the arguments as byName has them
}

func (w *work) callsIn(v any) ([]call, bool) {
	switch v := v.(type) {
	case map[string]any:
		return w.callsOf(v)
	case []any:
		if !isConversation(v) {
			return w.callList(v, false)
		}
		out := []call{}
		for _, m := range v {
			calls, _ := w.callsOf(m.(map[string]any))
			out = append(out, calls...)
		}
		return out, true
	}
	return nil, false
}

// callsOf reads an object with calls, or a chat message.
func (w *work) callsOf(v map[string]any) ([]call, bool) {
	for _, name := range [...]string{"tool_calls", "toolCalls"} {
		if list, ok := v[name].([]any); ok {
			return w.callList(list, true)
		}
	}
	content, ok := v["content"].([]any)
	if !ok {
		if content, ok = v["parts"].([]any); !ok {
			return nil, false
		}
	}
	out := []call{}
	for _, e := range content {
		part, _ := e.(map[string]any)
		if kind, _ := part["type"].(string); kind == "tool_use" || kind == "tool_call" || kind == "function_call" {
			if c, ok := w.readCall(part); ok {
				out = append(out, c)
			}
		}
	}
	return out, len(out) > 0
}

// callList reads a list of calls; an empty one has to say that it is one.
func (w *work) callList(list []any, sure bool) ([]call, bool) {
	out := make([]call, 0, min(len(list), maxCalls+1))
	for _, e := range list {
		c, ok := w.readCall(e)
		if !ok {
			return nil, false
		}
		out = append(out, c)
	}
	return out, sure || len(out) > 0
}

func (w *work) readCall(v any) (call, bool) {
	object, ok := v.(map[string]any)
	if !ok {
		return call{}, false
	}
	var c call
	c.failed, _ = object["error"].(string)
	if inner, ok := object["function"].(map[string]any); ok {
		object = inner
	}
	for _, name := range [...]string{"name", "tool_name", "toolName"} {
		if c.name == "" {
			c.name, _ = object[name].(string)
		}
	}
	for _, name := range [...]string{"arguments", "args", "input", "parameters"} {
		if a, ok := object[name]; ok && !c.given {
			c.arguments, c.given = w.unpacked(a), true
			c.args = byName(c.arguments)
		}
	}
	return c, c.name != ""
}

// unpacked returns arguments that are JSON inside a string.
func (w *work) unpacked(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if inner, err := w.Decode([]byte(text)); err == nil {
		return inner
	}
	return v
}

// made returns the calls of the case.
func (l *look) made() (calls []call, instead Score, ok bool) {
	switch {
	case l.ToolCalls == nil:
		return nil, noToolCalls(), false
	case len(l.ToolCalls) > maxCalls:
		return nil, tooManyCalls("output"), false
	case l.calls != nil:
		return l.calls, Score{}, true
	}
	calls = make([]call, len(l.ToolCalls))
	for i, c := range l.ToolCalls {
		calls[i] = call{name: c.Name, given: true}
		if len(c.Arguments) == 0 {
			continue
		}
		v, err := l.Decode(c.Arguments)
		if err != nil {
			return nil, unread("list of arguments of a tool call", err), false
		}
		calls[i].arguments = l.unpacked(v)
		calls[i].args = byName(calls[i].arguments)
	}
	l.calls = calls
	return calls, Score{}, true
}

func noToolCalls() Score {
	return Missing(ReasonNoToolCalls, "Nobody recorded which tools were called.")
}

func tooManyCalls(part string) Score {
	return Missing(ReasonTooLarge, fmt.Sprintf("The %s has more than %d tool calls.", part, maxCalls))
}

// callsParameter says which calls are expected.
var callsParameter = Parameter{
	Name: "calls", Type: List, Empty: true, MaxItems: maxCalls, MaxLength: 1 << 20,
	Summary: "The expected calls, in order: names, or objects with `name` and `arguments`. Without them they are the `tool_calls` of the expected output.",
}

// wanted are the expected calls of a configuration, read once.
type wanted struct {
	calls []call
	given bool
}

func readWanted(s settings) (wanted, []Problem) {
	if !s.has("calls") {
		return wanted{}, nil
	}
	list, _ := s.document("calls").value.([]any)
	w := work{schema.NewWork()}
	out := wanted{calls: make([]call, len(list)), given: true}
	for i, e := range list {
		if name, ok := e.(string); ok && name != "" {
			out.calls[i] = call{name: name}
			continue
		}
		c, ok := w.readCall(e)
		if !ok {
			return wanted{}, []Problem{{"calls", "type", "must be a list of tool names and of objects with name and arguments"}}
		}
		out.calls[i] = c
	}
	return out, nil
}

func (l *look) wanted(given wanted) (calls []call, instead Score, ok bool) {
	if given.given {
		return given.calls, Score{}, true
	}
	none := Missing(ReasonNoExpectation, "Neither the parameters nor the item say which tool calls are expected.")
	expected, err := l.readExpected()
	switch {
	case errors.Is(err, errAbsent):
		return nil, none, false
	case err != nil:
		return nil, unread("expected output", err), false
	}
	calls, ok = l.callsIn(expected)
	switch {
	case !ok:
		return nil, none, false
	case len(calls) > maxCalls:
		return nil, tooManyCalls("expected output"), false
	}
	return calls, Score{}, true
}

// bothCalls returns the expected and the made calls.
func (l *look) bothCalls(given wanted) (want, made []call, instead Score, ok bool) {
	if want, instead, ok = l.wanted(given); !ok {
		return nil, nil, instead, false
	}
	made, instead, ok = l.made()
	return want, made, instead, ok
}

func toolSelection() spec {
	return spec{
		Definition: share(Definition{
			Name:       "tool_selection",
			Summary:    "How well the tools that were called are the expected ones, whatever their order and arguments (F1).",
			Needs:      []Need{NeedToolCalls, NeedExpectedOutput},
			Abstains:   "Nobody recorded tool calls, or nothing says which are expected.",
			Parameters: []Parameter{callsParameter},
		}),
		build: func(_ *Registry, s settings) (scorer, []Problem) {
			given, problems := readWanted(s)
			return func(l *look) Score { return scoreSelection(l, given) }, problems
		},
	}
}

func scoreSelection(l *look, given wanted) Score {
	want, made, instead, ok := l.bothCalls(given)
	if !ok {
		return instead
	}
	if len(want) == 0 && len(made) == 0 {
		return Scored(1, "No tool was expected and none was called.")
	}
	left := map[string]int{}
	for _, c := range want {
		left[c.name]++
	}
	hits := 0
	for _, c := range made {
		if left[c.name] > 0 {
			left[c.name]--
			hits++
		}
	}
	return Scored(2*float64(hits)/float64(len(want)+len(made)),
		fmt.Sprintf("Precision %s: %d of the %d calls were expected. Recall %s: %d of the %d expected calls were made.",
			ratio(hits, len(made)), hits, len(made), ratio(hits, len(want)), hits, len(want)))
}

func ratio(part, whole int) string {
	if whole == 0 {
		return "undefined"
	}
	return fmt.Sprintf("%.2f", float64(part)/float64(whole))
}

// byName returns arguments by name, each as its key. Arguments that are no
// object are one argument without a name.
func byName(arguments any) map[string]string {
	switch v := arguments.(type) {
	case nil:
		return nil
	case map[string]any:
		out := make(map[string]string, len(v))
		for name, a := range v {
			out[name] = key(a)
		}
		return out
	default:
		return map[string]string{"": key(v)}
	}
}
