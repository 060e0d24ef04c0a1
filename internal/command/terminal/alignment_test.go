package terminal_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/terminal"
)

func measure(name string, value, lower, upper, needs float64, outcome string, percent bool) terminal.Measure {
	m := terminal.Measure{Estimate: terminal.Estimate{Name: name, Value: &value, Lower: &lower, Upper: &upper, N: 60, Status: "ok", Percent: percent}, Outcome: outcome}
	if needs > 0 {
		m.Needs = &needs
	}
	return m
}

func alignments() map[string]terminal.Alignment {
	open := terminal.Alignment{
		Name: "helpfulness", Kind: "version 2 · 60 labelled of 5,000 judged", Verdict: "insufficient_data", Settle: "About 85 more labels would probably settle it.", Level: 0.95,
		Labels: []string{"fail", "pass"}, Confusion: [][]int{{10, 2}, {5, 43}},
		Measures: []terminal.Measure{
			measure("tpr", 0.8958, 0.778, 0.955, 0.9, "insufficient_data", true), measure("tnr", 0.8333, 0.552, 0.953, 0.9, "insufficient_data", true),
			measure("kappa", 0.667, 0.441, 0.845, 0.6, "insufficient_data", false), measure("ac1", 0.81, 0.65, 0.92, 0, "", false),
		},
		Facts: []terminal.Fact{{Name: "people", Value: "one label for each answer: how well people agree with each other is not known"}, {Name: "pass rate", Value: "78.1% [69.3%, 85.6%] as people would give it"}},
		Disagreements: []terminal.Disagreement{
			{Item: "item 17", People: "fail", Judge: "pass", Reason: "The answer " + hostile + " is helpful and " + strings.Repeat("says what to do ", 8)},
			{Item: "item 4711", People: "pass", Judge: "fail", Reason: ""},
		},
		Notes: []string{"assay judge next-labels helpfulness"},
	}
	many := open
	many.Verdict, many.Labels = "misaligned", []string{"1", "2", "3", "4", "5"}
	many.Confusion = [][]int{{120, 3, 1, 0, 0}, {4, 51, 9, 1, 0}, {0, 8, 1024, 7, 1}, {0, 1, 12, 90, 3}, {0, 0, 0, 0, 0}}
	return map[string]terminal.Alignment{
		"open": open, "many": many,
		"none": {Name: "tone", Kind: "version 1 · 0 labelled of 0 judged", Verdict: "insufficient_data", Settle: "Nothing is known about this judge."},
	}
}

func judgements() map[string]terminal.Judgement {
	facts := []terminal.Fact{{Name: "score", Value: "0.750 (4 on the judge's scale)"}, {Name: "agreement", Value: "2 of 3 opinions"}, {Name: "cost", Value: "$0.0021"}}
	return map[string]terminal.Judgement{
		"pass": {
			Name: "tone", Kind: "version 1 · result 12", Status: "completed", Passed: true, Label: "4", Facts: facts, Reasoning: "Polite. " + hostile,
			Criteria: []terminal.Criterion{{Name: "polite", Label: "5", Score: 1}, {Name: "clear", Label: "3", Score: 0.5}},
		},
		"fail":      {Name: "tone", Kind: "version 1 · result 13", Status: "completed", Label: "2", Facts: facts},
		"abstained": {Name: "tone", Kind: "version 1 · result 14", Status: "abstained", Problem: "tie: The judge's opinions are divided.", Facts: facts},
		"failed":    {Name: "tone", Kind: "version 1 · result 15", Status: "failed", Problem: "answer_not_json: The answer is not JSON."},
	}
}

func TestJudgesAreDrawn(t *testing.T) {
	t.Parallel()
	check := func(name string, to func(terminal.Style, *bytes.Buffer) error) {
		for suffix, s := range map[string]terminal.Style{"_80": {Width: 80}, "_colour_80": {Width: 80, Colour: true}, "_piped": {}} {
			t.Run(name+suffix, func(t *testing.T) {
				t.Parallel()
				var b, plain bytes.Buffer
				require.NoError(t, to(s, &b))
				golden(t, name+suffix, b.String())
				fits(t, s, b.String())
				require.NoError(t, to(terminal.Style{Width: s.Width}, &plain))
				require.Equal(t, plain.String(), uncoloured(b.String()), "colours change nothing else")
			})
		}
	}
	for name, a := range alignments() {
		check("alignment_"+name, func(s terminal.Style, b *bytes.Buffer) error { return s.Alignment(b, a) })
	}
	for name, j := range judgements() {
		check("judgement_"+name, func(s terminal.Style, b *bytes.Buffer) error { return s.Judgement(b, j) })
	}
}
