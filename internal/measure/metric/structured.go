package metric

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/schema"
)

var fenceParameter = Parameter{
	Name: "fence", Type: Boolean, Default: jsontext.Value(`false`),
	Summary: "Whether the JSON may stand in one Markdown code block, as many models write it.",
}

func jsonValid() spec {
	return spec{
		Definition: share(Definition{
			Name: "json_valid", Kind: Binary,
			Summary:  "1 if the output is JSON (RFC 8259).",
			Needs:    []Need{NeedOutput},
			Abstains: "The item has no output, or the output is larger than what is read.",
			Parameters: []Parameter{
				{Name: "root", Type: String, Enum: []string{"any", "object", "array"}, Default: jsontext.Value(`"any"`), Summary: "What the JSON has to be."},
				fenceParameter,
			},
		}),
		build: func(_ *Registry, s settings) (scorer, []Problem) {
			return func(l *look) Score { return scoreValid(l, s) }, nil
		},
	}
}

func scoreValid(l *look, s settings) Score {
	v, instead, ok := l.structured(s)
	if !ok {
		return instead
	}
	root := s.text("root")
	_, isObject := v.(map[string]any)
	_, isList := v.([]any)
	if root == "object" && !isObject || root == "array" && !isList {
		return Scored(0, "The output is JSON, but no "+root+".")
	}
	return Scored(1, "")
}

// structured returns the JSON that an output is: text is read as JSON, since
// that is what an application does with it. Anything else is JSON already.
func (l *look) structured(s settings) (v any, instead Score, ok bool) {
	if v, instead, ok = l.part(s); !ok {
		return nil, instead, false
	}
	text, isText := v.(string)
	if !isText {
		return v, Score{}, true
	}
	if s.yes("fence") {
		text = unfence(text)
	}
	v, err := l.Decode([]byte(text))
	switch {
	case errors.Is(err, schema.ErrNotJSON):
		return nil, Scored(0, "The output is not JSON."), false
	case err != nil:
		return nil, unread("output", err), false
	}
	return v, Score{}, true
}

// unfence returns what is in a code block, if the text is one.
func unfence(text string) string {
	const fence = "```"
	inner, opened := strings.CutPrefix(strings.TrimSpace(text), fence)
	inner, closed := strings.CutSuffix(inner, fence)
	if !opened || !closed {
		return text
	}
	language, rest, _ := strings.Cut(inner, "\n")
	if language = strings.TrimSpace(language); language != "" && !strings.EqualFold(language, "json") {
		return text
	}
	return rest
}

func jsonSchema() spec {
	return spec{
		Definition: share(Definition{
			Name: "json_schema", Kind: Binary,
			Summary:  "1 if the output is JSON that matches a JSON Schema.",
			Needs:    []Need{NeedOutput},
			Abstains: "The item has no output, or neither the parameters nor the item give a schema.",
			Parameters: []Parameter{
				{Name: "schema", Type: Object, MaxLength: schema.MaxBytes, Summary: "A JSON Schema that refers only to itself, of draft 2020-12 unless it says otherwise. Without it, an expected output that has a `$schema` is the schema."},
				fenceParameter, pathParameter,
			},
		}),
		build: func(r *Registry, s settings) (scorer, []Problem) {
			problems := checkPaths(s)
			if !s.has("schema") {
				return func(l *look) Score { return scoreOwnSchema(r, l, s) }, problems
			}
			compiled, err := r.schemas.get(s.document("schema").text, schema.Compile)
			if err != nil {
				problems = append(problems, Problem{"schema", "format", err.Error()})
			}
			return func(l *look) Score { return scoreSchema(l, s, compiled) }, problems
		},
	}
}

// scoreOwnSchema takes the schema from the expected output.
func scoreOwnSchema(r *Registry, l *look, s settings) Score {
	none := Missing(ReasonNotConfigured, "Neither the parameters nor the item give a schema.")
	expected, err := l.readExpected()
	if errors.Is(err, errAbsent) {
		return none
	} else if err != nil {
		return unread("expected output", err)
	}
	object, _ := expected.(map[string]any)
	if _, ok := object["$schema"].(string); !ok {
		return none
	}
	if !l.Spend(costCompile * int64(len(l.ExpectedOutput))) {
		return tooCostly()
	}
	compiled, err := r.schemas.get(string(l.ExpectedOutput), schema.Compile)
	if err != nil {
		return Missing(ReasonBadExpectation, "The expected output "+err.Error()+".")
	}
	return scoreSchema(l, s, compiled)
}

func scoreSchema(l *look, s settings, compiled *schema.Schema) Score {
	v, instead, ok := l.structured(s)
	if !ok {
		return instead
	}
	matches, wrong, err := compiled.Check(&l.Work, v)
	switch {
	case errors.Is(err, schema.ErrTooLarge):
		return Missing(ReasonTooLarge, "The output has a number that is larger or longer than what is compared with a schema.")
	case errors.Is(err, schema.ErrTooCostly):
		return tooCostly()
	case err != nil:
		return Missing(ReasonBadValue, "The output cannot be checked with this schema.")
	case matches:
		return Scored(1, "")
	}
	return Scored(0, complaint(wrong))
}

// complaint says what is wrong with an output that does not match: the first
// places in their order, and how many more there are.
func complaint(wrong []schema.Violation) string {
	const shown = 3
	all := make([]string, len(wrong))
	for i, v := range wrong {
		all[i] = describe(v)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 {
		return "The output does not match the schema."
	}
	words := strings.Join(all[:min(shown, len(all))], "; ")
	if more := len(all) - shown; more > 0 {
		words += fmt.Sprintf("; and %d more", more)
	}
	return "The output does not match the schema: " + words + "."
}

func describe(v schema.Violation) string {
	place := "it"
	if v.Pointer != "" {
		place = cut(v.Pointer, 100)
	}
	switch {
	case len(v.Missing) > 0:
		return place + " lacks " + cut(strings.Join(v.Missing, ", "), 100)
	case len(v.Want) > 0:
		return place + " is of type " + v.Got + ", not " + strings.Join(v.Want, " or ")
	case v.Extra > 0:
		return place + " has members that the schema does not allow: " + strconv.Itoa(v.Extra)
	case v.Rule == "":
		return place + " must not be there"
	}
	return place + " breaks the rule " + cut(v.Rule, 100)
}
