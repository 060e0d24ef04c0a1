package people

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// perItem is how many people an item needs.
const perItem = 2

// walk is for how long somebody who walks away has their item: the shortest lease.
const walk = 10 * time.Second

// topics are the labels of the task.
var topics = []string{"billing", "delivery", "other"}

// load is people at work on a task.
type load struct {
	s     *system
	task  int64
	items int
	*book

	// pace is how long people think about an item, and readers between two looks, until
	// they are to hurry.
	pace, gaze time.Duration
	hurry      atomic.Bool

	cancel      context.CancelFunc
	annotating  sync.WaitGroup
	deciding    sync.WaitGroup
	reading     sync.WaitGroup
	answeredAll atomic.Bool // all items are complete
	over        atomic.Bool // all decisions are made

	wrongMu sync.Mutex
	wrong   []error
}

// newTask makes a blind task.
func (s *system) newTask(ctx context.Context, name string, items, required int) (*load, error) {
	l := &load{s: s, items: items, book: newBook(required), gaze: 20 * time.Millisecond}
	var task struct {
		ID int64 `json:"id"`
	}
	if err := s.Post(ctx, s.org, "/api/annotations/tasks", "task "+name, map[string]any{
		"name": name, "type": "classification", "annotatorsPerItem": required,
		"labelSchema": map[string]any{"fields": []any{map[string]any{"key": "topic", "type": "choice", "options": topics, "required": true}}},
	}, &task); err != nil {
		return nil, err
	}
	l.task = task.ID
	const batch = 500
	for from := 0; from < items; from += batch {
		var list []any
		for i := from; i < min(from+batch, items); i++ {
			list = append(list, map[string]any{"content": map[string]any{"input": fmt.Sprintf("Question %d of %s?", i, name), "output": fmt.Sprintf("Answer %d.", i)}})
		}
		if err := s.Post(ctx, s.org, l.path("items"), fmt.Sprintf("items %s %d", name, from), map[string]any{"items": list}, nil); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *load) path(of string) string { return fmt.Sprintf("/api/annotations/tasks/%d/%s", l.task, of) }

// begin sets everybody to work.
func (l *load) begin(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(ctx)
	everybody := func(all *sync.WaitGroup, people []person, do func(context.Context, person, *rand.Rand) error) {
		for _, p := range people {
			all.Go(func() {
				if err := do(ctx, p, rand.New(rand.NewPCG(l.s.Seed, uint64(p.number)))); err != nil && ctx.Err() == nil {
					l.complain(fmt.Errorf("person %d: %w", p.number, err))
					l.cancel()
				}
			})
		}
	}
	everybody(&l.annotating, l.s.annotators, l.annotate)
	everybody(&l.deciding, l.s.adjudicators, l.decide)
	everybody(&l.reading, l.readers(), l.read)
}

func (l *load) complain(err error) {
	l.wrongMu.Lock()
	defer l.wrongMu.Unlock()
	l.wrong = append(l.wrong, err)
}

func (l *load) complaint() error {
	l.wrongMu.Lock()
	defer l.wrongMu.Unlock()
	return errors.Join(l.wrong...)
}

// stop ends the load before its time.
func (l *load) stop() {
	l.cancel()
	_ = l.wait()
}

// wait lets people finish: all items, then all decisions.
func (l *load) wait() error {
	l.annotating.Wait()
	l.answeredAll.Store(true)
	l.deciding.Wait()
	l.over.Store(true)
	l.reading.Wait()
	l.cancel()
	return l.complaint()
}

// ask insists on an answer and searches it.
func (l *load) ask(ctx context.Context, p person, method, path, key string, in, out any) error {
	var text jsontext.Value
	if err := l.s.Insist(ctx, p.Organization, method, path, key, in, &text); err != nil {
		return err
	}
	l.search(p.number, method+" "+path, text)
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// taken is an item as it is handed out.
type taken struct {
	Item *struct {
		ID int64 `json:"id"`
	} `json:"item"`
	Total     int `json:"total_items"`
	Completed int `json:"completed_items"`
}

// take asks for the next item.
func (l *load) take(ctx context.Context, p person, lease time.Duration) (got taken, err error) {
	asked := time.Now()
	if err := l.ask(ctx, p, http.MethodPost, l.path("next"), "", map[string]any{"leaseSeconds": int(lease.Seconds())}, &got); err != nil {
		return got, err
	}
	if got.Item != nil {
		l.give(got.Item.ID, p.number, asked.Add(lease))
	}
	return got, nil
}

// annotate answers items until all are complete.
func (l *load) annotate(ctx context.Context, p person, r *rand.Rand) error {
	for {
		if err := l.think(ctx); err != nil {
			return err
		}
		leaves, skips, lease := r.IntN(100) == 0, r.IntN(50) == 0, 15*time.Minute
		if leaves {
			lease = walk
		}
		got, err := l.take(ctx, p, lease)
		switch {
		case err != nil:
			return err
		case got.Item == nil && got.Completed == got.Total:
			return nil
		case got.Item == nil:
			err = rig.Sleep(ctx, 100*time.Millisecond)
		case leaves:
			err = rig.Sleep(ctx, walk+time.Second)
		case skips:
			err = l.pass(ctx, p, got.Item.ID)
		default:
			err = l.answer(ctx, p, got.Item.ID)
		}
		if err != nil {
			return err
		}
	}
}

// think takes a while, unless there is a hurry.
func (l *load) think(ctx context.Context) error {
	if l.hurry.Load() {
		return ctx.Err()
	}
	return rig.Sleep(ctx, l.pace)
}

// pass skips an item.
func (l *load) pass(ctx context.Context, p person, item int64) error {
	l.skip(item, p.number)
	err := l.ask(ctx, p, http.MethodPut, l.path("items"), fmt.Sprintf("skip %d %d", p.number, item), map[string]any{"itemId": item, "status": "skipped", "reason": words(p.number, item)}, nil)
	switch {
	case rig.IsConflict(err) && l.complete(item):
		return nil // others have skipped it
	case err == nil:
		l.skipped(item, p.number)
	}
	return err
}

// answer says something about an item. About every second item people differ.
func (l *load) answer(ctx context.Context, p person, item int64) error {
	said := words(p.number, item)
	label := topics[int(item)%len(topics)]
	if item%2 == 0 {
		label = topics[p.number%len(topics)]
	}
	l.submitting(item, p.number)
	var out struct {
		Annotation struct {
			ID int64 `json:"id"`
		} `json:"annotation"`
		Items []struct {
			Status string `json:"status"`
		} `json:"items"`
	}
	err := l.ask(ctx, p, http.MethodPost, l.path("items"), fmt.Sprintf("answer %d %d", p.number, item), map[string]any{
		"itemId": item, "annotation": map[string]any{"label": label, "feedback": said, "correctedOutput": said},
	}, &out)
	if err != nil {
		if rig.IsConflict(err) && l.complete(item) {
			return nil // others have skipped it
		}
		return err
	}
	l.submitted(out.Annotation.ID, answer{item, p.number, label})
	if len(out.Items) > 0 && out.Items[0].Status == "conflicted" {
		return l.dispute(ctx, item)
	}
	return nil
}

// dispute puts an item into the adjudication queue.
func (l *load) dispute(ctx context.Context, item int64) error {
	err := l.s.Post(ctx, l.s.org, "/api/adjudication/items", fmt.Sprint("dispute ", item), map[string]any{
		"source": "annotator_disagreement", "subject": map[string]any{"annotationItemId": item},
	}, nil)
	if rig.IsConflict(err) {
		return nil // it is there already
	}
	return err
}

// decide makes decisions until there is nothing to decide and nothing more to come. All
// take from the head of the queue, so that several decide about the same item.
func (l *load) decide(ctx context.Context, p person, r *rand.Rand) error {
	for {
		if err := l.think(ctx); err != nil {
			return err
		}
		last := l.answeredAll.Load()
		var queue struct {
			Items []struct {
				ID int64 `json:"id"`
			} `json:"items"`
		}
		if err := l.ask(ctx, p, http.MethodGet, "/api/adjudication/items?status=open&limit=5", "", nil, &queue); err != nil {
			return err
		}
		if len(queue.Items) == 0 {
			if last {
				return nil
			}
			if err := rig.Sleep(ctx, 100*time.Millisecond); err != nil {
				return err
			}
			continue
		}
		if err := l.settle(ctx, p, queue.Items[r.IntN(len(queue.Items))].ID); err != nil {
			return err
		}
	}
}

// settle decides about an item, unless somebody else is first.
func (l *load) settle(ctx context.Context, p person, item int64) error {
	var out struct {
		Decision struct {
			ID int64 `json:"id"`
		} `json:"decision"`
	}
	err := l.ask(ctx, p, http.MethodPost, fmt.Sprintf("/api/adjudication/items/%d/decision", item), fmt.Sprintf("decide %d %d", p.number, item),
		map[string]any{"decision": "pass", "rationale": fmt.Sprintf("Person %d has read the policy.", p.number)}, &out)
	switch {
	case rig.IsConflict(err):
		l.second()
		return nil
	case err != nil:
		return err
	}
	l.decided(item, out.Decision.ID, p.number)
	return nil
}
