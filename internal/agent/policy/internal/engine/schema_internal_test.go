package engine

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzReview shows that whatever a policy says, its review ends with few remarks, each at a
// place inside the text.
func FuzzReview(f *testing.F) {
	r := newRandom(3)
	for range 20 {
		f.Add(r.policy(), "payments", "refund")
	}
	f.Add(`@history("n = count(a/b, 1h)") permit(principal is A::B,action in [Action::"x"],resource == Tool::"a//b") when { context["\u{e9}"] == 1 && context.history.m > 1 };`, "a", "")
	f.Fuzz(func(t *testing.T, text, connector, tool string) {
		names := &Names{Tools: map[string][]string{connector: {tool}, tool: nil}, Runtimes: map[string]bool{tool: true}}
		all := Review(text, nil, names)
		require.LessOrEqual(t, len(all), maxRemarks)
		lines := strings.Split(text, "\n")
		for _, one := range all {
			require.NotEmpty(t, one.Code)
			require.NotEmpty(t, one.Message)
			require.LessOrEqual(t, one.Line, len(lines))
			require.LessOrEqual(t, one.Column, utf8.RuneCountInString(lines[one.Line-1])+1)
		}
		m := MentionsOf(text)
		require.LessOrEqual(t, max(len(m.Connectors), len(m.Runtimes)), maxMentions)
	})
}

func TestNearest(t *testing.T) {
	t.Parallel()
	r := &reviewer{}
	require.Equal(t, "side_effect_class", r.nearest("SideEffect-Class", namesOf(Context)))
	require.Equal(t, "amount", r.nearest("amonut", namesOf(Context)))
	require.Empty(t, r.nearest("user", namesOf(Context)))
	require.Empty(t, r.nearest("Pool", []string{"Tool"}), "short names differ by little")
	require.Empty(t, r.nearest("amont_x", []string{"amount"}), "a typo changes few letters")
	r.compared = maxCompared - 1
	require.Empty(t, r.nearest("amonut", []string{"user", "amount"}), "the number of comparisons is bounded")
	require.Empty(t, r.nearest("amonut", []string{"amount"}))
}
