package annotate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

// Session is a person who answers the items of a task.
type Session struct {
	Client *client.Client
	Task   api.AnnotationTask
	In     io.Reader
	Out    io.Writer
	Style  terminal.Style
	Now    func() time.Time

	in   *input
	done []entry // what the person has answered or skipped, in this order
	// place is the entry that the person is at: the next item if it is behind the last.
	place int
	total int64
	// complete is how many items need no more answers.
	complete int64
}

// entry is an item with what the person said about it.
type entry struct {
	item
	shown    time.Time
	answered bool // and not skipped
	said     string
}

// item is an item of the task as the server wrote it.
type item struct {
	ID         int64          `json:"id"`
	Content    jsontext.Value `json:"content"`
	Suggestion jsontext.Value `json:"suggestion"`
	Expires    *time.Time     `json:"lock_expires_at"`
}

// maxDuration is the longest time that the server takes for one answer.
const maxDuration = 24 * time.Hour

// Run asks the person until they quit or no item is left for them.
func (s *Session) Run(ctx context.Context) error {
	s.in = newInput(s.In)
	defer s.in.close()
	for {
		now, why, err := s.current(ctx)
		if err != nil {
			return s.stopped(err)
		}
		if now == nil {
			return s.end(why)
		}
		did, err := s.ask(ctx, now)
		if err != nil {
			return s.stopped(err)
		}
		switch did.what {
		case quit:
			return s.left(now)
		case back:
			s.place--
		case answered, skipped:
			if err := s.send(ctx, now, did); err != nil {
				return s.stopped(err)
			}
			s.place = len(s.done)
		}
	}
}

// current is the entry that the person is at; behind the last one, the next item. It is
// nil with why if there is none.
func (s *Session) current(ctx context.Context) (*entry, string, error) {
	if s.place < len(s.done) {
		e := s.done[s.place]
		e.shown = s.Now()
		return &e, "", nil
	}
	raw, err := s.Client.Call(func(k api.Client) error {
		_, err := k.TakeAnnotationItem(ctx, s.id(), api.TakeAnnotationItem{})
		return err
	})
	if err != nil {
		return nil, "", err
	}
	var next struct {
		Item     *item  `json:"item"`
		Reason   string `json:"reason"`
		Total    int64  `json:"total_items"`
		Complete int64  `json:"completed_items"`
	}
	if err := json.Unmarshal(raw, &next); err != nil {
		return nil, "", err
	}
	s.total, s.complete = next.Total, next.Complete
	if next.Item == nil {
		return nil, next.Reason, nil
	}
	return &entry{item: *next.Item, shown: s.Now()}, "", nil
}

func (s *Session) id() string { return strconv.FormatInt(s.Task.ID, 10) }

// send stores what the person said. What the server refuses for a reason that is in
// the item is said, and the session goes on.
func (s *Session) send(ctx context.Context, now *entry, did action) error {
	id := strconv.FormatInt(now.ID, 10)
	spent := min(s.Now().Sub(now.shown), maxDuration).Milliseconds()
	_, err := s.Client.Call(func(k api.Client) error {
		switch {
		case did.what == skipped:
			status := "skipped"
			_, err := k.UpdateAnnotationItem(ctx, s.id(), api.UpdateAnnotationItem{ItemID: id, Status: &status, Reason: &did.reason})
			return err
		case now.answered:
			v := did.value
			_, err := k.UpdateAnnotationItem(ctx, s.id(), api.UpdateAnnotationItem{ItemID: id, Annotation: &api.ReviseAnnotation{
				CorrectedOutput: v.CorrectedOutput, DurationMs: &spent, Feedback: v.Feedback, Label: v.Label, Labels: v.Labels, Rating: v.Rating,
			}})
			return err
		}
		did.value.DurationMs = &spent
		_, err := k.AddAnnotationItems(ctx, s.id(), api.AddAnnotationItems{ItemID: id, Annotation: &did.value})
		return err
	})
	var refused *client.Error
	if errors.As(err, &refused) && (refused.Status == http.StatusConflict || refused.Status == http.StatusBadRequest) && refused.Fault.Reason != "task_not_active" {
		return s.say("Not stored: %s", err)
	}
	if err != nil {
		return fmt.Errorf("the answer to item %d is not stored: %w", now.ID, err)
	}
	now.answered = now.answered || did.what == answered
	if now.said = did.said; did.what == skipped {
		now.said = "skipped: " + did.reason
	}
	if s.place < len(s.done) {
		s.done[s.place] = *now
	} else {
		s.done = append(s.done, *now)
	}
	return s.say("✓ %s", now.said)
}

// say writes a line of our own.
func (s *Session) say(format string, args ...any) error {
	return s.Style.Say(s.Out, fmt.Sprintf(format, args...))
}

// counted is what the person did.
func (s *Session) counted() string {
	answers := 0
	for _, e := range s.done {
		if e.answered {
			answers++
		}
	}
	out := fmt.Sprintf("%d answered", answers)
	if skips := len(s.done) - answers; skips > 0 {
		out += fmt.Sprintf(", %d skipped", skips)
	}
	return out
}

// end says why there is no item left.
func (s *Session) end(why string) error {
	switch why {
	case "completed":
		return s.say("%s. The task is complete: all of its %d items have the answers that they need.", s.counted(), s.total)
	case "empty":
		return s.say("The task has no items. Add some with `assay annotate import FILE %s`.", s.id())
	}
	return s.say("%s. No item is left for you: you have answered or skipped the remaining ones, or others hold them. %d of %d are complete.", s.counted(), s.complete, s.total)
}

// left says what the person leaves behind.
func (s *Session) left(now *entry) error {
	until := "for a while"
	if now.Expires != nil {
		until = "until " + now.Expires.Local().Format("15:04")
	}
	return s.say("%s. Item %d stays yours %s: `assay annotate %s` goes on with it.", s.counted(), now.ID, until, s.id())
}

// stopped says what is safe, in addition to what went wrong.
func (s *Session) stopped(err error) error {
	var refused *client.Error
	if errors.As(err, &refused) && refused.Fault.Reason == "not_a_person" {
		return fmt.Errorf("%w An admin prints an invitation for you with `assay member invite`, and you run `assay login` with its link", err)
	}
	if len(s.done) > 0 {
		return fmt.Errorf("%w (%s and stored; `assay annotate %s` goes on)", err, s.counted(), s.id())
	}
	return err
}
