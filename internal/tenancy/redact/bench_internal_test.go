package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// agentTurns are pieces of what agents write and read; %s stands for a word,
// %x for an id, %d for a number, %t for a time.
var agentTurns = []string{
	"I looked at the failing job first. The worker for %s stops after the third retry because the queue hands it a task that was already finished, so the result is written twice and the second write is refused.",
	"Could you check whether the customer in %s was charged twice in March? They say that the invoice lists the same line again, and the support agent before you already opened a ticket about it.",
	"def load_%s(path, *, limit=%d):\n    \"\"\"Read the rows that changed since the last run.\"\"\"\n    with open(path, encoding=\"utf-8\") as handle:\n        for number, line in enumerate(handle):\n            if number >= limit:\n                break\n            yield parse_row(line.strip())\n",
	"{\"tool\": \"search_orders\", \"arguments\": {\"region\": \"%s\", \"page_size\": %d, \"include_deleted\": false, \"created_after\": \"%t\"}, \"call_id\": \"call_%x\"}",
	"%t INFO  scheduler: task %x moved from waiting to running (attempt %d of 5, worker=%s-2, latency_ms=%d)",
	"The three options are: (1) keep the current index and accept slower writes, (2) build a narrower one over %s only, or (3) move the history into its own table. I recommend the second, since reads outnumber writes by about %d to 1.",
	"| name | value | share |\n|------|-------|-------|\n| %s | %d | 0.%d |\n| other | %d | 0.0731 |\n",
	"Thank you, that worked! One more thing: the page at https://example.com/%s/reports?id=%x&from=%t shows an empty chart for everybody in our team, although the export has %d rows.",
	"{\"trace_id\":\"%x\",\"span\":{\"name\":\"chat %s\",\"status\":\"ok\",\"input_tokens\":%d,\"output_tokens\":%d,\"temperature\":0.7,\"finish_reasons\":[\"stop\"]}}",
	"Traceback (most recent call last):\n  File \"/srv/app/%s/views.py\", line %d, in dispatch\n    return handler(request, *args, **kwargs)\nKeyError: 'customer_reference'\n",
}

// agentText makes about n bytes of clean text as agents see it.
func agentText(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("billing checkout inventory shipping refunds analytics onboarding search catalog payments risk ledger")
	var b bytes.Buffer
	for b.Len() < n {
		turn := agentTurns[rnd.IntN(len(agentTurns))]
		for i := 0; i < len(turn); i++ {
			if turn[i] != '%' {
				b.WriteByte(turn[i])
				continue
			}
			i++
			switch turn[i] {
			case 's':
				b.WriteString(words[rnd.IntN(len(words))])
			case 'd':
				fmt.Fprint(&b, rnd.IntN(90_000))
			case 'x':
				fmt.Fprintf(&b, "%016x", rnd.Uint64())
			case 't':
				fmt.Fprintf(&b, "2026-%02d-%02dT%02d:%02d:%02d.%03dZ", 1+rnd.IntN(12), 1+rnd.IntN(28), rnd.IntN(24), rnd.IntN(60), rnd.IntN(60), rnd.IntN(1000))
			}
		}
		b.WriteString("\n\n")
	}
	return b.Bytes()[:n]
}

// agentDocument makes about n bytes of a conversation in JSON.
func agentDocument(tb testing.TB, n int) []byte {
	tb.Helper()
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	type message struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}
	var all []message
	for i, text := range strings.Split(string(agentText(n*9/10)), "\n\n") {
		all = append(all, message{[]string{"user", "assistant", "tool"}[i%3], []part{{"text", text}}})
	}
	doc, err := json.Marshal(all)
	require.NoError(tb, err)
	return doc
}

func redactRuled(tb testing.TB, rules ...Rule) *Redactor {
	tb.Helper()
	r, err := New(rules)
	require.NoError(tb, err)
	return r
}

var agentRules = []Rule{
	{Name: "employee", Pattern: `\bEMP-\d{6}\b`},
	{Name: "account", Pattern: `acct_[0-9a-f]{12}`},
	{Name: "case_file", Pattern: `(?i)case file (no|number)\.? ?\d+`},
}

func benchmarkClean(b *testing.B, v []byte, redact func(scratch, v []byte) ([]byte, bool)) {
	b.Helper()
	scratch := make([]byte, 0, 2*len(v))
	if _, changed := redact(scratch, v); changed {
		b.Fatal("the text is not clean")
	}
	b.SetBytes(int64(len(v)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = redact(scratch, v)
	}
}

func BenchmarkRedactClean30KB(b *testing.B) {
	text, doc := agentText(30<<10), agentDocument(b, 30<<10)
	b.Run("text", func(b *testing.B) { benchmarkClean(b, text, redactRuled(b).Text) })
	b.Run("text, 3 patterns", func(b *testing.B) { benchmarkClean(b, text, redactRuled(b, agentRules...).Text) })
	b.Run("json", func(b *testing.B) { benchmarkClean(b, doc, redactRuled(b).JSONText) })
	b.Run("json, 3 patterns", func(b *testing.B) { benchmarkClean(b, doc, redactRuled(b, agentRules...).JSONText) })
	b.Run("json, 3 keys", func(b *testing.B) {
		keys := []Rule{{Name: "a", Key: "patient_name"}, {Name: "b", Key: "email"}, {Name: "c", Key: "iban"}}
		benchmarkClean(b, doc, redactRuled(b, keys...).JSONText)
	})
}

func BenchmarkRedactOther30KB(b *testing.B) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var floats, base64, chinese bytes.Buffer
	for floats.Len() < 30<<10 {
		fmt.Fprintf(&floats, "%.8f,", rnd.NormFloat64())
	}
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for base64.Len() < 30<<10 {
		base64.WriteByte(digits[rnd.IntN(64)])
		chinese.WriteRune(rune(0x4e00 + rnd.IntN(5000)))
	}
	r := redactRuled(b)
	b.Run("floats", func(b *testing.B) { benchmarkClean(b, floats.Bytes(), r.Text) })
	b.Run("base64", func(b *testing.B) { benchmarkClean(b, base64.Bytes(), r.Text) })
	b.Run("chinese", func(b *testing.B) { benchmarkClean(b, chinese.Bytes()[:30<<10], r.Text) })
	b.Run("dashes", func(b *testing.B) { benchmarkClean(b, bytes.Repeat([]byte("-"), 30<<10), r.Text) })
	b.Run("short", func(b *testing.B) { benchmarkClean(b, []byte("gpt-4o-mini answered in 1.2 s"), r.Text) })
}

func BenchmarkRedactHit30KB(b *testing.B) {
	text := agentText(30 << 10)
	copy(text[20_000:], " sk-"+strings.Repeat("aB3", 16)+" ")
	doc, err := json.Marshal(map[string]any{"content": string(text), "password": "hunter2"})
	require.NoError(b, err)
	scratch := make([]byte, 0, 2*len(doc))
	r := redactRuled(b)
	for name, run := range map[string]func(){
		"text": func() { _, _ = r.Text(scratch, text) },
		"json": func() { _, _ = r.JSONText(scratch, doc) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}

func BenchmarkRedactKey(b *testing.B) {
	r := redactRuled(b)
	names := [][]byte{[]byte("gen_ai.request.temperature"), []byte("http.request.header.content-type"), []byte("service.instance.id"), []byte("llm.token_count.total")}
	b.ReportAllocs()
	for b.Loop() {
		for _, n := range names {
			r.Key(n)
		}
	}
}
