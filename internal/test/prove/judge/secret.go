package judge

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// newSecret is a provider key that nothing else has. Some of its characters are
// written otherwise in a URL.
func newSecret() string {
	b := make([]byte, 18)
	_, _ = rand.Read(b)
	return "sk-planted+" + hex.EncodeToString(b) + "/=="
}

// forms are a secret as it may be written, and a piece of it that gives it away.
func forms(secret string) []string {
	all := []string{
		secret, secret[11 : 11+24], url.QueryEscape(secret), url.PathEscape(secret),
		hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		// What is around a secret decides about the first and last characters.
		for before := range 3 {
			encoded := encoding.EncodeToString(append(make([]byte, before), secret...))
			all = append(all, encoded[(before*8+5)/6:(before+len(secret))*8/6])
		}
	}
	return all
}

// echoes are cases whose provider repeats the key that it was sent, by the mark that
// makes it do so.
var echoes = []string{"[[score:1]]", "[[score:1]] echo-200", "echo-400", "echo-500", "[[answer:malformed]] echo-200"}

// plant uses a key that nothing else has, has the provider repeat it, and looks for it
// in everything that was written and answered. The same search must find words that
// are there.
func (s *system) plant(ctx context.Context, name string) (rig.Finds, error) {
	org, err := s.Bootstrap(ctx, "Planted "+name)
	if err != nil {
		return nil, err
	}
	secret := newSecret()
	p := &planted{system: s, org: org, number: uint64(time.Now().UnixMilli())}
	if err := p.use(ctx, secret); err != nil {
		return nil, err
	}
	// Spans are sent some seconds after they end.
	seen := rig.Finds{}
	for limit := time.Now().Add(rig.Patience); seen["logs spans.otlp"] == 0; {
		if err := rig.Sleep(ctx, time.Second); err != nil {
			return nil, err
		}
		if time.Now().After(limit) {
			return nil, fmt.Errorf("no span of the organization was sent")
		}
		clear(seen)
		if err := s.SearchFiles([]string{org.ID, "evaluateWithJudge"}, seen); err != nil {
			return nil, err
		}
	}
	if err := s.SearchPostgres(ctx, []string{org.ID}, seen); err != nil {
		return nil, err
	}
	for _, place := range []string{"postgres dump of temporal", "logs spans.otlp", "logs serve.log", "logs worker.log", "logs responses"} {
		if seen[place] == 0 {
			return nil, fmt.Errorf("the search finds nothing of the organization in %s: it would find no key there", strings.TrimPrefix(place, "logs "))
		}
	}
	clear(seen)
	if err := s.SearchFiles([]string{p.unit("").name}, seen); err != nil {
		return nil, err
	}
	for _, store := range []string{"clickhouse", "postgres", "logs"} {
		if seen.In(store) == 0 {
			return nil, fmt.Errorf("the search finds no case in %s: it would find no key there", store)
		}
	}
	found, words := rig.Finds{}, forms(secret)
	if err := s.SearchFiles(words, found); err != nil {
		return nil, err
	}
	return found, s.SearchPostgres(ctx, words, found)
}

// planted is an organization with the key that is looked for.
type planted struct {
	*system
	org    rig.Organization
	number uint64
	count  int
}

// unit is a case of the planted organization.
func (p *planted) unit(mark string) unit {
	return unit{name: fmt.Sprintf("case-p%d-%d", p.number, 0), kind: kind{mark: mark}}
}

// use stores the key and asks with it in every way.
func (p *planted) use(ctx context.Context, secret string) error {
	var key api.ProviderKey
	if err := p.call(ctx, http.MethodPost, "/api/developer/provider-keys", map[string]any{"provider": "openai", "name": "planted", "baseUrl": p.provider.url, "secret": secret}, &key); err != nil {
		return err
	}
	var made api.JudgeConfig
	if err := p.call(ctx, http.MethodPost, "/api/llm-judge/configs", map[string]any{"key": "planted", "starter": "helpfulness", "provider": "openai", "model": "judge"}, &made); err != nil {
		return err
	}
	for _, mark := range append(echoes[:len(echoes):len(echoes)], "echo-401") {
		u := p.unit(mark)
		if err := p.call(ctx, http.MethodPost, "/api/llm-judge/evaluate", map[string]any{"configId": made.ID, "input": u.input(), "output": u.output()}, nil); err != nil {
			return err
		}
	}
	if err := p.run(ctx, echoes, "completed"); err != nil {
		return err
	}
	if err := p.run(ctx, []string{"echo-401"}, "failed"); err != nil {
		return err
	}
	id := strconv.FormatInt(key.ID, 10)
	if err := p.call(ctx, http.MethodPost, "/api/developer/provider-keys/"+id+"/test", nil, nil); err != nil {
		return err
	}
	for _, path := range []string{
		"/api/developer/provider-keys", "/api/llm-judge/configs/" + made.ID, "/api/llm-judge/results?limit=100", "/api/organizations/current", "/api/audit-logs?limit=100",
	} {
		if err := p.call(ctx, http.MethodGet, path, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// run has answers judged by a run, and reads all that is said about it.
func (p *planted) run(ctx context.Context, marks []string, want string) error {
	var dataset, evaluation, started struct {
		ID string `json:"id"`
	}
	if err := p.call(ctx, http.MethodPost, "/api/datasets", map[string]any{"name": "planted for " + want}, &dataset); err != nil {
		return err
	}
	var items []any
	for _, mark := range marks {
		items = append(items, map[string]any{"input": p.unit(mark).input(), "output": p.unit(mark).output()})
	}
	if err := p.call(ctx, http.MethodPost, "/api/datasets/"+dataset.ID+"/items", map[string]any{"items": items}, nil); err != nil {
		return err
	}
	if err := p.call(ctx, http.MethodPost, "/api/evaluations", map[string]any{"name": "planted for " + want, "datasetId": dataset.ID, "metrics": []string{"judge:planted"}, "target": map[string]any{"type": "recorded"}}, &evaluation); err != nil {
		return err
	}
	if err := p.call(ctx, http.MethodPost, "/api/evaluations/"+evaluation.ID+"/runs", map[string]any{}, &started); err != nil {
		return err
	}
	base := "/api/evaluations/" + evaluation.ID + "/runs/" + started.ID
	var end api.Run
	for limit := time.Now().Add(rig.Patience); end.Statistics == nil || end.Status == "running"; {
		if err := rig.Sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
		if err := p.call(ctx, http.MethodGet, base, nil, &end); err != nil {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("the run of %v has not ended", marks)
		}
	}
	if end.Status != want {
		return fmt.Errorf("the run of %v is %s %+v and had to be %s", marks, end.Status, end.Error, want)
	}
	for _, path := range []string{base + "/results?limit=100", base + "/progress"} {
		if err := p.call(ctx, http.MethodGet, path, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// call asks the application, and keeps what it answers where it is searched.
func (p *planted) call(ctx context.Context, method, path string, in, out any) error {
	p.count++
	key := ""
	if method != http.MethodGet {
		key = fmt.Sprintf("planted %d %d", p.number, p.count)
	}
	status, answer, err := p.Call(ctx, p.org, method, path, key, in)
	if err != nil {
		return err
	}
	if err := appendTo(filepath.Join(p.State, "responses"), fmt.Appendf(nil, "%s: %s %s: %d %s\n", p.org.ID, method, path, status, answer)); err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %d %s", method, path, status, answer)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
