package neighbours

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// work are attacks by what is to be done.
var work = []attack{
	{name: "runs that fill every slot", width: 4, prepare: slowRuns, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/evaluations/"+x.evaluation+"/runs", []byte(`{"concurrency":64,"repetitions":10}`))
	}},
	{name: "prompts that grow", width: 1, prepare: poisonRun, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/evaluations/"+x.evaluation+"/runs", []byte(`{}`))
	}},
	{name: "costly scores of a client", width: 4, prepare: clientRun, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/evaluations/"+x.evaluation+"/runs/"+x.run+"/results", x.body)
	}},
	{name: "costly scores of a worker", width: 1, prepare: costlyRecorded, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/evaluations/"+x.evaluation+"/runs", []byte(`{"repetitions":10}`))
	}},
	{name: "costly schemas", width: 4, prepare: costlySchema, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/datasets/"+x.dataset+"/items?dryRun=true", x.body)
	}},
	{name: "deletions in a loop", width: 8, prepare: tinyRuns, blow: func(ctx context.Context, x *attacker, _ int) {
		var made identified
		_, answer := x.send(ctx, http.MethodPost, "/api/evaluations", fmt.Appendf(nil, `{"name":"e %s","datasetId":%q,"metrics":["exact_match"]}`, randomHex(8), x.dataset))
		if json.Unmarshal(answer, &made) == nil && made.ID != "" {
			x.send(ctx, http.MethodDelete, "/api/evaluations/"+made.ID, nil)
		}
	}},
	{name: "runs in a loop", width: 8, prepare: tinyRuns, blow: func(ctx context.Context, x *attacker, _ int) {
		x.send(ctx, http.MethodPost, "/api/evaluations/"+x.evaluation+"/runs", []byte(`{}`))
	}},
}

// items are n items with the same content.
func items(n int, item map[string]any) []map[string]any {
	all := make([]map[string]any, n)
	for i := range all {
		all[i] = map[string]any{"metadata": map[string]any{"number": i}}
		for name, value := range item {
			all[i][name] = value
		}
	}
	return all
}

// evaluate makes a dataset and an evaluation of it.
func (x *attacker) evaluate(ctx context.Context, all []map[string]any, target map[string]any, metrics ...any) (err error) {
	if x.dataset, err = newDataset(ctx, x.s, x.org, "attack", all); err != nil {
		return err
	}
	x.evaluation, err = newEvaluation(ctx, x.s, x.org, x.dataset, target, metrics...)
	return err
}

// begin starts a run that the attack needs.
func (x *attacker) begin(ctx context.Context) error {
	var run identified
	err := must(ctx, x.s, x.org, http.MethodPost, "/api/evaluations/"+x.evaluation+"/runs", map[string]any{}, &run)
	x.run = run.ID
	return err
}

func slowRuns(ctx context.Context, x *attacker) error {
	return x.evaluate(ctx, items(500, map[string]any{"input": "x"}), map[string]any{"type": "http", "url": x.s.targetURL}, "exact_match")
}

func tinyRuns(ctx context.Context, x *attacker) error {
	return x.evaluate(ctx, items(1, map[string]any{"input": "x", "output": "x"}), map[string]any{"type": "recorded"}, "exact_match")
}

// waitingRun starts a run whose results a client would send.
func waitingRun(ctx context.Context, x *attacker) error {
	if err := x.evaluate(ctx, items(5, map[string]any{"input": "x"}), map[string]any{"type": "client"}, "exact_match"); err != nil {
		return err
	}
	return x.begin(ctx)
}

// poisonRun is a run whose prompts are a thousand times as long as its items.
func poisonRun(ctx context.Context, x *attacker) error {
	var key struct {
		ID int64 `json:"id"`
	}
	if err := must(ctx, x.s, x.org, http.MethodPost, "/api/developer/provider-keys", map[string]any{
		"provider": "openai", "name": "slow", "baseUrl": x.s.targetURL, "secret": "only-for-proofs",
	}, &key); err != nil {
		return err
	}
	return x.evaluate(ctx, items(100, map[string]any{"input": strings.Repeat("x", 100<<10)}), map[string]any{
		"type": "model", "providerKeyId": strconv.FormatInt(key.ID, 10), "model": "any", "prompt": strings.Repeat("{{input}}", 10_000),
	}, "exact_match")
}

// costly is a metric that compares every letter of a text with every other one.
const costly = "similarity"

// long is a text that differs from the other one in every place.
func long(letter string) string { return strings.Repeat(letter+"bcdefg", 4000) }

func clientRun(ctx context.Context, x *attacker) error {
	if err := x.evaluate(ctx, items(200, map[string]any{"input": "x", "expectedOutput": long("x")}), map[string]any{"type": "client"}, costly); err != nil {
		return err
	}
	if err := x.begin(ctx); err != nil {
		return err
	}
	var list struct {
		Items []identified `json:"items"`
	}
	if err := must(ctx, x.s, x.org, http.MethodGet, "/api/datasets/"+x.dataset+"/items?limit=200", nil, &list); err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(`{"results":[`)
	for i, item := range list.Items {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"testCaseId":%q,"output":%q}`, item.ID, long("y"))
	}
	b.WriteString(`]}`)
	x.body = b.Bytes()
	return nil
}

func costlyRecorded(ctx context.Context, x *attacker) error {
	return x.evaluate(ctx, items(200, map[string]any{"input": "x", "expectedOutput": long("x"), "output": long("y")}), map[string]any{"type": "recorded"}, costly)
}

// costlySchema is a dataset whose schema has expensive patterns, and items that
// nearly match them.
func costlySchema(ctx context.Context, x *attacker) error {
	rules := make([]map[string]any, 20)
	for i := range rules {
		rules[i] = map[string]any{"pattern": "[^ab]{0,50}[^ac]{0,50}[yz]$"}
	}
	var made identified
	if err := must(ctx, x.s, x.org, http.MethodPost, "/api/datasets", map[string]any{
		"name": "costly", "schema": map[string]any{"input": map[string]any{"type": "string", "allOf": rules}},
	}, &made); err != nil {
		return err
	}
	x.dataset = made.ID
	var b bytes.Buffer
	b.WriteString(`{"items":[`)
	for i := range 300 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"input":"%s%dz"}`, strings.Repeat("c", 50_000), i)
	}
	b.WriteString(`]}`)
	x.body = b.Bytes()
	return nil
}
