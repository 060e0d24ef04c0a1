package terminal_test

import (
	"io"
	"os"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/terminal"
)

func TestListsAreDrawn(t *testing.T) {
	t.Parallel()
	drawn(t, "list", func(s terminal.Style, w io.Writer) error {
		return s.List(w, terminal.List{
			Heads: []string{"NAME", "ID", "STATUS", "OVERALL"}, Right: map[int]bool{1: true, 3: true},
			Rows: [][]string{
				{"Support answers", "1", "completed", "0.913"},
				{"An evaluation with a name that is much longer than it needs to be\x1b[2J", "12", "failed", ""},
			},
			Notes: []string{"There are more: use --limit."},
		})
	})
	drawn(t, "list_whole", func(s terminal.Style, w io.Writer) error {
		return s.List(w, terminal.List{
			Heads: []string{"METRIC", "SUMMARY"}, Whole: true,
			Rows: [][]string{{"tool_selection_accuracy", "How well the tools that were called are the expected ones, whatever their order and their arguments."}},
		})
	})
	drawn(t, "list_empty", func(s terminal.Style, w io.Writer) error {
		return s.List(w, terminal.List{Heads: []string{"NAME"}, Empty: "There is no dataset yet. Create one with `assay dataset create NAME --items FILE`."})
	})
	drawn(t, "sheet", func(s terminal.Style, w io.Writer) error {
		return s.Sheet(w, terminal.Sheet{
			Name: "Support answers", Kind: "evaluation 1", Notes: []string{"assay run 1 --wait"},
			Facts: []terminal.Fact{
				{Name: "dataset", Value: "1"},
				{Name: "tags", Value: ""},
				{Name: "description", Value: "What is measured here, and why it is measured at all, does not fit on one line."},
			},
		})
	})
	drawn(t, "checks", func(s terminal.Style, w io.Writer) error {
		return s.Checks(w, terminal.Checks{
			Lines: []terminal.CheckLine{
				{Name: "server", State: "ok", Text: "http://localhost:4318, version dev"},
				{Name: "clickhouse", State: "problem", Text: "ClickHouse does not respond, so traces cannot be read: check ASSAY_CLICKHOUSE_URL and the server."},
				{Name: "traces", State: "skipped", Text: "the key lacks the scope traces:read"},
			},
			Summary: "1 problem found.",
		})
	})
}

func TestItemsAreDrawn(t *testing.T) {
	t.Parallel()
	items := terminal.Items{
		Name: "Support answers", Run: "7", Total: 3, Noun: "failing item", Notes: []string{"2 of 3 are shown: use --limit for more."},
		Items: []terminal.Item{
			{
				ID: "17", Status: "failed", Scores: []string{"overall 0.161", "exact_match 0.000"}, Remarks: []string{"exact_match: The texts differ."},
				Input:  jsontext.Value(`"How do I reset my password, if I have neither my telephone nor access to the address that I signed up with\u001b[2J, years ago?"`),
				Output: jsontext.Value(`{"answer":["Use","the link"]}`), Expected: jsontext.Value(`"Use the link on the sign-in page."`),
			},
			{
				ID: "18", Status: "errored", Scores: []string{"exact_match –"}, Problem: "timeout: The target did not answer within 30 s.",
				Input: jsontext.Value(`[{"role":"user","content":"Where is my invoice?"}]`), Output: jsontext.Value("null"),
			},
		},
	}
	drawn(t, "items", func(s terminal.Style, w io.Writer) error { return s.Items(w, items, false) })
	drawn(t, "items_full", func(s terminal.Style, w io.Writer) error { return s.Items(w, items, true) })
	golden(t, "item_text", terminal.ItemText(items.Items[0])+"\n\n"+terminal.ItemText(items.Items[1])+"\n")
}

func TestOnlyATerminalHides(t *testing.T) {
	t.Parallel()
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	restore, hidden := terminal.Hide(f)
	restore()
	require.False(t, hidden)
}
