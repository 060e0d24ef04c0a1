package scoring

import (
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/dataset"
)

func TestAPromptIsFilled(t *testing.T) {
	t.Parallel()
	i := dataset.Item{Content: dataset.Content{
		Input: jsontext.Value(`{"name":"Ada","age":36}`), Context: jsontext.Value(`"a text"`), ExpectedOutput: jsontext.Value(`[1]`),
	}}
	for prompt, want := range map[string]string{
		"":                                   "",
		"plain":                              "plain",
		"{{input}}":                          `{"name":"Ada","age":36}`,
		"{{ input.name }} is {{input.age}}.": "Ada is 36.",
		"{{input.name}}{{input.name}}":       "AdaAda",
		"{{input.none}}{{context.none}}|":    "|",
		"{{context}}: {{expected_output}}":   "a text: [1]",
		"{{other}} {{input":                  "{{other}} {{input",
		"a {{b {{input.name}} c":             "a {{b {{input.name}} c",
		"{{input.name}} {{" + "unclosed {{input ": "Ada {{unclosed {{input ",
	} {
		got, err := fill(prompt, i)
		require.NoError(t, err)
		require.Equal(t, want, got, prompt)
	}
}

// TestALongPromptIsNeverMade fills the longest prompt there is with the longest
// item: eleven thousand times four megabytes.
func TestALongPromptIsNeverMade(t *testing.T) { //nolint:paralleltest // it measures memory
	i := dataset.Item{Content: dataset.Content{Input: jsontext.Value(`{"a":"` + strings.Repeat("x", dataset.MaxItemBytes-100) + `","b":"` + strings.Repeat("y", 100) + `"}`)}}
	for _, name := range []string{"{{input}}", "{{input.a}}", "{{input.b}}"} {
		prompt := strings.Repeat(name, 100_000/len("{{input}}"))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)

		_, err := fill(prompt, i)

		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, errPrompt, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), name)
	}
	_, err := model{}.messages(i)
	require.ErrorIs(t, err, errPrompt, "an input is no shorter without a prompt")
	i.Content.Messages = jsontext.Value(`[{"role":"user","content":"` + strings.Repeat("x", maxPrompt) + `"},{"role":"user","content":"y"}]`)
	_, err = model{}.messages(i)
	require.ErrorIs(t, err, errPrompt, "nor are messages")
}
