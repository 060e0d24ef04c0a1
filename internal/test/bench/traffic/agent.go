package traffic

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// turns is how many calls of a model a conversation has.
const turns = 12

// app is one agent as its makers wrote it: what it is told and what it can do
// are the same in every conversation.
type app struct {
	name         string
	system       []byte // JSON
	tools        []byte // JSON
	toolNames    []string
	model        int
	instructions int
}

func newApp(w *writer) *app {
	a := &app{name: w.stem() + "-agent", model: w.rand.IntN(len(models))}
	text := w.text([]byte("You are a careful assistant of the support team. "), w.between(1_500, 3_500))
	a.instructions = len(text)
	a.system = append(quote([]byte(`[{"type":"text","content":`), text), `}]`...)
	b := []byte{'['}
	for i := range w.between(5, 9) {
		if i > 0 {
			b = append(b, ',')
		}
		name := w.pick("get", "search", "create", "update", "list") + "_" + w.stem()
		a.toolNames = append(a.toolNames, name)
		b = append(b, `{"type":"function","name":"`+name+`","description":`...)
		b = quote(b, w.sentence(w.sentence(nil)))
		b = append(b, `,"parameters":{"type":"object","properties":{`...)
		for j := range w.between(2, 5) {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(b, `"`+w.stem()+strconv.Itoa(j)+`":{"type":"`+w.pick("string", "integer", "number", "boolean")+`","description":`...)
			b = append(quote(b, w.sentence(nil)), '}')
		}
		b = append(b, `},"required":["`+w.stem()+`0"],"additionalProperties":false}}`...)
	}
	a.tools = append(b, ']')
	return a
}

// quote appends a JSON string.
func quote(b, text []byte) []byte {
	b, err := jsontext.AppendQuote(b, text)
	if err != nil {
		panic("traffic: the text is not UTF-8")
	}
	return b
}

// agentTrace is one conversation: a root, calls of a model, each with all that
// was said before it, and calls of tools.
func (s *Source) agentTrace(r *Request, b []byte) []byte {
	w := s.write
	a := s.apps[w.rand.IntN(len(s.apps))]
	trace, at := s.begin(r)
	w.turnTo()
	conversation, user := string(w.uuid()), "user-"+strconv.Itoa(int(w.zipf.Uint64()))

	p := s.next(trace, [8]byte{}, "invoke_agent "+a.name, kindInternal, at, 3*turns*time.Second)
	root := p.id
	p.text("gen_ai.operation.name", "invoke_agent")
	p.text("gen_ai.agent.name", a.name)
	p.text("gen_ai.conversation.id", conversation)
	p.text("user.id", user)
	b = s.end(r, b)

	history := append([]byte{'['}, s.said("user", w.text(nil, w.between(150, 900)))...)
	tokens := a.instructions/4 + 900
	for turn := range turns {
		at = at.Add(3 * time.Second)
		call := w.rand.IntN(100) < 55 && turn < turns-1
		tool, id := a.toolNames[w.rand.IntN(len(a.toolNames))], "call_"+string(w.hex(nil, 24))
		var reply, arguments []byte
		if call {
			arguments = s.arguments()
			reply = append(append([]byte(`{"role":"assistant","parts":[{"type":"tool_call","id":"`+id+`","name":"`+tool+`","arguments":`), arguments...), `}]}`...)
		} else {
			reply = s.said("assistant", w.text(nil, w.between(300, 1_800)))
		}
		b = s.modelCall(r, b, modelCall{
			app: a, trace: trace, root: root, at: at, history: history, reply: reply, tools: call,
			conversation: conversation, user: user, tokens: tokens,
		})
		history = append(append(history, ','), reply...)
		tokens += len(reply) / 4
		var heard []byte
		if call {
			result := s.result()
			b = s.toolCall(r, b, trace, root, at, tool, id, arguments, result)
			heard = append(append([]byte(`{"role":"tool","parts":[{"type":"tool_call_response","id":"`+id+`","response":`), result...), `}]}`...)
		} else {
			heard = s.said("user", w.text(nil, w.between(80, 700)))
		}
		history = append(append(history, ','), heard...)
		tokens += len(heard) / 4
	}
	return b
}

