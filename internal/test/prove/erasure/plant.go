package erasure

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// newCanary is a word that nothing else has.
func newCanary() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	return "canary" + hex.EncodeToString(b)
}

// planter puts a word into everything that an organization can have.
type planter struct {
	*system
	org     rig.Organization
	word    string
	ids     map[string]string
	number  int
	planted int
}

// things are what an organization makes through the interface, each with W in
// every text that it takes. {x} is the id of a thing called x, # a number.
var things = []struct{ name, route, body, id string }{
	{"", "PATCH /api/organizations/current", `{"name":"W","redactionRules":[{"name":"W","pattern":"W-[0-9]+"}]}`, ""},
	{"member", "POST /api/organizations/current/members", `{"email":"W#@example.com","name":"W","role":"member"}`, "id"},
	{"", "PATCH /api/organizations/current/members/{member}", `{"name":"W again","role":"viewer"}`, ""},
	{"", "POST /api/developer/api-keys", `{"name":"W #","scopes":["eval:read"],"mode":"test"}`, ""},
	{"", "POST /api/developer/provider-keys", `{"provider":"openai","name":"W","secret":"sk-W"}`, ""},
	{"view", "POST /api/views", `{"name":"W","list":"traces","filters":{"search":["W"]}}`, "id"},
	{"", "PATCH /api/views/{view}", `{"name":"W again"}`, ""},
	{"dataset", "POST /api/datasets", `{"name":"W #","description":"W","tags":["W"],"metadata":{"note":"W"}}`, "id"},
	{"item", "POST /api/datasets/{dataset}/items", `{"items":[{"input":{"question":"W"},"expectedOutput":"W","metadata":{"note":"W"}}]}`, ""},
	{"", "POST /api/datasets/{dataset}/versions", `{"note":"W"}`, ""},
	{"", "PATCH /api/datasets/{dataset}", `{"description":"W again"}`, ""},
	{"evaluation", "POST /api/evaluations", `{"name":"W","description":"W","datasetId":"{dataset}","metrics":["exact_match"],"target":{"type":"client"},"tags":["W"],"metadata":{"note":"W"}}`, "id"},
	{"", "PATCH /api/evaluations/{evaluation}", `{"description":"W again"}`, ""},
	{"trace", "POST /api/traces", `{"name":"W","conversationId":"W","userId":"W","releaseId":"W","environment":"W","input":"W","output":"W","tags":["W"],"metadata":{"note":"W"}}`, "id"},
	{"", "PATCH /api/traces/{trace}", `{"status":"completed","output":{"text":"W"}}`, ""},
	{"", "POST /api/traces/{trace}/feedback", `{"type":"comment","comment":"W"}`, ""},
	{"", "POST /api/traces/to-dataset", `{"datasetId":"{dataset}","traceIds":["{trace}"]}`, ""},
}

func (s *system) plant(ctx context.Context, org rig.Organization, word string) (*planter, error) {
	p := &planter{system: s, org: org, word: word, number: int(time.Now().UnixMilli() % 1e9), ids: map[string]string{}}
	for _, one := range things {
		p.number++
		pairs := []string{"W", word, "#", strconv.Itoa(p.number)}
		for name, id := range p.ids {
			pairs = append(pairs, "{"+name+"}", id)
		}
		fill := strings.NewReplacer(pairs...)
		method, path, _ := strings.Cut(one.route, " ")
		answer, err := p.send(ctx, method, fill.Replace(path), jsontext.Value(fill.Replace(one.body)), one.name != "trace" && !strings.HasPrefix(path, "/api/traces/{trace}"))
		if err != nil {
			return p, err
		}
		if one.id != "" {
			p.ids[one.name] = idOf(answer, one.id)
		}
	}
	return p, p.telemetry(ctx)
}

// idOf is the id in a response.
func idOf(answer any, name string) string {
	fields, _ := answer.(map[string]any)
	if n, ok := fields[name].(float64); ok {
		return strconv.FormatInt(int64(n), 10)
	}
	return fmt.Sprint(fields[name])
}

// send sends a body and counts the words in it.
func (p *planter) send(ctx context.Context, method, path string, body jsontext.Value, once bool) (answer any, err error) {
	p.number++
	key := ""
	if once {
		key = p.word + " " + strconv.Itoa(p.number)
	}
	for limit := time.Now().Add(rig.Patience); ; {
		err := p.Insist(ctx, p.org, method, path, key, body, &answer)
		if err == nil {
			break
		}
		// A trace that was deferred cannot be found yet.
		if !strings.Contains(err.Error(), "trace_not_found") || time.Now().After(limit) {
			return nil, fmt.Errorf("%w\n%s", err, body)
		}
		if err := rig.Sleep(ctx, time.Second); err != nil {
			return nil, err
		}
	}
	p.planted += strings.Count(string(body), p.word)
	return answer, nil
}

