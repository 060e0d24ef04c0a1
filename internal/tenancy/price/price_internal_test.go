package price

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPricesFile(t *testing.T) {
	t.Parallel()
	rows := allRows()
	require.GreaterOrEqual(t, len(rows), 80)
	require.True(t, slices.IsSortedFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Provider, b.Provider))
	}), "rows are sorted by model and provider")

	makers := map[string]int{} // rows of a model that count for everyone
	seen := map[[2]string]bool{}
	for _, r := range rows {
		require.Regexp(t, `^[a-z0-9][a-z0-9.-]*$`, r.Model)
		require.Regexp(t, `^[a-z]+$`, r.Provider)
		require.False(t, seen[[2]string{r.Model, r.Provider}], "%s of %s is there twice", r.Model, r.Provider)
		seen[[2]string{r.Model, r.Provider}] = true
		if !r.Hosted {
			makers[r.Model]++
			require.Equal(t, 1, makers[r.Model], r.Model)
		} else {
			require.Contains(t, priceHosts, r.Provider, r.Model)
		}

		p := r.price()
		require.Positive(t, p.Input, r.Model)
		require.LessOrEqual(t, p.Input, 1000.0, r.Model)
		require.GreaterOrEqual(t, p.Output, 0.0, r.Model)
		require.LessOrEqual(t, p.Output, 1000.0, r.Model)
		require.Positive(t, p.CachedInput, r.Model)
		require.LessOrEqual(t, p.CachedInput, p.Input, r.Model)
		require.GreaterOrEqual(t, p.CacheWrite, p.Input, r.Model)
		_, err := time.Parse(time.DateOnly, r.AsOf)
		require.NoError(t, err, r.Model)

		got, ok := NewTable(nil).Find([]byte(r.Provider), []byte(r.Model))
		require.True(t, ok, "%s is found by its own name", r.Model)
		require.Equal(t, p, got, r.Model)
		if !r.Hosted {
			got, ok = NewTable(nil).Find(nil, []byte(strings.ToUpper(r.Model)))
			require.True(t, ok, r.Model)
			require.Equal(t, p, got, r.Model)
		}
	}
}