// said is a message of plain text.
func (s *Source) said(role string, text []byte) []byte {
	b := quote([]byte(`{"role":"`+role+`","parts":[{"type":"text","content":`), text)
	return append(b, `}]}`...)
}

type modelCall struct {
	app                *app
	trace              [16]byte
	root               [8]byte
	at                 time.Time
	history, reply     []byte
	tools              bool
	conversation, user string
	tokens             int
}

func (s *Source) modelCall(r *Request, b []byte, c modelCall) []byte {
	w := s.write
	model := models[c.app.model]
	finish := "stop"
	if c.tools {
		finish = "tool_calls"
	}
	output := append(append([]byte{'['}, c.reply[:len(c.reply)-1]...), `,"finish_reason":"`+finish+`"}]`...)
	p := s.next(c.trace, c.root, "chat "+model.name, kindClient, c.at, time.Duration(w.between(400, 2_500))*time.Millisecond)
	p.text("gen_ai.operation.name", "chat")
	p.text("gen_ai.provider.name", model.provider)
	p.text("gen_ai.request.model", model.name)
	p.text("gen_ai.agent.name", c.app.name)
	p.text("gen_ai.conversation.id", c.conversation)
	p.text("user.id", c.user)
	p.number("gen_ai.usage.input_tokens", c.tokens)
	p.number("gen_ai.usage.output_tokens", len(c.reply)/4)
	p.bytes("gen_ai.system_instructions", c.app.system)
	p.bytes("gen_ai.tool.definitions", c.app.tools)
	// The history lies in the request as a whole list.
	input := append(c.history[:len(c.history):len(c.history)], ']')
	p.bytes("gen_ai.input.messages", input)
	p.bytes("gen_ai.output.messages", output)
	r.Models++
	r.Payload += len(c.app.system) + len(c.app.tools) + len(input) + len(output)
	return s.end(r, b)
}

func (s *Source) toolCall(r *Request, b []byte, trace [16]byte, root [8]byte, at time.Time, tool, id string, arguments, result []byte) []byte {
	p := s.next(trace, root, "execute_tool "+tool, kindInternal, at.Add(time.Second), 200*time.Millisecond)
	p.text("gen_ai.operation.name", "execute_tool")
	p.text("gen_ai.tool.name", tool)
	p.text("gen_ai.tool.call.id", id)
	p.bytes("gen_ai.tool.call.arguments", arguments)
	p.bytes("gen_ai.tool.call.result", result)
	r.Payload += len(arguments) + len(result)
	return s.end(r, b)
}

// arguments are those of one call of a tool.
func (s *Source) arguments() []byte {
	w := s.write
	b := append([]byte(`{"`+w.stem()+`_id":"`), w.uuid()...)
	b = append(b, `","`+w.stem()+`":`+strconv.Itoa(w.rand.IntN(10_000))+`,"query":`...)
	return append(quote(b, w.sentence(nil)), '}')
}

// result is what a tool returns: records of a database, each with an id, a few
// of the same words and a remark.
func (s *Source) result() []byte {
	w := s.write
	subject, amount := w.stem(), w.stem()
	b := []byte(`{"status":"ok","kind":"` + subject + `","items":[`)
	for i := range w.between(5, 16) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `{"`+subject+`_id":"`...), w.uuid()...)
		b = append(b, `","state":"`+w.pick("open", "open", "closed", "pending", "refused")+`","region":"`+w.pick("eu-west-1", "eu-central-1", "us-east-1")+`","owner":{"name":"`...)
		b = append(b, w.word()+` `+w.word()+`","tier":"`+w.pick("basic", "gold")+`"},"created_at":"2026-`...)
		b = append(b, time.Unix(int64(w.rand.IntN(1<<24)), 0).UTC().Format("01-02T15:04:05Z")...)
		b = append(b, `","`+amount+`":`+strconv.Itoa(w.rand.IntN(9_000))+`.`+string(w.digits(nil, 2))+`,"currency":"EUR","remark":`...)
		b = append(quote(b, w.sentence(nil)), '}')
	}
	return append(b, `],"next_page":null,"took_ms":`+strconv.Itoa(w.rand.IntN(900))+`}`...)
}
