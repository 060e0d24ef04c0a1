package annotation

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/review/label"
)

// Gold questions are items whose label is known, among others whose label is not. They
// measure annotators, so an annotator must not be able to tell them from other items:
// they need as many people, stand in the same queue, count in the same totals, and go
// to adjudication by the same rules. Their labels are never returned. People meet them
// as often as there are gold questions among the items.

// ErrGold is returned when a change of a task would make the labels of its gold
// questions meaningless.
var ErrGold = fault.New(fault.Conflict, "task_has_gold", "The task has gold questions, whose labels belong to its type and label schema. Create a new task.")

// goldLabel reads the label of a gold question as answers are compared by.
func (t Task) goldLabel(gold jsontext.Value) (right, wrong string) {
	if t.Type.Incomparable() != "" {
		return "", "cannot be set: the task asks for answers that are not compared"
	}
	if t.Type == label.Rating {
		n, ok := label.Number(gold)
		if scale := t.Schema.Scale(); !ok || n < scale.Min || n > scale.Max {
			return "", fmt.Sprintf("must be a rating between %v and %v", scale.Min, scale.Max)
		}
		return ratingText(n + 0), ""
	}
	main := t.Schema.Main()
	if main == nil {
		return "", "cannot be set: the task has no label schema with one choice, which says what the label can be"
	}
	if gold.Kind() != '"' || json.Unmarshal(gold, &right) != nil || right == "" || !slices.Contains(main.Options, right) {
		return "", "must be one of the options of " + main.Key
	}
	return right, ""
}

// checkGold refuses gold questions with a label that the task does not have, and those
// that annotators could tell from the other items of the request: there must be as many
// ordinary ones of the same form. It replaces labels by what answers are compared by.
func (t Task) checkGold(items []NewItem) error {
	var bad []fault.Field
	say := func(i int, code, message string) {
		bad = append(bad, fault.Field{In: "body", Path: fmt.Sprintf("/items/%d/gold", i), Code: code, Message: message})
	}
	ordinary := map[string]int{}
	for _, i := range items {
		if i.Gold == nil {
			ordinary[i.form()]++
		}
	}
	for n, i := range items {
		if i.Gold == nil {
			continue
		}
		label, wrong := t.goldLabel(i.Gold)
		if wrong != "" {
			say(n, "format", wrong)
			continue
		}
		items[n].label = label
		if ordinary[i.form()]--; ordinary[i.form()] < 0 {
			say(n, "recognizable", "would be recognized: add it together with at least as many other items that have the same fields, the same keys in content and the same evaluationRunId")
		}
	}
	if len(bad) > 0 {
		return fault.New(fault.Validation, "invalid_request", "Gold questions are invalid.").WithFields(bad...)
	}
	return nil
}

// form is what an item looks like apart from what it says.
func (i NewItem) form() string {
	keys := []string{string(i.Content.Kind())}
	var content map[string]jsontext.Value
	if i.Content.Kind() == '{' && json.Unmarshal(i.Content, &content) == nil {
		keys = append(keys, slices.Sorted(maps.Keys(content))...)
	}
	return fmt.Sprint(i.Run, i.TestCase != 0, i.Trace != nil, i.Span != "", i.Suggestion != nil, strings.Join(keys, "\x00"))
}

// mixed is an order of items in which gold questions stand at random among the others;
// that of items without any is their own.
func mixed(items []NewItem) []int {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	if slices.ContainsFunc(items, func(i NewItem) bool { return i.Gold != nil }) {
		//nolint:gosec // a place takes chance, not secrecy
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}

// Known is what is known about the items of a task.
type Known struct {
	// Gold and Decided have labels by item; Confirmed whether a decision without a label
	// says that the annotators are right.
	Gold, Decided map[int64]string
	Confirmed     map[int64]bool
}

// Known returns what is known about the items of a task.
func (s *Service) Known(ctx context.Context, org principal.OrgID, task int64) (Known, error) {
	return s.store.known(ctx, org, task)
}

// Votes returns the answers of a task that everybody may read and that have a value to
// compare, and how many have none. It stops above most answers.
func (s *Service) Votes(ctx context.Context, org principal.OrgID, t Task, most int) (votes []Vote, without int, err error) {
	return s.store.openAnswers(ctx, org, t, most)
}

// Contents returns what some items of a task show.
func (s *Service) Contents(ctx context.Context, org principal.OrgID, task int64, items []int64) (map[int64]jsontext.Value, error) {
	return s.store.contents(ctx, org, task, items)
}

// Knowing reports whether a caller may see what gold questions say. Whoever answers the
// task may not, since how a figure changes with an answer tells which items are gold.
func (s *Service) Knowing(ctx context.Context, c principal.Caller, t Task) (bool, error) {
	if c.Role == principal.Annotator {
		return false, nil
	}
	if c.User == nil {
		return true, nil
	}
	if slices.Contains(t.Assignees, *c.User) {
		return false, nil
	}
	answered, err := s.store.hasAnswered(ctx, c.Org, t.ID, *c.User)
	return !answered, err
}