func TestPriceFind(t *testing.T) {
	t.Parallel()
	prices := NewTable(nil)
	for _, c := range []struct{ provider, model, row, of string }{
		{"openai", "gpt-4o", "gpt-4o", "openai"},
		{"openai", "gpt-4o-2024-08-06", "gpt-4o", "openai"},
		{"openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13", "openai"},
		{"", "openai/gpt-4o", "gpt-4o", "openai"},
		{"openrouter", "openai/gpt-4o-mini", "gpt-4o-mini", "openai"},
		{"", "openrouter/openai/gpt-4o-mini-2024-07-18", "gpt-4o-mini", "openai"},
		{"azure.ai.openai", "GPT-4o", "gpt-4o", "openai"},
		{"azure", "gpt-35-turbo-0125", "gpt-35-turbo", "openai"},
		{"openai", "gpt-4-0613", "gpt-4", "openai"},
		{"openai", "gpt-4-0125-preview", "gpt-4-0125-preview", "openai"},
		{"openai", "gpt-4-turbo-2024-04-09", "gpt-4-turbo", "openai"},
		{"openai", "gpt-3.5-turbo-0613", "gpt-3.5-turbo-0613", "openai"},
		{"openai", "gpt-5-chat-latest", "gpt-5-chat", "openai"},
		{"openai", "o3-mini-2025-01-31", "o3-mini", "openai"},
		{"openai", " gpt-4o ", "gpt-4o", "openai"},
		{"anthropic", "claude-3-5-sonnet-20241022", "claude-3-5-sonnet", "anthropic"},
		{"anthropic", "claude-3-5-sonnet-latest", "claude-3-5-sonnet", "anthropic"},
		{"anthropic", "claude-opus-4-20250514", "claude-opus-4", "anthropic"},
		{"anthropic", "claude-opus-4-1-20250805", "claude-opus-4-1", "anthropic"},
		{"anthropic", "claude-opus-4-5-20251101", "claude-opus-4-5", "anthropic"},
		{"", "anthropic/claude-3.5-sonnet", "claude-3-5-sonnet", "anthropic"},
		{"", "anthropic/claude-opus-4.5", "claude-opus-4-5", "anthropic"},
		{"", "anthropic/claude-3.7-sonnet:thinking", "claude-3-7-sonnet", "anthropic"},
		{"aws.bedrock", "us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet", "anthropic"},
		{"aws.bedrock", "anthropic.claude-3-haiku-20240307-v1:0", "claude-3-haiku", "anthropic"},
		{"", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", "anthropic"},
		{"", "bedrock/eu.anthropic.claude-3-sonnet-20240229-v1:0", "claude-3-sonnet", "anthropic"},
		{"", "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-opus-20240229-v1:0", "claude-3-opus", "anthropic"},
		{"aws_bedrock", "anthropic.claude-v2:1", "claude-v2", "anthropic"},
		{"gcp.vertex_ai", "claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet", "anthropic"},
		{"vertex_ai", "publishers/anthropic/models/claude-sonnet-4@20250514", "claude-sonnet-4", "anthropic"},
		{"google", "models/gemini-2.5-pro", "gemini-2.5-pro", "google"},
		{"gcp.gemini", "models/gemini-1.5-flash-002", "gemini-1.5-flash", "google"},
		{"", "vertex_ai/gemini-2.0-flash-001", "gemini-2.0-flash", "google"},
		{"google", "gemini-2.5-pro-preview-06-05", "gemini-2.5-pro-preview", "google"},
		{"google", "gemini-embedding-001", "gemini-embedding-001", "google"},
		{"mistral_ai", "mistral-small-2503", "mistral-small", "mistral"},
		{"mistral_ai", "mistral-large-2407", "mistral-large-2407", "mistral"},
		{"", "mistral.mistral-large-2407-v1:0", "mistral-large-2407", "mistral"},
		{"cohere", "command-r-plus-08-2024", "command-r-plus", "cohere"},
		{"cohere", "command-r-plus-04-2024", "command-r-plus-04-2024", "cohere"},
		{"", "cohere.command-r-v1:0", "command-r", "cohere"},
		{"deepseek", "deepseek-chat", "deepseek-chat", "deepseek"},
		{"xai", "grok-4-0709", "grok-4", "xai"},
		{"", "x-ai/grok-4.1-fast", "grok-4-1-fast", "xai"},
		{"", "amazon.nova-pro-v1:0", "nova-pro", "amazon"},
		{"", "us.amazon.nova-lite-v1:0:300k", "nova-lite", "amazon"},
		{"", "amazon.titan-embed-text-v2:0", "titan-embed-text-v2", "amazon"},
		{"groq", "llama-3.3-70b-versatile", "llama-3.3-70b-versatile", "groq"},
		{"", "groq/openai/gpt-oss-120b", "gpt-oss-120b", "groq"},
		{"groq", "openai/gpt-oss-120b", "gpt-oss-120b", "groq"},
		{"together_ai", "meta-llama/Llama-3.3-70B-Instruct-Turbo", "llama-3.3-70b-instruct-turbo", "together"},
		{"Together AI", "meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama-4-scout-17b-16e-instruct", "together"},
		{"groq", "meta-llama/llama-4-scout-17b-16e-instruct", "llama-4-scout-17b-16e-instruct", "groq"},
		{"", "accounts/fireworks/models/llama-v3p3-70b-instruct", "llama-v3p3-70b-instruct", "fireworks"},
		{"together", "deepseek-ai/DeepSeek-V3", "deepseek-v3", "together"},
		{"fireworks", "accounts/fireworks/models/deepseek-v3", "deepseek-v3", "fireworks"},
		{"", "us.meta.llama3-1-70b-instruct-v1:0", "llama3-1-70b-instruct", "bedrock"},
		{"", "us.deepseek.r1-v1:0", "deepseek.r1", "bedrock"},
		{"openai", "text-embedding-3-small", "text-embedding-3-small", "openai"},
		{"voyageai", "voyage-3.5-lite", "voyage-3.5-lite", "voyage"},
	} {
		rows := allRows()
		i := slices.IndexFunc(rows, func(r row) bool { return r.Model == c.row && r.Provider == c.of })
		require.GreaterOrEqual(t, i, 0, c.row)
		for range 2 { // the second time from memory
			got, ok := prices.Find([]byte(c.provider), []byte(c.model))
			require.True(t, ok, "%s %s", c.provider, c.model)
			require.Equal(t, rows[i].price(), got, "%s %s", c.provider, c.model)
		}
	}
}

func TestPriceOfWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	prices := NewTable(nil)
	for _, c := range []struct{ provider, model string }{
		{"openai", ""},
		{"", " "},
		{"", "/"},
		{"", "@"},
		{"", ":0"},
		{"openai", "gpt-99"},
		{"openai", "gpt-4o-audio-preview"},
		{"openai", "gpt-4o-realtime-preview-2024-12-17"},
		{"openai", "gpt-4-9999-preview"},
		{"openai", "ft:gpt-4o-mini-2024-07-18:acme::abc123"},
		{"openai", "gpt"},
		{"openai", "gpt-4o-mini-high-quality"},
		{"openai", "my-deployment"},
		{"anthropic", "claude"},
		{"anthropic", "claude-opus-4-9"},
		{"anthropic", "claude-opus"},
		{"google", "gemini-2.5-pro-exp-03-25"},
		{"google", "gemini-2.0-flash-exp"},
		{"", "llama-3.3-70b-versatile"},
		{"", "meta-llama/Llama-3.3-70B-Instruct-Turbo"},
		{"fireworks", "llama-3.3-70b-versatile"},
		{"ollama", "mistral-small"},
		{"", "ollama/command-r"},
		{"vllm", "gpt-4o"},
		{"LM Studio", "mistral-nemo"},
		{"together", "deepseek-chat"},
		{"groq", "mistral-saba"},
		{"", "openai/gpt-4o:free"},
		{"", "openai/gpt-4o:online"},
		{"", strings.Repeat("gpt-4o/", 100) + "gpt-4o"},
		{strings.Repeat("x", 300), "gpt-4o"},
		{"", "gpt-4o\x00"},
		{"", "\xff\xfe"},
	} {
		_, ok := prices.Find([]byte(c.provider), []byte(c.model))
		require.False(t, ok, "%q %q", c.provider, c.model)
	}
}

