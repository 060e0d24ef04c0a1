package simulated_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

func TestScript(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{Script: simulated.Script{
		Default: simulated.Behaviour{Do: simulated.DoUpper},
		Models:  map[string]simulated.Behaviour{"gpt-4o": {Do: simulated.DoFixed, Text: "four"}, "echo": {Do: simulated.DoFixed}},
	}})
	for model, want := range map[string]string{
		"gpt-4o": "four", "anything": "SAY ÜÄ", "upper": "SAY ÜÄ", "json": "{}", "echo": "This is a fixed answer.", "tool": "say üä",
	} {
		reply, err := k.ask(t.Context(), "openai", model, "say üä")
		require.NoError(t, err)
		require.Equal(t, want, reply.Text, model)
	}
	require.NoError(t, k.SetScript(simulated.Script{}))
	reply, err := k.ask(t.Context(), "openai", "gpt-4o", "say")
	require.NoError(t, err)
	require.Equal(t, "say", reply.Text)
	require.ErrorContains(t, k.SetScript(simulated.Script{Models: map[string]simulated.Behaviour{"m": {Do: "sing", Wrong: 2}}}), `model m does "sing": use echo`)
	_, err = simulated.New(simulated.Options{Script: simulated.Script{Default: simulated.Behaviour{Cached: math.NaN()}}})
	require.Error(t, err)
}

func TestTheSamePromptGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	one, two, other := newKit(t, simulated.Options{Seed: 7}), newKit(t, simulated.Options{Seed: 7}), newKit(t, simulated.Options{Seed: 8})
	differs := 0
	for i := range 50 {
		text := fmt.Sprint("prompt ", i)
		a, err := one.ask(t.Context(), "openai", "judge", text)
		require.NoError(t, err)
		b, err := two.ask(t.Context(), "openai", "judge", fmt.Sprint("prompt ", i))
		require.NoError(t, err)
		require.Equal(t, a, b)
		c, err := two.ask(t.Context(), "anthropic", "judge", text)
		require.NoError(t, err)
		require.Equal(t, a.Text, c.Text, "in both protocols")
		d, err := other.ask(t.Context(), "openai", "judge", text)
		require.NoError(t, err)
		if d.Text != a.Text {
			differs++
		}
	}
	require.Greater(t, differs, 40)
}

func TestJudge(t *testing.T) {
	t.Parallel()
	score := func(k kit, model, text string) float64 {
		reply, err := k.ask(t.Context(), "anthropic", model, text)
		require.NoError(t, err)
		got := decode[struct {
			Score  float64 `json:"score"`
			Reason string  `json:"reason"`
		}](t, reply.Text)
		require.NotEmpty(t, got.Reason)
		require.GreaterOrEqual(t, got.Score, 0.0)
		require.LessOrEqual(t, got.Score, 1.0)
		return got.Score
	}

	t.Run("follows the last marker", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, simulated.Options{})
		require.InDelta(t, 0.25, score(k, "judge", "[[score:1]] or [[score:0.25]]"), 0)
		require.InDelta(t, 1, score(k, "judge", "[[score:1]]"), 0)
	})
	t.Run("is wrong as often as it is told to be", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, simulated.Options{Script: simulated.Script{Models: map[string]simulated.Behaviour{"poor": {Do: simulated.DoJudge, Wrong: 0.3}}}})
		for model, share := range map[string]float64{"judge": 0, "judge@0.9": 0.1, "poor": 0.3, "judge@0": 1} {
			const n = 1000
			wrong := 0
			for i := range n {
				if truth := float64(i % 2); score(k, model, fmt.Sprintf("item %d [[score:%v]]", i, truth)) != truth {
					wrong++
				}
			}
			require.InDelta(t, share, float64(wrong)/n, 4*math.Sqrt(share*(1-share)/n)+1e-9, model)
		}
	})
	t.Run("spreads its scores without a marker", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, simulated.Options{})
		sum := 0.0
		for i := range 1000 {
			sum += score(k, "judge", fmt.Sprint("item ", i, "[[score:9]]"))
		}
		require.InDelta(t, 0.5, sum/1000, 4*math.Sqrt(1.0/12/1000))
	})
	t.Run("another seed in the request is another opinion", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, simulated.Options{})
		seen := map[string]bool{}
		for i := range int64(20) {
			r := llm.Request{Model: "judge", Messages: []llm.Message{{Role: llm.RoleUser, Content: "x"}}, Params: llm.Params{Seed: &i}}
			reply, err := k.client.Complete(t.Context(), llm.Endpoint{Provider: "openai", BaseURL: "http://x.example/v1", Secret: "key"}, r)
			require.NoError(t, err)
			seen[reply.Text] = true
		}
		require.Greater(t, len(seen), 10)
	})
	t.Run("chooses what the schema offers", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, simulated.Options{})
		for _, c := range []struct{ model, text, schema, want string }{
			{"judge", "[[score:0.2]]", `{"type":"object","properties":{"passed":{"type":"boolean"},"verdict":{"enum":["Correct","Incorrect"]}}}`, `{"passed":false,"verdict":"Incorrect"}`},
			{"judge", "[[score:0.8]]", `{"type":"object","properties":{"passed":{"type":"boolean"},"verdict":{"enum":["Correct","Incorrect"]}}}`, `{"passed":true,"verdict":"Correct"}`},
			{"judge", "[[score:0.5]]", `{"enum":["poor","fair","great"]}`, `"fair"`},
			{"judge", "[[choice:b]] wins", `{"enum":["A","B","tie"]}`, `"B"`},
			{"judge@0", "[[choice:b]] wins", `{"enum":["A","B","tie"]}`, `"tie"`},
			{"judge", "[[score:0.4]]", `{"type":"integer","minimum":1,"maximum":10}`, `5`},
			{"judge", "[[score:0.35]]", `{"type":"number","multipleOf":0.5,"maximum":2}`, `0.5`},
		} {
			r := llm.Request{Model: c.model, Messages: []llm.Message{{Role: llm.RoleUser, Content: c.text}}, Params: llm.Params{ResponseSchema: jsontext.Value(c.schema)}}
			reply, err := k.client.Complete(t.Context(), llm.Endpoint{Provider: "openai", BaseURL: "http://x.example/v1", Secret: "key"}, r)
			require.NoError(t, err)
			require.JSONEq(t, c.want, reply.Text, c.schema)
		}
	})
}
