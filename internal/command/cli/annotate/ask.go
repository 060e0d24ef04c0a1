package annotate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

// what a person did with an item.
type what int

const (
	answered what = iota
	skipped
	back
	quit
)

// action is what a person did, with what goes with it.
type action struct {
	what   what
	value  api.AnnotationValue
	reason string
	said   string // the answer in words
}

// errAgain asks the same question again.
var errAgain = errors.New("ask again")

// ask shows an item and asks everything that the task wants to know about it.
func (s *Session) ask(ctx context.Context, e *entry) (action, error) {
	if err := s.show(e); err != nil {
		return action{}, err
	}
	did := action{}
	var said []string
	for _, f := range fieldsOf(s.Task, member(e.Content, "output")) {
		value, words, stop, err := s.question(ctx, f, &did)
		if err != nil || stop {
			return did, err
		}
		if value != nil {
			f.put(&did.value, value)
			said = append(said, words)
		}
	}
	if len(said) == 0 {
		if err := s.say("Nothing was answered: say something, or skip the item with s."); err != nil {
			return did, err
		}
		return s.ask(ctx, e)
	}
	did.said = strings.Join(said, " · ")
	return did, nil
}

// question asks about one field until there is an answer, or the person wants something
// else. The value is nil if they leave it out.
func (s *Session) question(ctx context.Context, f field, did *action) (value any, words string, stop bool, err error) {
	for {
		if err := s.prompt(f); err != nil {
			return nil, "", true, err
		}
		if len(f.options) > 0 {
			value, words, stop, err = s.press(ctx, f, did)
		} else {
			value, words, stop, err = s.write(ctx, f, did)
		}
		if !errors.Is(err, errAgain) {
			return value, words, stop, err
		}
	}
}

// prompt says which keys there are, or what to write.
func (s *Session) prompt(f field) error {
	name := f.name
	if !f.required {
		name += " (optional)"
	}
	if len(f.options) == 0 {
		hint := f.hint
		if !f.required {
			hint += " An empty line leaves it out."
		}
		return s.say("%s: %s (:? for help)", name, hint)
	}
	var keys []terminal.Choice
	for _, o := range f.options {
		keys = append(keys, terminal.Choice{Key: string(o.key), Text: o.text})
	}
	if !f.required {
		keys = append(keys, terminal.Choice{Key: "-", Text: "leave out"})
	}
	if err := s.Style.Choices(s.Out, name, keys); err != nil {
		return err
	}
	return s.say("s skip · u previous · n note · ? help · q quit")
}

// press reads a key: an option, or a command.
func (s *Session) press(ctx context.Context, f field, did *action) (value any, words string, stop bool, err error) {
	k, err := s.in.key(ctx)
	if errors.Is(err, io.EOF) {
		did.what = quit
		return nil, "", true, nil
	}
	if err != nil {
		return nil, "", true, fmt.Errorf("no key could be read: %w", err)
	}
	for _, o := range f.options {
		if o.key == k {
			words := f.name + " " + string(o.key)
			if o.text != "" && f.name != "rating" {
				words = f.name + " " + o.text
			}
			return o.value, words, false, nil
		}
	}
	if k == '-' && !f.required {
		return nil, "", false, nil
	}
	stop, err = s.command(ctx, k, did)
	return nil, "", stop, err
}