func TestPriceOverrides(t *testing.T) {
	t.Parallel()
	ours := func(n float64) Price { return Price{n, n, n, n} }
	prices := NewTable(map[string]Price{
		"GPT-4o": ours(1), "gpt-4o-2024-05-13": ours(2), "gpt-*": ours(3), "gpt-4*": ours(4), "our-model": ours(5), "acme/*": ours(6), "mistral-small": {}, "ft:gpt-4o-mini*": ours(8), "openai/o3": ours(9),
	})
	for _, c := range []struct {
		provider, model string
		want            Price
	}{
		{"", "gpt-4o", ours(1)},
		{"openai", "GPT-4O-2024-08-06", ours(1)},
		{"", "openai/gpt-4o", ours(1)},
		{"", "gpt-4o-2024-05-13", ours(2)},
		{"", "gpt-5-mini", ours(3)},
		{"", "gpt-4.1", ours(4)},
		{"", "azure/gpt-4-turbo", ours(4)},
		{"", "Our-Model", ours(5)},
		{"vllm", "our-model", ours(5)},
		{"", "acme/gizmo", ours(6)},
		{"ollama", "mistral-small", Price{}}, // what costs nothing may say so
		{"", "ft:gpt-4o-mini-2024-07-18:acme::abc", ours(8)},
		{"", "openai/o3", ours(9)},
		{"", "o3", Price{2, 0.5, 2, 8}},
		{"", "claude-3-haiku", Price{0.25, 0.03, 0.3, 1.25}},
	} {
		got, ok := prices.Find([]byte(c.provider), []byte(c.model))
		require.True(t, ok, c.model)
		require.Equal(t, c.want, got, c.model)
	}
	_, ok := prices.Find(nil, []byte("not-a-model"))
	require.False(t, ok)

	all := NewTable(map[string]Price{"*": ours(1), "gpt-4o": ours(2)})
	got, ok := all.Find(nil, []byte("anything"))
	require.True(t, ok)
	require.Equal(t, ours(1), got)
	got, _ = all.Find(nil, []byte("openai/gpt-4o"))
	require.Equal(t, ours(2), got, "a name goes before a beginning")
}

