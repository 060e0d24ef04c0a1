package evidence_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// batch is how many events an envelope carries: the most that it may.
const batch = 1000

// source makes events of an agent that calls tools, each about 1 KB of JSON. No two are
// the same, and five in a row belong to one trace.
type source struct {
	random *rand.Rand
	zipf   *rand.Zipf
	made   int
	trace  string
	// bytes is how much JSON the events had so far.
	bytes int
}

func newSource(seed uint64) *source {
	r := rand.New(rand.NewPCG(seed, 1))
	return &source{random: r, zipf: rand.NewZipf(r, 1.05, 2.7, uint64(len(words)-1))}
}

// words are in about the order of how often they are written.
var words = strings.Fields(`the order of to and customer a in refund is it parcel that for was on payment with as delivery be at one
	account this from invoice by but day address label out other were all status there when return your how warehouse each which
	amount carrier time if will card about bank many then them would item so like policy more number no could agent receipt than
	first been call ticket its now find long down week did get damaged come made may part over new exchange take only voucher work
	know place balance live back give most very after thing our just name good approved sentence think say great where help through
	pending much before line right too mean old any same tell follow came want show also around form three small set discount put
	end does another well large must big even such because turn here why ask went shipped read need different confirmed home move
	try kind again change off replacement`)

// text is some words.
func (s *source) text(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = words[s.zipf.Uint64()]
	}
	return strings.Join(out, " ") + "."
}

func (s *source) hex(bytes int) string {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(s.random.Uint32())
	}
	return hex.EncodeToString(b)
}

// tools are what the agent calls, and what each does to the world.
var tools = []struct{ name, connector, class string }{
	{"get_order", "orders", "read"},
	{"search_policies", "knowledge", "read"},
	{"get_customer", "crm", "read"},
	{"list_invoices", "billing", "read"},
	{"refund_order", "billing", "transact"},
	{"send_message", "mail", "communicate"},
	{"update_ticket", "crm", "update"},
	{"create_label", "shipping", "create"},
}

// problems are the ways in which calls fail.
var problems = []struct{ kind, message string }{
	{"TimeoutError", "the request timed out after 30 s"},
	{"ValidationError", "missing required property order_id"},
	{"RateLimitError", "too many requests"},
	{"UpstreamError", "the service answered 502"},
	{"PermissionError", "the token lacks a scope"},
}

// event is one call of a tool; failing out of a hundred fail.
func (s *source) event(failing int) (jsontext.Value, error) {
	if s.made%5 == 0 {
		s.trace = s.hex(16)
	}
	s.made++
	tool := tools[s.random.IntN(len(tools))]
	took := 20 + s.random.IntN(900)
	ended := time.Now().UTC().Truncate(time.Millisecond)
	started := ended.Add(-time.Duration(took) * time.Millisecond)
	id := s.hex(12)
	data := map[string]any{
		"invocationId": "call_" + id, "toolName": tool.name, "toolType": "mcp", "connectorKey": tool.connector, "sideEffectClass": tool.class,
		"protocol": map[string]string{"name": "mcp", "version": "2025-11-25", "method": "tools/call"}, "attempt": 1,
		"startedAt": started, "endedAt": ended, "latencyMs": took, "conversationId": "conversation-" + s.trace[:12], "spanId": s.hex(8),
		"arguments": map[string]any{
			"order_id": "O-" + strconv.Itoa(s.random.IntN(1_000_000)), "customer_id": s.random.IntN(100_000), "reason": s.text(8),
			"amount": map[string]any{"value": fmt.Sprintf("%d.%02d", s.random.IntN(400), s.random.IntN(100)), "currency": "EUR"},
		},
		"annotations": map[string]bool{"read_only": tool.class == "read", "open_world": true},
		"status":      "succeeded", "isError": false,
		"result": map[string]any{"content": []map[string]string{{"type": "text", "text": s.text(20 + s.random.IntN(30))}}},
	}
	if s.random.IntN(100) < failing {
		p := problems[s.random.IntN(len(problems))]
		data["status"], data["isError"] = "failed", true
		data["error"] = map[string]string{"type": p.kind, "message": p.message}
	}
	return json.Marshal(map[string]any{
		"id": "event-" + id, "source": "https://agents.example/refunds", "type": "agent-evidence.tool-invocation-evidence", "time": ended,
		"traceparent": "00-" + s.trace + "-" + s.hex(8) + "-01", "data": data,
	}, json.Deterministic(true))
}

// envelope is the text of a request that sends a batch.
func (s *source) envelope(key string, failing int) ([]byte, error) {
	events := make([]jsontext.Value, batch)
	for i := range events {
		var err error
		if events[i], err = s.event(failing); err != nil {
			return nil, err
		}
		s.bytes += len(events[i])
	}
	body, err := json.Marshal(map[string]any{
		"specVersion": "1.0", "producer": map[string]string{"runtimeKey": "refund-agent", "name": "Refunds", "version": "4.2.0", "environment": "production"}, "events": events,
	}, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	head := "POST /api/agent-evidence/ingest HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + key + "\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
	return append([]byte(head), body...), nil
}