// write reads a line: an answer, or a command behind a colon.
func (s *Session) write(ctx context.Context, f field, did *action) (value any, words string, stop bool, err error) {
	line, err := s.in.line(ctx)
	for err == nil && strings.HasSuffix(line, `\`) {
		var more string
		more, err = s.in.line(ctx)
		line = strings.TrimSuffix(line, `\`) + "\n" + more
	}
	switch {
	case errors.Is(err, io.EOF):
		did.what = quit
		return nil, "", true, nil
	case errors.Is(err, errLong):
		return nil, "", false, s.again("%s", err)
	case err != nil:
		return nil, "", true, fmt.Errorf("no line could be read: %w", err)
	case line == "" && !f.required:
		return nil, "", false, nil
	case line == "":
		return nil, "", false, s.again("An answer is needed: write one, or skip the item with :s.")
	}
	if rest, ok := strings.CutPrefix(line, ":"); ok {
		if !strings.HasPrefix(rest, ":") {
			k := '?'
			if r := []rune(rest); len(r) > 0 {
				k = r[0]
			}
			stop, err = s.command(ctx, k, did)
			return nil, "", stop, err
		}
		line = rest // two colons begin a text that begins with one
	}
	if value, err = f.read(line); err != nil {
		return nil, "", false, s.again("%s", err)
	}
	return value, f.name + " " + line, false, nil
}

// again says something, and asks the same question again.
func (s *Session) again(format string, args ...any) error {
	if err := s.say(format, args...); err != nil {
		return err
	}
	return errAgain
}

// command does what a key stands for that is not an answer.
func (s *Session) command(ctx context.Context, k rune, did *action) (stop bool, err error) {
	switch k {
	case 's':
		why, err := s.line(ctx, "Why do you skip it?")
		if err != nil {
			return true, quitAtEnd(err, did)
		}
		if why == "" {
			return false, s.again("The item is not skipped: others need to know why. Press s again and write a reason.")
		}
		did.what, did.reason = skipped, why
		return true, nil
	case 'u', keyBack, keyDelete:
		if s.place == 0 {
			return false, s.again("There is no earlier answer in this session.")
		}
		did.what = back
		return true, nil
	case 'n':
		if s.Task.Type == "free_text" {
			return false, s.again("The answer is a text: write what you want to note into it.")
		}
		note, err := s.line(ctx, "Note:")
		if err != nil {
			return true, quitAtEnd(err, did)
		}
		if did.value.Feedback = nil; note != "" {
			did.value.Feedback = &note
		}
		return false, errAgain
	case '?', 'h':
		if err := s.help(); err != nil {
			return true, err
		}
		return false, errAgain
	case 'q':
		did.what = quit
		return true, nil
	}
	return false, s.again("%q means nothing here: press ? for help.", string(k))
}

func quitAtEnd(err error, did *action) error {
	if errors.Is(err, io.EOF) {
		did.what = quit
		return nil
	}
	return err
}

func (s *Session) line(ctx context.Context, prompt string) (string, error) {
	if err := s.say("%s", prompt); err != nil {
		return "", err
	}
	return s.in.line(ctx)
}

// show draws an item with how far the person is.
func (s *Session) show(e *entry) error {
	head := fmt.Sprintf("item %d · %d of %d complete · %s", e.ID, s.complete, s.total, s.counted())
	if e.said != "" {
		head = fmt.Sprintf("item %d · you said: %s · answer again to change it", e.ID, e.said)
	}
	q := terminal.Question{Head: head, Parts: parts(e.Content)}
	if e.Suggestion != nil && e.Suggestion.Kind() != 'n' && !s.Task.Blind {
		q.Parts = append(q.Parts, terminal.Part{Name: "suggestion", Value: e.Suggestion})
	}
	return s.Style.Question(s.Out, q)
}

// help says what the task asks for and which keys there are.
func (s *Session) help() error {
	if g := api.Value(s.Task.Guidelines); g != "" {
		if err := s.Style.Question(s.Out, terminal.Question{Head: "guidelines", Parts: []terminal.Part{{Value: quoted(g)}}}); err != nil {
			return err
		}
	}
	return s.Style.Choices(s.Out, "keys", []terminal.Choice{
		{Key: "1-9", Text: "answer, where options have numbers; - leaves an optional one out"},
		{Key: "s", Text: "skip the item, with a reason"},
		{Key: "u", Text: "go back to the previous answer and change it; backspace does the same"},
		{Key: "n", Text: "write a note that is sent with the answer"},
		{Key: "?", Text: "show the guidelines and these keys"},
		{Key: "q", Text: "quit; what was answered is stored"},
		{Key: ":", Text: `before a key where a line is written, such as :s; :: begins a text with a colon, and \ at the end of a line goes on with the next`},
	})
}

func quoted(text string) jsontext.Value {
	v, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return nil
	}
	return v
}

// order is the order in which people read the parts of an item.
var order = []string{"input", "question", "prompt", "messages", "context", "output", "answer", "expected_output", "expectedOutput"}

// parts are the members of an item's content, those that people read first first.
func parts(content jsontext.Value) []terminal.Part {
	if content.Kind() != '{' {
		return []terminal.Part{{Value: content}}
	}
	var all, rest []terminal.Part
	from := jsontext.NewDecoder(strings.NewReader(string(content)))
	if _, err := from.ReadToken(); err != nil {
		return []terminal.Part{{Value: content}}
	}
	for from.PeekKind() == '"' {
		name, err := from.ReadToken()
		if err != nil {
			break
		}
		text := name.String()
		value, err := from.ReadValue()
		if err != nil {
			break
		}
		rest = append(rest, terminal.Part{Name: text, Value: value.Clone()})
	}
	for _, name := range order {
		for i, p := range rest {
			if p.Name == name {
				all, rest = append(all, p), slices.Delete(rest, i, i+1)
				break
			}
		}
	}
	return append(all, rest...)
}

// member is a member of an object, nil if there is none.
func member(content jsontext.Value, name string) jsontext.Value {
	var members map[string]jsontext.Value
	if content.Kind() != '{' || json.Unmarshal(content, &members) != nil {
		return nil
	}
	return members[name]
}
