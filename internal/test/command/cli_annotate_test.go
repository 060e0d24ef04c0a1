package command_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// TestAnnotate answers tasks through the server, with the keys on standard input.
func TestAnnotate(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	person := func(t *testing.T) (*testkit.Client, []string) {
		_, p := c.Person(t, "annotator")
		return p, []string{"ASSAY_URL=" + k.URL, "ASSAY_API_KEY=" + p.Key.Reveal(), "COLUMNS=80"}
	}
	topics := map[string]any{"fields": []any{map[string]any{"key": "topic", "type": "choice", "options": []string{"billing", "delivery", "other"}, "required": true}}}
	answers := func(t *testing.T, p *testkit.Client, task int64) (out []string) {
		t.Helper()
		items, err := p.ListAnnotationItems(t.Context(), task, "")
		require.NoError(t, err)
		for i := len(items.Items) - 1; i >= 0; i-- { // oldest first
			said := []string{items.Items[i].Status}
			say := func(args ...any) { said = append(said, fmt.Sprint(args...)) }
			for _, a := range items.Items[i].Annotations {
				require.NotNil(t, a.DurationMs, "time spent is sent")
				if a.Label != nil {
					say(*a.Label)
				}
				if a.Rating != nil {
					say(*a.Rating)
				}
				if a.Feedback != nil {
					say("(", *a.Feedback, ")")
				}
				if len(a.Labels) > 0 {
					say(a.Labels)
				}
				if a.CorrectedOutput != nil {
					say("→ ", a.CorrectedOutput)
				}
			}
			for _, s := range items.Items[i].Skips {
				say("skipped: ", s.Reason)
			}
			out = append(out, strings.Join(said, " "))
		}
		return out
	}

	t.Run("keys answer, skip, note and go back", func(t *testing.T) {
		t.Parallel()
		p, environ := person(t)
		task := c.AnnotationTask(t, 4, map[string]any{"type": "classification", "labelSchema": topics, "guidelines": "Choose what the customer wants."})
		// 1 billing; x is no key; a note and 2; back, twice, and change the first; skip; then quit at the last.
		got := runWith(environ, "1x\nn\nunsure\n2uu3\ns\nToo short\nq", "annotate", strconv.FormatInt(task.ID, 10))
		require.Equal(t, 0, got.Code, got.Err)
		require.Equal(t, []string{"annotated other", "annotated delivery (unsure)", "skipped skipped: Too short", "in_progress"}, answers(t, p, task.ID))
		require.Contains(t, got.Out, "item 0")
		require.Contains(t, got.Out, `"x" means nothing here: press ? for help.`)
		require.Contains(t, got.Out, "you said: topic billing")
		require.Contains(t, got.Out, "2 answered, 1 skipped. Item ")
		for line := range strings.Lines(got.Out) {
			require.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), 80, line)
		}

		// The person who comes back gets the item that they hold, by the name of the task.
		got = runWith(environ, "?1", "annotate", task.Name)
		require.Equal(t, 0, got.Code, got.Err)
		require.Contains(t, got.Out, "Choose what the customer wants.")
		require.Contains(t, got.Out, "The task is complete: all of its 4 items")
	})

	t.Run("ratings have a key for each step", func(t *testing.T) {
		t.Parallel()
		p, environ := person(t)
		task := c.AnnotationTask(t, 2, map[string]any{})
		got := runWith(environ, "9\n5\n1\n", "annotate", strconv.FormatInt(task.ID, 10))
		require.Equal(t, 0, got.Code, got.Err)
		require.Contains(t, got.Out, "1 worst  2   3   4   5 best")
		require.Equal(t, []string{"annotated 5", "annotated 1"}, answers(t, p, task.ID))
	})

	t.Run("lines answer what keys cannot", func(t *testing.T) {
		t.Parallel()
		p, environ := person(t)
		many := map[string]any{"fields": []any{
			map[string]any{"key": "tags", "type": "choices", "options": []string{"rude", "late", "wrong"}, "required": true},
			map[string]any{"key": "score", "type": "number", "min": 0, "max": 10},
			map[string]any{"key": "urgent", "type": "boolean"},
		}}
		task := c.AnnotationTask(t, 2, map[string]any{"type": "multi_label", "labelSchema": many})
		got := runWith(environ, "1, wrong\n7.5\n1\nsad\n:u\nlate\n\n-\n:s\nNo time\n", "annotate", strconv.FormatInt(task.ID, 10))
		require.Equal(t, 0, got.Code, got.Err)
		require.Contains(t, got.Out, `"sad" is not an option: write one of rude, late, wrong`)
		require.Equal(t, []string{"annotated map[tags:[late]]", "skipped skipped: No time"}, answers(t, p, task.ID))

		task = c.AnnotationTask(t, 1, map[string]any{"type": "free_text"})
		got = runWith(environ, "\n:n\n::) fine,\\\nmostly\n", "annotate", strconv.FormatInt(task.ID, 10))
		require.Equal(t, 0, got.Code, got.Err)
		require.Contains(t, got.Out, "An answer is needed")
		require.Equal(t, []string{"annotated (:) fine,\nmostly)"}, answers(t, p, task.ID))

		task = c.AnnotationTask(t, 0, map[string]any{"type": "correction"})
		_, err := c.AddAnnotationItems(t.Context(), task.ID, map[string]any{"items": []any{map[string]any{"content": map[string]any{"output": map[string]any{"a": 1}, "input": "ask\x1b[2J"}}}})
		require.NoError(t, err)
		got = runWith(environ, "not JSON\n{\"a\": 2}\n", "annotate", strconv.FormatInt(task.ID, 10))
		require.Equal(t, 0, got.Code, got.Err)
		require.Contains(t, got.Out, "this is not JSON")
		require.NotContains(t, got.Out, "\x1b")
		require.Less(t, strings.Index(got.Out, "input"), strings.Index(got.Out, "output"))
		require.Equal(t, []string{"annotated → map[a:2]"}, answers(t, p, task.ID))
	})

	t.Run("an answer that others can read is not changed, and the session goes on", func(t *testing.T) {
		t.Parallel()
		p, environ := person(t)
		other, _ := person(t)
		task := c.AnnotationTask(t, 2, map[string]any{"type": "classification", "labelSchema": topics, "annotatorsPerItem": 2})
		items, err := c.ListAnnotationItems(t.Context(), task.ID, "")
		require.NoError(t, err)
		_, err = other.Answer(t.Context(), task.ID, items.Items[1].ID, map[string]any{"label": "billing", "durationMs": 5})
		require.NoError(t, err)
		got := runWith(environ, "1u22", "annotate", strconv.FormatInt(task.ID, 10))
		require.Equal(t, 0, got.Code, got.Err)
		require.Contains(t, strings.Join(strings.Fields(got.Out), " "), "Not stored: The item of the blind task is complete")
		require.Equal(t, []string{"annotated billing billing", "in_progress delivery"}, answers(t, p, task.ID))
		require.Contains(t, got.Out, "No item is left for you")
	})

	t.Run("files leave and enter tasks", func(t *testing.T) {
		t.Parallel()
		environ := []string{"ASSAY_URL=" + k.URL, "ASSAY_API_KEY=" + c.Key.Reveal()}
		from := c.AnnotationTask(t, 2, map[string]any{})
		to := c.AnnotationTask(t, 0, map[string]any{"blind": false})
		for _, ending := range []string{"jsonl", "csv", "json"} {
			file := filepath.Join(t.TempDir(), "items."+ending)
			got := run(environ, "annotate", "export", strconv.FormatInt(from.ID, 10), file)
			require.Equal(t, 0, got.Code, got.Err)
			for range 2 { // the second adds nothing
				got = run(environ, "annotate", "import", file, strconv.FormatInt(to.ID, 10))
				require.Equal(t, result{0, "2 items created with 0 imported answers, 0 refused\n", ""}, got)
			}
			task, err := c.GetAnnotationTask(t.Context(), to.ID)
			require.NoError(t, err)
			require.EqualValues(t, 2, task.TotalItems, "the same items in another format are the same request")
		}
		lines := "{\"content\": \"x\", \"annotations\": [{\"annotator\": \"Ada\", \"rating\": 4}]}\n{\"contents\": 1}\n"
		got := runWith(environ, lines, "annotate", "import", "-", strconv.FormatInt(to.ID, 10), "--format", "jsonl")
		require.Equal(t, 2, got.Code)
		require.Contains(t, got.Err, "-, line 2: is not an item")
		require.Contains(t, got.Err, "or pass --go-on")
		got = runWith(environ, lines, "annotate", "import", "-", strconv.FormatInt(to.ID, 10), "--format", "jsonl", "--go-on")
		require.Equal(t, 1, got.Code)
		require.Equal(t, "1 items created with 1 imported answers, 1 refused\n", got.Out)
		got = run(environ, "annotate", "export", strconv.FormatInt(to.ID, 10))
		require.Contains(t, got.Out, `"annotations":[{"annotator":"Ada","source":"import","rating":4}]`)
		got = run(environ, "annotate", "import", "items.xlsx", strconv.FormatInt(to.ID, 10))
		require.Contains(t, got.Err, "pass --format jsonl, csv or label-studio")
	})

	t.Run("what cannot be answered says what to do", func(t *testing.T) {
		t.Parallel()
		_, environ := person(t)
		task := c.AnnotationTask(t, 0, map[string]any{})
		service := []string{"ASSAY_URL=" + k.URL, "ASSAY_API_KEY=" + c.Key.Reveal()}
		for title, one := range map[string]struct {
			environ []string
			task    string
			code    int
			want    string
		}{
			"no items":      {environ, strconv.FormatInt(task.ID, 10), 0, "The task has no items. Add some with"},
			"no person":     {service, strconv.FormatInt(task.ID, 10), 2, "assay login"},
			"no task":       {environ, "nothing of this name", 2, "`assay annotate list` shows them"},
			"no such id":    {environ, "4711", 2, "not found"},
			"no key at all": {[]string{"ASSAY_URL=" + k.URL, "XDG_CONFIG_HOME=/nowhere", "HOME=/nowhere"}, "1", 2, "assay login"},
		} {
			got := runWith(one.environ, "1", "annotate", one.task)
			require.Equal(t, one.code, got.Code, "%s: %s", title, got.Err)
			require.Contains(t, got.Out+got.Err, one.want, title)
		}
		got := run(environ, "annotate", "list", "--search", task.Name)
		require.Equal(t, 0, got.Code, got.Err)
		require.Contains(t, got.Out, task.Name)
	})
}
