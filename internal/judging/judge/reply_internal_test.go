package judge

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/schema"
)

// known is the check code that replies have to repeat here.
const known = "check-0123456789abcdef"

// specs are judges of every scale, with whether they may abstain.
var specs = map[string]Spec{
	"binary":      {Scale: Scale{Type: ScaleBinary}, AllowAbstain: true},
	"numeric":     {Scale: Scale{Type: ScaleNumeric, Min: -0.5, Max: 2}},
	"likert":      {Scale: Scale{Type: ScaleLikert, Min: 0, Max: 4}, AllowAbstain: true},
	"categorical": {Scale: Scale{Type: ScaleCategorical, Labels: []Label{{Name: "4", Score: 0.25}, {Name: "good", Score: 1}, {Name: "Good", Score: 0.75}}}},
	"criteria": {
		Scale:    Scale{Type: ScaleLikert, Min: 1, Max: 5},
		Criteria: []Criterion{{Key: "tone", Weight: 3}, {Key: "length", Weight: 1}}, PassThreshold: 0.5,
	},
	"pairwise": {Scale: Scale{Type: ScaleBinary}, Pairwise: true, AllowAbstain: true},
}

// rest is what a reply has besides its rating.
const rest = `{"check":"` + known + `","reasoning":"It is so.","confidence":0.75,`

// valid are replies that the scales ask for, by what they have in the place of a rating,
// with the label and the score that they stand for.
var valid = map[string]map[string]Rating{
	"binary":      {`"rating":"pass"`: {Label: "pass", Score: 1}, `"rating":"fail"`: {Label: "fail"}},
	"numeric":     {`"rating":-0.5`: {Label: "-0.5"}, `"rating":2e0`: {Label: "2", Score: 1}, `"rating":-0.0`: {Label: "0", Score: 0.2}},
	"likert":      {`"rating":0`: {Label: "0"}, `"rating":-0`: {Label: "0"}, `"rating":3.0`: {Label: "3", Score: 0.75}, `"rating":4`: {Label: "4", Score: 1}},
	"categorical": {`"rating":"4"`: {Label: "4", Score: 0.25}, `"rating":"good"`: {Label: "good", Score: 1}, `"rating":"Good"`: {Label: "Good", Score: 0.75}},
	"criteria": {
		`"ratings":{"tone":3,"length":3}`: {Label: "pass", Score: 0.5},
		`"ratings":{"length":5,"tone":1}`: {Label: "fail", Score: 0.25},
	},
	"pairwise": {`"winner":"first"`: {Label: "win", Score: 1}, `"winner":"second"`: {Label: "loss"}, `"winner":"tie"`: {Label: "tie", Score: 0.5}},
}

// malformed are replies of no scale, as wholes.
var malformed = map[string]string{
	"nothing":                 ``,
	"a text":                  `"pass"`,
	"null":                    `null`,
	"a list":                  `[{"check":"` + known + `"}]`,
	"an empty object":         `{}`,
	"cut":                     rest + `"rating":"pass"`,
	"a further value":         rest + `"rating":"pass"} {}`,
	"an unknown member":       rest + `"rating":"pass","score":1}`,
	"a member twice":          rest + `"rating":"fail","rating":"pass"}`,
	"another case of a name":  strings.Replace(rest, "check", "Check", 1) + `"rating":"pass"}`,
	"no rating":               rest + `"abstain":false}`,
	"a confidence in words":   `{"check":"` + known + `","reasoning":"","confidence":"high","rating":"pass"}`,
	"an endless confidence":   `{"check":"` + known + `","reasoning":"","confidence":1e999,"rating":"pass"}`,
	"a check that is a list":  `{"check":["` + known + `"],"reasoning":"","confidence":1,"rating":"pass"}`,
	"text that is no UTF-8":   rest + "\"rating\":\"pa\xffss\"}",
	"an escape that is none":  rest + `"rating":"\x70ass"}`,
	"half of a pair of UTF16": rest + `"rating":"\ud800"}`,
}

// off are ratings that are on no scale here.
var off = []string{
	`null`, `[]`, `["pass"]`, `{}`, `{"rating":"pass"}`, `""`, `" pass"`, `"PASS"`, `"pass\u0000"`, `"excellent"`, `"NaN"`, `"Infinity"`, `"-1"`, `-1`, `-0.6`, `6`,
	`1e999`, `-1e999`, `2.5`, `99999999999999999999`,
}

// replyOf is a reply with what a spec has in the place of a rating.
func replyOf(s Spec, rated string) string {
	if s.AllowAbstain {
		return rest + `"abstain":false,` + rated + `}`
	}
	return rest + rated + `}`
}

// replyWith is a reply with a rating where the spec has it.
func replyWith(s Spec, rating string) string {
	switch {
	case s.Pairwise:
		return replyOf(s, `"winner":`+rating)
	case len(s.Criteria) > 0:
		return replyOf(s, `"ratings":{"length":5,"tone":`+rating+`}`)
	}
	return replyOf(s, `"rating":`+rating)
}