// trace and log are telemetry with W in every place that takes a text.
const (
	traceBody = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"W"}},{"key":"W.key","value":{"stringValue":"W"}}]},
		"scopeSpans":[{"scope":{"name":"W","version":"W"},"spans":[{"traceId":"T","spanId":"S","name":"W","startTimeUnixNano":"N","endTimeUnixNano":"N","kind":3,"traceState":"w=W",
		"status":{"code":2,"message":"W"},"attributes":[
		{"key":"gen_ai.request.model","value":{"stringValue":"W"}},{"key":"gen_ai.system","value":{"stringValue":"W"}},{"key":"gen_ai.prompt","value":{"stringValue":"Say W"}},{"key":"gen_ai.completion","value":{"stringValue":"It is W"}},
		{"key":"gen_ai.agent.name","value":{"stringValue":"W"}},{"key":"gen_ai.tool.name","value":{"stringValue":"W"}},{"key":"gen_ai.conversation.id","value":{"stringValue":"W"}},{"key":"user.id","value":{"stringValue":"W"}},
		{"key":"tags","value":{"arrayValue":{"values":[{"stringValue":"W"}]}}},{"key":"deployment.environment","value":{"stringValue":"W"}},{"key":"W.attribute","value":{"kvlistValue":{"values":[{"key":"W","value":{"stringValue":"W"}}]}}}],
		"events":[{"name":"W","timeUnixNano":"N","attributes":[{"key":"W","value":{"stringValue":"W"}}]}],
		"links":[{"traceId":"T","spanId":"S","attributes":[{"key":"W","value":{"stringValue":"W"}}]}]}]}]}]}`
	logBody = `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"W"}}]},"scopeLogs":[{"logRecords":[{"traceId":"T","spanId":"S","timeUnixNano":"N","severityText":"W",
		"eventName":"W","body":{"stringValue":"W said"},"attributes":[{"key":"W","value":{"stringValue":"W"}}]}]}]}]}`
)

// telemetry sends a trace and a log record of it.
func (p *planter) telemetry(ctx context.Context) error {
	for _, at := range []struct{ path, body string }{{"/v1/traces", traceBody}, {"/v1/logs", logBody}} {
		if err := p.otlp(ctx, at.path, at.body); err != nil {
			return err
		}
	}
	return nil
}

func (p *planter) otlp(ctx context.Context, path, body string) error {
	id := make([]byte, 24)
	_, _ = rand.Read(id)
	text := strings.NewReplacer("W", p.word, `"T"`, `"`+hex.EncodeToString(id[:16])+`"`, `"S"`, `"`+hex.EncodeToString(id[16:])+`"`,
		`"N"`, `"`+strconv.FormatInt(time.Now().UnixNano(), 10)+`"`).Replace(body)
	_, err := p.send(ctx, http.MethodPost, path, jsontext.Value(text), false)
	return err
}

// work starts a run that takes longer than the erasure.
func (p *planter) work(ctx context.Context) error {
	items := make([]any, 500)
	for i := range items {
		items[i] = map[string]any{"input": fmt.Sprintf("%s asks %d", p.word, i), "expectedOutput": p.word, "metadata": map[string]any{"note": p.word}}
	}
	text := func(v any) jsontext.Value {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return b
	}
	made, err := p.send(ctx, http.MethodPost, "/api/datasets", text(map[string]any{"name": p.word + " of the run"}), true)
	if err != nil {
		return err
	}
	dataset := idOf(made, "id")
	if _, err := p.send(ctx, http.MethodPost, "/api/datasets/"+dataset+"/items", text(map[string]any{"items": items}), true); err != nil {
		return err
	}
	made, err = p.send(ctx, http.MethodPost, "/api/evaluations", text(map[string]any{
		"name": p.word, "description": p.word, "datasetId": dataset, "metrics": []string{"exact_match"}, "target": map[string]any{"type": "http", "url": p.address},
	}), true)
	if err != nil {
		return err
	}
	before := p.answered.Load()
	if _, err := p.send(ctx, http.MethodPost, "/api/evaluations/"+idOf(made, "id")+"/runs", text(map[string]any{"concurrency": 2, "metadata": map[string]any{"note": p.word}}), true); err != nil {
		return err
	}
	return p.await(ctx, "a run is under way", func() (bool, error) { return p.answered.Load() >= before+5, nil })
}