func TestNanoUSD(t *testing.T) {
	t.Parallel()
	gpt4o := Price{2.5, 1.25, 2.5, 10}
	const most = math.MaxUint32
	for _, c := range []struct {
		Price                        Price
		input, cached, write, output uint32
		want                         uint64
	}{
		{gpt4o, 0, 0, 0, 0, 0},
		{gpt4o, 1, 0, 0, 0, 2500},
		{gpt4o, 1_000_000, 0, 0, 0, 2_500_000_000},
		{gpt4o, 1000, 400, 0, 100, 600*2500 + 400*1250 + 100*10_000},
		{Price{3, 0.3, 3.75, 15}, 1000, 400, 500, 10, 100*3000 + 400*300 + 500*3750 + 10*15_000},
		{gpt4o, 100, 400, 0, 0, 400 * 1250}, // more cached than sent: nothing is left to pay in full
		{Price{0.075, 0.01875, 0.075, 0.3}, 3, 1, 0, 0, 169},
		{Price{}, 5, 0, 0, 5, 0},
		{Price{Input: -1, Output: -1}, 5, 0, 0, 5, 0},
		{Price{Input: math.NaN(), Output: 1}, 5, 0, 0, 5, 5000},
		{Price{Input: math.Inf(1)}, 5, 0, 0, 0, math.MaxUint64},
		{Price{Input: math.Inf(1)}, 0, 0, 0, 0, 0},
		{Price{Input: math.Inf(-1)}, 5, 0, 0, 0, 0},
		{Price{1e300, 1e300, 1e300, 1e300}, most, most, most, most, math.MaxUint64},
		{Price{1e6, 1e6, 1e6, 1e6}, most, 0, 0, most, 2 * most * 1e9},
	} {
		require.Equal(t, c.want, c.Price.NanoUSD(c.input, c.cached, c.write, c.output), "%+v", c)
	}

	t.Run("it is what exact arithmetic says", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			micro := rapid.Uint32Max(1_000_000_000) // millionths of a dollar
			p := [4]uint32{micro.Draw(t, "input"), micro.Draw(t, "cached"), micro.Draw(t, "write"), micro.Draw(t, "output")}
			n := [4]uint32{rapid.Uint32().Draw(t, "in"), rapid.Uint32().Draw(t, "read"), rapid.Uint32().Draw(t, "written"), rapid.Uint32().Draw(t, "out")}
			plain := max(0, int64(n[0])-int64(n[1])-int64(n[2]))

			var sum uint64 // thousandths of what nanoUSD counts
			for i, tokens := range []uint64{uint64(plain), uint64(n[1]), uint64(n[2]), uint64(n[3])} {
				high, low := bits.Mul64(tokens, uint64(p[i]))
				require.Zero(t, high)
				sum += low
			}
			cost := func(i int) float64 { return float64(p[i]) / 1e6 }
			got := Price{cost(0), cost(1), cost(2), cost(3)}.NanoUSD(n[0], n[1], n[2], n[3])
			require.InDelta(t, float64(sum)/1000, float64(got), 1+float64(sum)*1e-15)
		})
	})
}

//nolint:paralleltest // AllocsPerRun counts the whole process
func TestPriceFindAllocatesNothing(t *testing.T) {
	for _, prices := range []*Table{NewTable(nil), NewTable(map[string]Price{"a*": {}})} {
		provider, model := []byte("aws.bedrock"), []byte("us.anthropic.claude-3-5-sonnet-20241022-v2:0")
		_, ok := prices.Find(provider, model)
		require.True(t, ok)
		require.Zero(t, testing.AllocsPerRun(1000, func() { _, _ = prices.Find(provider, model) }))
	}
}

func TestPriceMemory(t *testing.T) {
	t.Parallel()

	t.Run("answers do not mix, however many names there are", func(t *testing.T) {
		t.Parallel()
		prices := NewTable(map[string]Price{"zz": {1, 1, 1, 1}})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 3 {
					for _, r := range allRows() {
						got, ok := prices.Find([]byte(r.Provider), []byte(r.Model))
						if !ok || got != r.price() {
							panic("wrong Price of " + r.Model)
						}
						if _, ok := prices.Find([]byte(r.Provider), []byte(r.Model+"?")); ok {
							panic("a Price of " + r.Model + "?")
						}
					}
				}
			})
		}
		wg.Wait()
	})
	t.Run("those who override nothing share a table", func(t *testing.T) {
		t.Parallel()
		require.Same(t, NewTable(nil), NewTable(map[string]Price{}))
	})
	t.Run("the caller may write over the names", func(t *testing.T) {
		t.Parallel()
		prices := NewTable(map[string]Price{"zz": {}})
		model := []byte("gpt-4o")
		_, ok := prices.Find(nil, model)
		require.True(t, ok)
		copy(model, "gpt-9z")
		_, ok = prices.Find(nil, model)
		require.False(t, ok)
	})
}

func BenchmarkPriceFind(b *testing.B) {
	prices := NewTable(nil)
	provider, model := []byte("openai"), []byte("gpt-4o-2024-08-06")
	b.Run("known", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p, _ := prices.Find(provider, model)
			_ = p.NanoUSD(1000, 100, 0, 200)
		}
	})
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = prices.look("aws.bedrock", "us.anthropic.claude-3-5-sonnet-20241022-v2:0")
		}
	})
}

// FuzzPriceFind shows that no name makes the table panic, and that what it
// remembers is what it found.
func FuzzPriceFind(f *testing.F) {
	for _, r := range allRows() {
		f.Add(r.Provider, r.Model)
	}
	f.Add("aws.bedrock", "us.anthropic.claude-3-5-sonnet-20241022-v2:0")
	prices := NewTable(map[string]Price{"a*": {1, 1, 1, 1}, "b": {2, 2, 2, 2}})
	f.Fuzz(func(t *testing.T, provider, model string) {
		first, ok := prices.Find([]byte(provider), []byte(model))
		again, still := prices.Find([]byte(provider), []byte(model))
		if first != again || ok != still {
			t.Fatalf("%v %v, then %v %v", first, ok, again, still)
		}
	})
}