func TestRepliesOnEveryScale(t *testing.T) {
	t.Parallel()
	for name, s := range specs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for reply, want := range valid[name] {
				text := jsontext.Value(replyOf(s, reply))
				require.True(t, inSchema(t, s, text), reply)
				op, failed := s.read(text, known, ours)
				require.Nil(t, failed, reply)
				require.Equal(t, want.Label, op.Label, reply)
				require.InDelta(t, want.Score, op.Score, 1e-12, reply)
				require.Equal(t, []any{"It is so.", 0.75, false}, []any{op.reasoning, op.confidence, op.abstained})
				require.Len(t, op.criteria, len(s.Criteria))

				_, failed = s.read(text, "check-fedcba9876543210", ours)
				require.Equal(t, CodeCheckMissing, failed.Code, "the code of another case")
			}
			for what, text := range malformed {
				_, failed := s.read(jsontext.Value(text), known, ours)
				require.NotNil(t, failed, what)
			}
			for _, rating := range off {
				text := jsontext.Value(replyWith(s, rating))
				require.False(t, inSchema(t, s, text), rating)
				op, failed := s.read(text, known, ours)
				require.NotNil(t, failed, rating)
				require.Equal(t, CodeWrongSchema, failed.Code, rating)
				require.Zero(t, op)
			}
			abstains := jsontext.Value(rest + `"abstain":true}`)
			op, failed := s.read(abstains, known, ours)
			if s.AllowAbstain {
				require.Nil(t, failed)
				require.True(t, op.abstained)
				require.Zero(t, op.Rating)
			} else {
				require.Equal(t, CodeWrongSchema, failed.Code, "the judge has to rate")
			}
		})
	}
}

func TestTheSecondOfTwoAnswersWins(t *testing.T) {
	t.Parallel()
	for winner, want := range map[string]string{winnerFirst: LabelLoss, winnerSecond: LabelWin, winnerTie: LabelTie} {
		op, failed := specs["pairwise"].read(jsontext.Value(rest+`"winner":"`+winner+`"}`), known, theirs)
		require.Nil(t, failed)
		require.Equal(t, want, op.Label, winner)
	}
}

func TestConfidenceIsAShare(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{`-1`: 0, `0.25`: 0.25, `90`: 1} {
		op, failed := specs["binary"].read(jsontext.Value(strings.Replace(rest, "0.75", text, 1)+`"rating":"pass"}`), known, single)
		require.Nil(t, failed)
		require.InDelta(t, want, op.confidence, 0, text)
	}
}

// Examples teach a model what to answer, so what they show has to be an answer.
func TestExamplesAreRepliesOfTheirScale(t *testing.T) {
	t.Parallel()
	for name, labels := range map[string][]string{
		"binary": {"pass", "fail"}, "numeric": {"-0.5", "0", "1.25"}, "likert": {"0", "4"}, "categorical": {"4", "good"}, "criteria": {"1", "5"}, "pairwise": {"win", "loss", "tie"},
	} {
		s := specs[name]
		for _, label := range labels {
			text, err := s.exampleReply(Example{Label: label, Note: "Because."}, known)
			require.NoError(t, err, name)
			require.True(t, inSchema(t, s, jsontext.Value(text)), text)
			op, failed := s.read(jsontext.Value(text), known, ours)
			require.Nil(t, failed, text)
			if len(s.Criteria) == 0 {
				require.Equal(t, label, op.Label, text)
			}
		}
		if !s.Pairwise {
			_, err := s.exampleReply(Example{Label: "excellent"}, known)
			require.ErrorContains(t, err, "not on the scale")
		}
	}
}

// inSchema reports whether a text is what a provider is asked for.
func inSchema(t *testing.T, s Spec, text jsontext.Value) bool {
	t.Helper()
	asked, err := s.schema()
	require.NoError(t, err)
	compiled, err := schema.Compile(string(asked))
	require.NoError(t, err)
	work := schema.NewWork()
	doc, err := work.Decode(text)
	if err != nil {
		return false
	}
	ok, _, err := compiled.Check(&work, doc)
	return err == nil && ok
}

// FuzzRead feeds whatever a model may answer: there is an opinion on the scale, or a
// failure and no opinion; and whatever is of the schema and has the code is an opinion.
func FuzzRead(f *testing.F) {
	for name, replies := range valid {
		for reply := range replies {
			f.Add(name, replyOf(specs[name], reply), true)
		}
		for _, rating := range off {
			f.Add(name, replyWith(specs[name], rating), false)
		}
	}
	for _, text := range malformed {
		f.Add("binary", text, false)
	}
	f.Add("likert", rest+`"abstain":true,"rating":null}`, true)
	f.Fuzz(func(t *testing.T, name, text string, second bool) {
		s, ok := specs[name]
		if !ok {
			return
		}
		o := single
		if s.Pairwise {
			o = map[bool]order{false: ours, true: theirs}[second]
		}
		op, failed := s.read(jsontext.Value(text), known, o)
		if failed != nil {
			require.Zero(t, op)
			require.Contains(t, []string{CodeWrongSchema, CodeCheckMissing}, failed.Code)
			require.False(t, failed.Code == CodeWrongSchema && inSchema(t, s, jsontext.Value(text)), "%s is of the schema: %s", text, failed.Message)
			return
		}
		require.True(t, op.confidence >= 0 && op.confidence <= 1, op.confidence)
		if op.abstained {
			require.True(t, s.AllowAbstain)
			require.Zero(t, op.Rating)
			return
		}
		require.True(t, op.Score >= 0 && op.Score <= 1, op.Score)
		switch {
		case s.Pairwise:
			require.Contains(t, []string{LabelWin, LabelLoss, LabelTie}, op.Label)
		case len(s.Criteria) > 0:
			require.Len(t, op.criteria, len(s.Criteria))
			for _, c := range op.criteria {
				require.Contains(t, s.Scale.names(), c.Label)
			}
		case s.Scale.Type == ScaleNumeric:
			again, ok := s.Scale.rate(op.json())
			require.True(t, ok)
			require.Equal(t, op.Rating, again, "what is written is what was read")
		default:
			require.Contains(t, s.Scale.names(), op.Label)
		}
	})
}
