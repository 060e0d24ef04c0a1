package traffic

import (
	"strconv"
	"time"
)

var models = [...]struct{ provider, name string }{
	{"openai", "gpt-4o"},
	{"openai", "gpt-4o-mini"},
	{"anthropic", "claude-sonnet-4-5"},
	{"google", "gemini-2.5-flash"},
}

// narrowTrace is one request to a service: its own span, steps, two calls of a
// model, a search and calls of other services.
func (s *Source) narrowTrace(r *Request, b []byte) []byte {
	w := s.write
	trace, at := s.begin(r)
	user := "user-" + strconv.Itoa(int(w.zipf.Uint64()))
	session := string(w.uuid())
	route := w.pick("/v1/chat", "/v1/answers", "/v1/search", "/v1/summaries", "/v1/orders/{id}")
	var root [8]byte
	for i := range 10 {
		took := time.Duration(w.between(300, 900_000)) * time.Microsecond
		start := at.Add(time.Duration(i) * 7 * time.Millisecond)
		switch i {
		case 0:
			p := s.next(trace, root, "POST "+route, kindServer, start, time.Second+took)
			root = p.id
			s.http(p, "POST", route, user, session)
		case 2, 6:
			model := models[w.rand.IntN(len(models))]
			p := s.next(trace, root, "chat "+model.name, kindClient, start, took)
			p.text("gen_ai.operation.name", "chat")
			p.text("gen_ai.provider.name", model.provider)
			p.text("gen_ai.request.model", model.name)
			p.text("gen_ai.response.id", "resp_"+string(w.hex(nil, 16)))
			p.text("gen_ai.conversation.id", session)
			p.text("user.id", user)
			p.number("gen_ai.usage.input_tokens", w.between(200, 9_000))
			p.number("gen_ai.usage.output_tokens", w.between(20, 900))
			p.real("gen_ai.request.temperature", float64(w.rand.IntN(10))/10)
			p.text("server.address", "api."+model.provider+".com")
			p.failed = w.rand.IntN(50) == 0
		case 4:
			p := s.next(trace, root, "execute_tool "+w.pick("search_orders", "get_customer", "create_ticket"), kindInternal, start, took)
			p.text("gen_ai.operation.name", "execute_tool")
			p.text("gen_ai.tool.name", w.pick("search_orders", "get_customer", "create_ticket"))
			p.text("gen_ai.tool.call.id", "call_"+string(w.hex(nil, 12)))
			p.text("gen_ai.tool.type", "function")
			p.text("gen_ai.conversation.id", session)
			p.text("user.id", user)
			p.text("code.function.name", w.stem()+"_"+w.stem())
			p.text("thread.name", "worker-"+strconv.Itoa(w.rand.IntN(16)))
			p.number("tool.rows", w.rand.IntN(200))
			p.text("feature.flag", w.pick("on", "off"))
		case 5, 8:
			p := s.next(trace, root, w.pick("SELECT orders", "SELECT customers", "UPDATE tickets"), kindClient, start, took/20)
			p.text("db.system.name", "postgresql")
			p.text("db.namespace", "shop")
			p.text("db.operation.name", "SELECT")
			p.text("db.collection.name", w.pick("orders", "customers", "tickets"))
			p.text("db.query.summary", "SELECT "+w.stem())
			p.text("server.address", "db-"+strconv.Itoa(w.rand.IntN(4))+".internal")
			p.number("server.port", 5432)
			p.number("db.response.returned_rows", w.rand.IntN(500))
			p.text("thread.name", "worker-"+strconv.Itoa(w.rand.IntN(16)))
			p.text("user.id", user)
		default:
			name := w.stem()
			p := s.next(trace, root, "GET /internal/"+name[:3], kindClient, start, took/3)
			s.http(p, "GET", "/internal/"+name, user, session)
		}
		b = s.end(r, b)
	}
	return b
}

// http adds what a call over HTTP has.
func (s *Source) http(p *span, method, route, user, session string) {
	w := s.write
	p.text("http.request.method", method)
	p.text("http.route", route)
	p.text("url.scheme", "https")
	p.text("server.address", "svc-"+strconv.Itoa(w.rand.IntN(40))+".internal")
	p.number("server.port", 8443)
	p.number("http.response.status_code", 200)
	p.text("network.protocol.version", "1.1")
	p.text("user_agent.original", "python-httpx/0.28."+strconv.Itoa(w.rand.IntN(4)))
	p.text("user.id", user)
	p.text("session.id", session)
	p.failed = w.rand.IntN(100) == 0
}
